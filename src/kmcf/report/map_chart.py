"""Maps: walls, examples, true and estimated paths with ellipses of uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import FloatArray
from kmcf.report.figure import figure
from kmcf.report.markup import element
from kmcf.report.numbers import compact, pixel
from kmcf.report.plane import Plane, known, positions, segments
from kmcf.report.series import COLOURS

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
    >>> 'class="wall"' in chart.html("map-1")
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
        walls = segments(self.walls)
        clouds = {key: positions(values, f"the points {key!r}") for key, values in self.points.items()}
        tracks = [positions(path.positions, path.name) for path in self.paths]
        plane = Plane.around([*tracks, *clouds.values(), walls[:, :2], walls[:, 2:]])
        outside = sum(plane.outside(track) for track in tracks)
        layers = [_cloud(plane, cloud, len(tracks) + k) for k, cloud in enumerate(clouds.values())]
        layers += [_track(plane, path, k) for k, path in reversed(list(enumerate(self.paths)))]
        description = (
            f"{self.title}: a map with {', '.join([*(path.name for path in self.paths), *clouds]) or 'walls'}."
        )
        legend = [(_line_swatch(_colour(path, k), path.dashed), path.name) for k, path in enumerate(self.paths)]
        legend += [(_dot_swatch(len(tracks) + k), key) for k, key in enumerate(clouds)]
        return figure(
            name,
            self.title,
            [plane.drawing(self.unit, description, plane.walls(walls), *layers, axes=self.axes)],
            legend,
            caption=f"{self.caption} Ring: start of a path; disc: its end.".strip(),
            notes=[f"{outside} positions lie far outside and are not shown."] if outside else [],
            data=self._data(tracks),
        )

    def _data(self, tracks: list[FloatArray]) -> dict[str, Any]:
        series = []
        for path, track in zip(self.paths, tracks, strict=True):
            entry: dict[str, Any] = {"name": path.name, "x": compact(track[:, 0], 5), "y": compact(track[:, 1], 5)}
            extra = []
            if path.times is not None:
                extra.append(["time", self.time_unit, compact(np.asarray(path.times), 6)])
            if path.errors is not None:
                extra.append(["error", self.unit, compact(np.asarray(path.errors), 3)])
            series.append({**entry, "extra": extra})
        words = f" ({self.unit})" if self.unit else ""
        return {"x": f"{self.axes[0]}{words}", "y": f"{self.axes[1]}{words}", "series": series}


def _track(plane: Plane, path: MapPath, place: int) -> str:
    track = positions(path.positions, path.name)
    parts = []
    if path.covariances is not None:
        chosen = np.unique(np.linspace(0, max(len(track) - 1, 0), min(MOST_ELLIPSES, len(track))).astype(int))
        matrices = np.asarray(path.covariances, dtype=np.float64)
        parts = [_ellipse(plane, track[t], matrices[t]) for t in chosen]
    parts.append(element("path", d=plane.path(track), class_="line dashed" if path.dashed else "line"))
    there = track[known(track)]
    if len(there):
        (x0, y0), (x1, y1) = plane(there[[0, -1]])
        parts.append(element("circle", cx=pixel(x0), cy=pixel(y0), r=5, class_="ring"))
        parts.append(element("circle", cx=pixel(x1), cy=pixel(y1), r=5, class_="mark"))
    return element("g", *parts, class_=f"series c{_colour(path, place)}", data_series=place)


def _colour(path: MapPath, place: int) -> int:
    """Return the place of a path in the palette; the truth, dashed, is grey, as it is on paper."""
    return COLOURS - 1 if path.dashed else place % COLOURS


def _ellipse(plane: Plane, centre: FloatArray, covariance: FloatArray) -> str:
    """Draw where 95 % of a normal distribution lie; negative variances of signed weights count as zero."""
    if not (np.isfinite(centre).all() and np.isfinite(covariance).all()):
        return ""
    variances, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    radii = _RADIUS * np.sqrt(np.maximum(variances, 0.0)) * plane.per_unit
    left, top = plane(centre[None])[0]
    angle = -np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    return element(
        "ellipse",
        rx=pixel(radii[1]),
        ry=pixel(radii[0]),
        transform=f"translate({pixel(left)} {pixel(top)}) rotate({pixel(angle)})",
        class_="ellipse",
    )


def _cloud(plane: Plane, cloud: FloatArray, place: int) -> str:
    dots = "".join(f"M{pixel(a)},{pixel(b)}h0" for a, b in plane(cloud[known(cloud)]))
    return element("g", element("path", d=dots, class_="dots"), class_=f"series c{place % COLOURS}", data_series=place)


def _line_swatch(place: int, dashed: bool) -> str:
    line = element("path", d="M1,7H25", class_="line dashed" if dashed else "line")
    return element("svg", line, viewBox="0 0 26 14", class_=f"swatch c{place % COLOURS}", aria_hidden="true")


def _dot_swatch(place: int) -> str:
    dots = element("path", d="M6,7h0M13,4h0M20,9h0", class_="dots")
    return element("svg", dots, viewBox="0 0 26 14", class_=f"swatch c{place % COLOURS}", aria_hidden="true")
