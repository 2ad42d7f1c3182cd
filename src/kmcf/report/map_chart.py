"""Maps: walls, examples, true and estimated paths with ellipses of uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import evenly_spaced
from kmcf.report.canvas import COLOURS, Canvas, source
from kmcf.report.figure import figure
from kmcf.report.plane import Plane, known, positions, segments

MOST_ELLIPSES = 40
# 95 % of a two-dimensional normal distribution lie within √5.99 standard deviations.
_RADIUS = float(np.sqrt(-2.0 * np.log(0.05)))


@dataclass(frozen=True)
class MapPath:
    """Where something was, over time.

    Parameters
    ----------
    name : str
        The entry of the legend.
    positions : array (T, 2)
        The places in order; NaN leaves a gap.
    times, errors : array (T,), optional
        Shown when a place is pointed at.
    covariances : array (T, 2, 2), optional
        Their 95 % ellipses are drawn at evenly chosen times. Indefinite ones are projected.
    dashed : bool
        A dashed line, e.g. for the truth.
    """

    name: str
    positions: ArrayLike
    times: ArrayLike | None = None
    errors: ArrayLike | None = None
    covariances: ArrayLike | None = None
    dashed: bool = False

    def __post_init__(self) -> None:
        length = len(positions(self.positions, f"the path {self.name!r}"))
        wanted = {"times": (length,), "errors": (length,), "covariances": (length, 2, 2)}
        for name, shape in wanted.items():
            given = getattr(self, name)
            if given is not None and np.shape(given) != shape:
                raise ValueError(f"{name} of the path {self.name!r} have shape {np.shape(given)}, not {shape}.")


@dataclass(frozen=True)
class MapChart:
    """A map with paths.

    Parameters
    ----------
    title : str
        Heading of the figure.
    paths : sequence of MapPath
        The first is drawn on top.
    walls : array (m, 4), optional
        Segments: x and y of one end, x and y of the other.
    points : mapping of str to array (n, 2)
        Clouds of dots by name, e.g. where examples were taken.
    unit, time_unit : str
        Of positions and errors, and of times.
    caption : str
        Text below.
    axes : pair of str
        What the two directions are called.

    Examples
    --------
    >>> chart = MapChart("Walk", [MapPath("truth", [[0, 0], [1, 2]])], walls=[[0, 0, 3, 0]])
    >>> chart.html("map-1").startswith('<figure class="chart" id="map-1">')
    True
    """

    title: str
    paths: Sequence[MapPath]
    walls: ArrayLike | None = None
    points: Mapping[str, ArrayLike] = field(default_factory=dict)
    unit: str = "m"
    time_unit: str = "s"
    caption: str = ""
    axes: tuple[str, str] = ("x", "y")

    def html(self, name: str) -> str:
        """Write the figure under an id."""
        tracks = [positions(path.positions, path.name) for path in self.paths]
        outside = sum(self._plane().outside(track) for track in tracks)
        names = [*(path.name for path in self.paths), *self.points]
        return figure(
            name,
            self.title,
            self.drawn(),
            f"{self.title}: a map with {', '.join(names) or 'walls'}.",
            caption=f"{self.caption} Ring: start of a path; disc: its end.".strip(),
            notes=[f"{outside} positions lie far outside and are not shown."] if outside else [],
        )

    def drawn(self) -> Canvas:
        """Draw the map."""
        canvas = self._plane().canvas(self.axes, self.unit, segments(self.walls))
        for k, (key, cloud) in enumerate(self._clouds().items(), len(self.paths)):
            _cloud(canvas, key, cloud, k)
        for k, path in reversed(list(enumerate(self.paths))):
            self._track(canvas, path, COLOURS[-1] if path.dashed else COLOURS[k % len(COLOURS)])
        canvas.entries[:] = [*canvas.entries[len(self.points) :][::-1], *canvas.entries[: len(self.points)]]
        return canvas

    def _clouds(self) -> dict[str, FloatArray]:
        return {key: positions(values, f"the points {key!r}") for key, values in self.points.items()}

    def _plane(self) -> Plane:
        walls = segments(self.walls)
        tracks = [positions(path.positions, path.name) for path in self.paths]
        return Plane.around([*tracks, *self._clouds().values(), walls[:, :2], walls[:, 2:]])

    def _track(self, canvas: Canvas, path: MapPath, colour: str) -> None:
        """Draw a path: its ellipses, its line, a ring at its start and a disc at its end."""
        track, plot = positions(path.positions, path.name), canvas.plot
        models = [_ellipses(canvas, track, path, colour)] if path.covariances is not None else []
        data = source(**_columns(track, path))
        dash = "dashed" if path.dashed else "solid"
        models.append(plot.line("x", "y", source=data, color=colour, line_width=2, line_dash=dash))
        ends = track[known(track)][[0, -1]] if known(track).any() else track[:0]
        for place, fill in zip(ends, ("white", colour), strict=False):
            style = {"size": 10, "line_color": colour, "fill_color": fill, "line_width": 2}
            models.append(plot.scatter([place[0]], [place[1]], **style))
        models.append(plot.scatter("x", "y", source=data, size=14, alpha=0.0))
        canvas.name(path.name, "╍╍" if path.dashed else "━", colour, *models)
        canvas.tell(path.name, models[-1], *self._words(path))

    def _words(self, path: MapPath) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Return what is told of a place: where, when, and how wrong."""
        length = f" {_plain(self.unit)}"
        told = [(axis, f"@{column}{{%.4g}}{length}") for axis, column in zip(self.axes, ("x", "y"), strict=True)]
        told += [("time", f"@time{{%.6g}} {_plain(self.time_unit)}")] if path.times is not None else []
        told += [("error", f"@error{{%.3g}}{length}")] if path.errors is not None else []
        return told, {f"@{column}": "printf" for column in ("x", "y", "time", "error")}


