"""An animation of beliefs: signed weights as discs whose area is the weight, predictions, herded points, the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import FloatArray
from kmcf.report.figure import figure
from kmcf.report.markup import element, text
from kmcf.report.plane import Plane, known, positions, segments

MOST_DISCS = 250
_LARGEST, _SMALLEST = 20.0, 0.5
_LAYERS = ("positive weight", "negative weight", "predicted", "herded", "true state", "estimate")
_CROSS, _PLUS = "M-7,-7L7,7M-7,7L7,-7", "M0,-9V9M-9,0H9"


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
    """Frames to play, pause and step through; without a script the first one is shown.

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
        walls = segments(self.walls)
        plane = Plane.around(
            [walls[:, :2], walls[:, 2:], *(one for frame in self.frames for one in _everything(frame))]
        )
        weights = [np.abs(np.asarray(frame.weights)) for frame in self.frames if frame.weights is not None]
        heaviest = max((float(np.nanmax(w)) for w in weights if w.size), default=1.0) or 1.0
        encoded = [_encode(frame, plane, heaviest) for frame in self.frames]
        truths = np.concatenate([_known(frame.truth, "the true state") for frame in self.frames])
        trail = element("path", d=plane.path(truths), class_="trail")
        layers = [_layer(place, encoded[0]["layers"][place]) for place in (2, 0, 1, 3, 5, 4)]
        description = f"{self.title}: an animation of {len(self.frames)} frames; discs are weights, area is size."
        return figure(
            name,
            self.title,
            [plane.drawing(self.unit, description, plane.walls(walls), trail, *layers)],
            [(_swatch(place), words) for place, words in enumerate(_LAYERS)],
            caption=self.caption,
            controls=_controls(name, self.frames),
            data={"milliseconds": self.milliseconds, "frames": encoded},
            kind="player",
        )


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
    """Write a frame as whole tenths of pixels: x, y and radius of every disc, x and y of every sign."""
    states = positions(frame.states, "the states of a frame")
    weights = np.zeros(0) if frame.weights is None else np.asarray(frame.weights, dtype=np.float64)
    radii = _LARGEST * np.sqrt(np.abs(weights) / heaviest)
    seen = np.flatnonzero(known(states) & (radii >= _SMALLEST))
    seen = seen[np.argsort(-radii[seen])][:MOST_DISCS]
    above, below = seen[weights[seen] > 0], seen[weights[seen] < 0]
    layers = [_triples(plane, states[above], radii[above]), _triples(plane, states[below], radii[below])]
    for values, radius, what in ((frame.predicted, 1.8, "the prediction"), (frame.herded, 4.5, "the herded points")):
        points = _known(values, what)[:MOST_DISCS]
        layers.append(_triples(plane, points, np.full(len(points), radius)))
    layers += [_pairs(plane, frame.truth, "the true state"), _pairs(plane, frame.estimate, "the estimate")]
    return {"label": frame.label, "layers": layers}


def _triples(plane: Plane, points: FloatArray, radii: FloatArray) -> list[int]:
    tenths = np.rint(10.0 * np.column_stack([plane(points), radii])).astype(int)
    return [int(number) for number in tenths.ravel()]


def _pairs(plane: Plane, point: ArrayLike | None, what: str) -> list[int]:
    return [int(number) for number in np.rint(10.0 * plane(_known(point, what)[:1])).astype(int).ravel()]


def _layer(place: int, numbers: list[int]) -> str:
    """Draw a layer exactly as the page's script redraws it."""
    tenths = [f"{number / 10:g}" for number in numbers]
    if place < 4:
        triples = zip(tenths[::3], tenths[1::3], tenths[2::3], strict=True)
        content = "".join(element("circle", cx=x, cy=y, r=r) for x, y, r in triples)
    else:
        shape = _CROSS if place == 4 else _PLUS
        move = f"translate({tenths[0]} {tenths[1]})" if numbers else None
        content = element("path", d=shape, transform=move, visibility=None if numbers else "hidden")
    return element("g", content, class_=f"series layer{place}", data_series=place)


def _swatch(place: int) -> str:
    if place < 4:
        sign = element("circle", cx=13, cy=7, r=(6, 6, 2, 4.5)[place])
    else:
        sign = element("path", d=_CROSS if place == 4 else _PLUS, transform="translate(13 7) scale(0.75)")
    return element("svg", sign, viewBox="0 0 26 14", class_=f"swatch layer{place}", aria_hidden="true")


def _controls(name: str, frames: Sequence[Frame]) -> str:
    speeds = [
        element("option", f"{speed}×", value=speed, selected=speed == "1") for speed in ("0.25", "0.5", "1", "2", "4")
    ]
    slider = element(
        "input", type="range", min=0, max=len(frames) - 1, value=0, step=1, aria_label="Frame", class_="slider"
    )
    return element(
        "div",
        element("button", "▶", type="button", class_="play", aria_label="Play"),
        slider,
        element("label", "speed ", element("select", *speeds, class_="speed")),
        element("output", text(frames[0].label), id=f"{name}-label", class_="moment"),
        class_="controls",
    )
