"""An animation of beliefs: signed weights as marks whose area is the weight, predictions, herded points, truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import FloatArray
from kmcf.report.canvas import Canvas
from kmcf.report.figure import figure
from kmcf.report.interactive import BLACK, BLUE, GREEN, ORANGE, add_belief
from kmcf.report.plane import Plane, known, positions, segments

MOST_DISCS = 250
_LARGEST, _SMALLEST = 28.0, 1.0
"""Diameters in pixels."""
_STEPS = 9999
"""So many places of a map are told apart in each direction."""
_LAYERS = {
    "positive": ("positive weight", "●", BLUE),
    "negative": ("negative weight", "▽", ORANGE),
    "particles": ("predicted", "•", GREEN),
    "herded": ("herded", "✕", BLACK),
    "truth": ("true state", "☆", BLACK),
    "estimate": ("estimate", "◆", "#b8ab00"),
}
"""The layers by their data sources: names, signs and colours in the legend."""


@dataclass(frozen=True)
class Frame:
    """What is known at one moment.

    Parameters
    ----------
    label : str
        E.g. the time and the error.
    states, weights : array (n, 2), array (n,), optional
        The belief; weights may be negative.
    predicted, herded : array (m, 2), optional
        Particles before the correction, and points picked after it.
    truth, estimate : array (2,), optional
        Where it really was, and where the belief says.
    """

    label: str
    states: ArrayLike | None = None
    weights: ArrayLike | None = None
    predicted: ArrayLike | None = None
    herded: ArrayLike | None = None
    truth: ArrayLike | None = None
    estimate: ArrayLike | None = None

    def __post_init__(self) -> None:
        count = len(positions(self.states, "the states of a frame"))
        given = np.zeros(0) if self.weights is None else np.asarray(self.weights)
        if given.shape != (count,):
            raise ValueError(f"a frame has {count} states and weights of shape {given.shape}; give one each.")


@dataclass(frozen=True)
class Player:
    """Frames to play, pause and step through.

    Parameters
    ----------
    title : str
        Heading of the figure.
    frames : sequence of Frame
        At least one.
    walls : array (m, 4), optional
        Segments of the map.
    unit : str
        Of the positions.
    milliseconds : int
        How long a frame stays at normal speed.
    caption : str
        Text below.
    """

    title: str
    frames: Sequence[Frame]
    walls: ArrayLike | None = None
    unit: str = "m"
    milliseconds: int = 250
    caption: str = ""

    def __post_init__(self) -> None:
        if not self.frames:
            raise ValueError(f"the player {self.title!r} has no frames; give at least one.")

    def html(self, name: str) -> str:
        """Write the figure under an id."""
        plane = self._plane()
        weights = [np.abs(np.asarray(frame.weights)) for frame in self.frames if frame.weights is not None]
        heaviest = max((float(np.nanmax(w)) for w in weights if w.size), default=1.0) or 1.0
        encoded = [_encode(frame, plane, heaviest) for frame in self.frames]
        canvas = self.drawn(plane)
        description = f"{self.title}: an animation of {len(self.frames)} frames; marks are weights, area is size."
        player = {
            "milliseconds": self.milliseconds,
            "origin": [plane.left, plane.bottom],
            "step": [(plane.right - plane.left) / _STEPS, (plane.top - plane.bottom) / _STEPS],
            "sources": {name: _layer(canvas, name).data_source.id for name in _LAYERS},
            "frames": encoded,
        }
        return figure(name, self.title, canvas, description, caption=self.caption, player=player, kind="player")

    def drawn(self, plane: Plane) -> Canvas:
        """Draw the map without a belief, which the page's script adds."""
        canvas = plane.canvas(("x", "y"), self.unit, segments(self.walls))
        add_belief(canvas.plot)
        canvas.plot.center = [model for model in canvas.plot.center if model not in canvas.plot.legend]
        trail = np.concatenate([_known(frame.truth, "the true state") for frame in self.frames])
        track = _layer(canvas, "truth_path")
        track.data_source.data = {"x": trail[:, 0], "y": trail[:, 1]}
        for name, (words, sign, colour) in _LAYERS.items():
            canvas.name(words, sign, colour, _layer(canvas, name), *([track] if name == "truth" else []))
        return canvas

    def _plane(self) -> Plane:
        walls = segments(self.walls)
        return Plane.around([walls[:, :2], walls[:, 2:], *(one for frame in self.frames for one in _everything(frame))])


def _layer(canvas: Canvas, name: str) -> Any:
    """Return what draws the data source of a name."""
    return next(one for one in canvas.plot.renderers if one.data_source.name == name)


def _everything(frame: Frame) -> list[FloatArray]:
    """List what the plane must hold: of the belief what has visible weight, and not an estimate that strays."""
    states = positions(frame.states, "the states of a frame")
    if frame.weights is not None and len(states):
        size = np.abs(np.asarray(frame.weights, dtype=np.float64))
        states = states[size > 0.01 * np.nanmax(size)] if np.nanmax(size) > 0 else states[:0]
    truth = _known(frame.truth, "the true state")
    return [states, positions(frame.herded, "the herded points"), truth]


def _known(values: ArrayLike | None, what: str) -> FloatArray:
    array = positions(values, what)
    return array[known(array)]


def _encode(frame: Frame, plane: Plane, heaviest: float) -> dict[str, Any]:
    """Write a frame in whole numbers: the places of all marks on the plane, and tenths of pixels of their sizes."""
    states = positions(frame.states, "the states of a frame")
    weights = np.zeros(0) if frame.weights is None else np.asarray(frame.weights, dtype=np.float64)
    sizes = _LARGEST * np.sqrt(np.abs(weights) / heaviest)
    seen = np.flatnonzero(known(states) & (sizes >= _SMALLEST))
    seen = seen[np.argsort(-sizes[seen])][:MOST_DISCS]
    layers = {}
    for name, chosen in (("positive", seen[weights[seen] > 0]), ("negative", seen[weights[seen] < 0])):
        layers[name] = {**_places(plane, states[chosen]), "size": _whole(10.0 * sizes[chosen])}
    for name, values, what in (
        ("particles", frame.predicted, "the prediction"),
        ("herded", frame.herded, "the herded points"),
        ("truth", frame.truth, "the true state"),
        ("estimate", frame.estimate, "the estimate"),
    ):
        layers[name] = _places(plane, _known(values, what)[:MOST_DISCS])
    return {"label": frame.label, "layers": layers}


def _places(plane: Plane, points: FloatArray) -> dict[str, list[int]]:
    x = (points[:, 0] - plane.left) / (plane.right - plane.left)
    y = (points[:, 1] - plane.bottom) / (plane.top - plane.bottom)
    return {"x": _whole(_STEPS * x), "y": _whole(_STEPS * y)}


def _whole(numbers: FloatArray) -> list[int]:
    return [int(number) for number in np.rint(numbers)]
