"""Pictures of one sequence for a page: its map, its states and errors over time, and where the belief was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import evenly_spaced
from kmcf.report.axis import Axis
from kmcf.report.blocks import Block, Text
from kmcf.report.chart import Chart
from kmcf.report.heat_map import HeatMap, mass_on_grid
from kmcf.report.map_chart import MapChart, MapPath
from kmcf.report.series import Series

if TYPE_CHECKING:
    from kmcf.report.run_page import Followed, Labels

MOST_STEPS = 400
"""So many steps of a long sequence are drawn, from its start."""
CELLS = (20, 60)
"""Fewest and most cells of a coordinate."""
MOST_COORDINATES = 6
"""More coordinates than this are not drawn one by one."""


def path_map(shown: Followed, labels: Labels) -> list[Block]:
    """Draw the first two coordinates as a map: true and estimated path, examples, alarms; nothing if there is one."""
    mean = _mean(shown)
    if mean.shape[1] < 2:
        return []
    steps = slice(0, MOST_STEPS)
    run, times = shown.run, shown.times[steps]
    matrices = np.asarray(run.covariance)[steps, :2, :2]
    paths = [MapPath("estimate", mean[steps, :2], times, _or_none(shown.errors()[steps]), matrices)]
    if run.filtered is not None:
        before = np.asarray(run.filtered.mean, dtype=np.float64).reshape(len(shown.times), -1)
        paths.append(MapPath("filtered estimate", before[steps, :2], times))
    if knows(shown, 1):
        assert shown.truth is not None
        paths.append(MapPath("truth", shown.truth[steps, :2], times, dashed=True))
    points: dict[str, Any] = {} if shown.examples is None else {"examples": _some(shown.examples[:, :2])}
    if run.alarm[steps].any():
        points["alarm"] = mean[steps, :2][run.alarm[steps]]
    x, y = labels.states[:2]
    caption = f"{_which(shown)} Ellipses: 95 % of the belief."
    drawn = MapChart(
        "True and estimated path" if knows(shown, 1) else "Estimated path",
        paths,
        points=points,
        unit=labels.unit,
        time_unit=labels.time_unit,
        caption=caption,
        axes=(x, y),
    )
    return [drawn]


def states_over_time(shown: Followed, labels: Labels) -> list[Block]:
    """Draw every coordinate over time with its 95 % band, the truth, and the steps with an alarm."""
    mean, steps = _mean(shown), slice(0, MOST_STEPS)
    run, times = shown.run, shown.times[steps]
    charts: list[Block] = []
    for j in range(min(mean.shape[1], MOST_COORDINATES)):
        lower, upper = (np.asarray(run.interval)[steps, k, j] for k in (0, 1))
        word = "estimate" if run.filtered is None else "smoothed estimate"
        series = [Series(f"{word}, 95 % interval", times, mean[steps, j], lower, upper, spread="band")]
        if run.filtered is not None:
            before = np.asarray(run.filtered.mean, dtype=np.float64).reshape(len(shown.times), -1)
            series.append(Series("filtered estimate", times, before[steps, j], colour=5))
        if knows(shown, j):
            series.append(Series("truth", times, _track(shown, j)[steps], dashed=True, colour=7))
        if run.alarm[steps].any():
            at = run.alarm[steps]
            series.append(Series("alarm", times[at], mean[steps, j][at], kind="points", colour=1))
        unit = unit_of(shown, labels, j)
        axes = Axis(labels.time, labels.time_unit), Axis(labels.states[j], unit)
        charts.append(Chart(f"{labels.states[j]} over time", *axes, series, _which(shown)))
    return charts


def knows(shown: Followed, column: int) -> bool:
    """Say whether a coordinate of the true states is known."""
    return shown.truth is not None and column < shown.truth.shape[1]


def unit_of(shown: Followed, labels: Labels, column: int) -> str:
    """Return the unit of a coordinate; of those that are not judged, such as velocities, it is not known."""
    if column in shown.run.angles:
        return "rad"
    return labels.unit if shown.truth is None or knows(shown, column) else ""


def _track(shown: Followed, column: int) -> FloatArray:
    """Return a coordinate over time: the true one where it is known, otherwise the estimate."""
    if knows(shown, column):
        assert shown.truth is not None
        return shown.truth[:, column]
    return _mean(shown)[:, column]


def errors_over_time(shown: Followed, labels: Labels) -> list[Block]:
    """Draw the errors of all methods."""
    if shown.truth is None:
        return [Text(f"The true states of {shown.name} are not known.")]
    steps = slice(0, MOST_STEPS)
    series = [Series(method, shown.times[steps], shown.errors(method)[steps]) for method in shown.runs]
    axes = Axis(labels.time, labels.time_unit), Axis("error", labels.unit)
    return [Chart("Error over time", *axes, series, _which(shown))]


def belief_maps(shown: Followed, labels: Labels) -> list[Block]:
    """Draw where the belief was: every coordinate over time, and the first two as a map, over all steps shown."""
    try:
        beliefs = [shown.run.beliefs[t] for t in range(min(len(shown.times), MOST_STEPS))]
    except LookupError:
        return [Text("The beliefs were not kept, to save memory; shorter sequences keep them.")]
    width = _mean(shown).shape[1]
    edges = [_edges(shown, j) for j in range(width)]
    cells = len(edges[0]) - 1
    over_time: list[FloatArray] = [np.zeros((len(beliefs), cells)) for _ in range(width)]
    place = np.zeros((cells, cells))
    for t, belief in enumerate(beliefs):
        states, weights = np.asarray(belief.states, dtype=np.float64).reshape(len(belief.weights), -1), belief.weights
        for j in range(width):
            over_time[j][t] = mass_on_grid(states[:, j], weights, edges[j])
        if width > 1:
            place += _plane_mass(states, weights, edges)
    blocks: list[Block] = []
    if width > 1:
        blocks.append(_place_map(shown, labels, place, edges))
    charts = [_time_map(shown, labels, j, over_time[j], edges[j]) for j in range(min(width, MOST_COORDINATES))]
    return [*blocks, *charts]


def _plane_mass(states: FloatArray, weights: FloatArray, edges: list[FloatArray]) -> FloatArray:
    x, y = (np.clip(states[:, j], edges[j][0], edges[j][-1]) for j in (0, 1))
    mass = np.histogram2d(x, y, bins=[edges[0], edges[1]], weights=weights)[0]
    mass = np.maximum(mass, 0.0)
    return np.asarray(mass / (mass.sum() or 1.0))


def _place_map(shown: Followed, labels: Labels, place: FloatArray, edges: list[FloatArray]) -> Block:
    x, y = (_track(shown, column)[:MOST_STEPS] for column in (0, 1))
    lines = {"truth" if knows(shown, 1) else "estimate": (x, y)}
    axes = Axis(labels.states[0], labels.unit), Axis(labels.states[1], labels.unit)
    caption = f"{_which(shown)} The belief, added up over these steps."
    return HeatMap("Belief over place", place, *axes, edges[0], edges[1], lines, caption, equal=True)


def _time_map(shown: Followed, labels: Labels, column: int, mass: FloatArray, edges: FloatArray) -> Block:
    times = shown.times[: len(mass)]
    halves = np.diff(times) / 2 if len(times) > 1 else np.array([0.5])
    ends = np.concatenate([[times[0] - halves[0]], times[:-1] + halves[: len(times) - 1], [times[-1] + halves[-1]]])
    lines = {"truth" if knows(shown, column) else "estimate": (times, _track(shown, column)[: len(mass)])}
    unit = unit_of(shown, labels, column)
    axes = Axis(labels.time, labels.time_unit), Axis(labels.states[column], unit)
    name = labels.states[column]
    return HeatMap(f"Belief over {name} and time", mass, *axes, ends, edges, lines, _which(shown))


def _edges(shown: Followed, column: int) -> FloatArray:
    """Return the ends of the cells of a coordinate: around the examples, the truth and the estimates, strays aside."""
    parts = [_mean(shown)[:, column], _track(shown, column)]
    parts += [] if shown.examples is None else [shown.examples[:, column]]
    values = np.concatenate(parts)
    low, high = np.quantile(values[np.isfinite(values)], [0.002, 0.998])
    room = 0.03 * (high - low) or 0.5
    count = len(values) if shown.examples is None else len(shown.examples)
    cells = int(np.clip(1.5 * np.sqrt(count), *CELLS))  # few examples would leave most of many cells empty
    return np.linspace(low - room, high + room, cells + 1)


def _mean(shown: Followed) -> FloatArray:
    return np.asarray(shown.run.mean, dtype=np.float64).reshape(len(shown.times), -1)


def _or_none(errors: FloatArray) -> FloatArray | None:
    return errors if np.isfinite(errors).any() else None


def _some(points: FloatArray, most: int = 2000) -> FloatArray:
    """Return at most so many points, evenly chosen."""
    return points[evenly_spaced(len(points), most)]


def _which(shown: Followed) -> str:
    total = len(shown.times)
    return f"{shown.name}, {'all' if total <= MOST_STEPS else f'the first {MOST_STEPS} of'} {total} steps."