def _columns(track: FloatArray, path: MapPath) -> dict[str, Any]:
    seen = known(track)
    columns: dict[str, Any] = {name: np.where(seen, track[:, j], np.nan) for j, name in enumerate(("x", "y"))}
    for name, values in (("time", path.times), ("error", path.errors)):
        if values is not None:
            columns[name] = np.asarray(values, dtype=np.float64)
    return columns


def _ellipses(canvas: Canvas, track: FloatArray, path: MapPath, colour: str) -> Any:
    """Draw where 95 % of a normal distribution lie; negative variances of signed weights count as zero."""
    matrices = np.asarray(path.covariances, dtype=np.float64)
    chosen = evenly_spaced(len(track), MOST_ELLIPSES)
    good = known(track) & np.isfinite(matrices).all(axis=(1, 2))
    at = [t for t in chosen if good[t]]
    variances, axes = np.linalg.eigh(0.5 * (matrices[at] + matrices[at].transpose(0, 2, 1)))
    widths = 2.0 * _RADIUS * np.sqrt(np.maximum(variances, 0.0))
    angles = np.arctan2(axes[:, 1, 1], axes[:, 0, 1])
    columns = {"x": track[at, 0], "y": track[at, 1], "width": widths[:, 1], "height": widths[:, 0], "angle": angles}
    style = {"color": colour, "fill_alpha": 0.09, "line_alpha": 0.45}
    return canvas.plot.ellipse("x", "y", "width", "height", "angle", source=source(**columns), **style)


def _cloud(canvas: Canvas, name: str, cloud: FloatArray, place: int) -> None:
    seen, colour = cloud[known(cloud)], COLOURS[place % len(COLOURS)]
    marker, sign = (("circle", "•••"), ("triangle", "▲"), ("square", "■"))[place % 3]
    data = source(x=seen[:, 0], y=seen[:, 1])
    dots = canvas.plot.scatter("x", "y", source=data, size=4.5, marker=marker, color=colour, alpha=0.45)
    canvas.name(name, sign, colour, dots)


def _plain(unit: str) -> str:
    """Return a unit as a tooltip can show it: Bokeh would replace what follows @ and $."""
    return unit.replace("@", "＠").replace("$", "＄")
