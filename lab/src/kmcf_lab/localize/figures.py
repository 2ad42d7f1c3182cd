"""Pictures of a localization run, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.support.extras import require
from kmcf_lab.cells import Row
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, canvas, save_figure
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.problem import Data, LocalizationFold, Measure
from kmcf_lab.localize.replay import Iteration
from kmcf_lab.localize.scores import Score, heading, methods_of, summary
from kmcf_lab.statistics import estimate
from kmcf_lab.tables import columns

PALETTE = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, "#6a4fb3", GREY, "#7a4b1f", "#8fbf3f", "#111111", "#b0305c")
"""The colours of the page's charts, in their order, so that a method has the same one in pictures and on the page, and
more of them, for as many methods as Section 6.3 compares."""
ELLIPSES = 25
_RADIUS = float(np.sqrt(-2.0 * np.log(0.05)))  # 95 % of a normal distribution in the plane
_LARGEST = 260.0  # area of the heaviest disc, in square points

_PLAIN: dict[str, Any] = {"linestyle": "none"}
_OUTLINED: dict[str, Any] = {**_PLAIN, "markeredgecolor": "black"}
_TRUE_PLACE = {**_OUTLINED, "marker": "o", "color": "#f1c40f", "markersize": 10, "zorder": 5, "label": "true place"}
_ESTIMATE = {**_OUTLINED, "marker": "D", "color": GREEN, "markersize": 7, "zorder": 6, "label": "estimate"}
_PARTICLES = {**_PLAIN, "marker": ".", "color": GREY, "markersize": 3, "alpha": 0.5, "label": "predicted particle"}
_PICKED = {**_PLAIN, "marker": "o", "color": PURPLE, "markersize": 5, "alpha": 0.5, "label": "picked by herding"}
_WEIGHT: dict[str, Any] = {**_PLAIN, "marker": "o", "alpha": 0.55, "markeredgewidth": 0, "markersize": 8}
_POSITIVE, _NEGATIVE = (
    {**_WEIGHT, "color": BLUE, "label": "weight > 0"},
    {**_WEIGHT, "color": ORANGE, "label": "weight < 0"},
)
_SIGNS = (_TRUE_PLACE, _ESTIMATE, _PARTICLES, _POSITIVE, _NEGATIVE, _PICKED)
"""What stands for what in pictures of single iterations."""


def draw_path(
    runs: Mapping[str, Sequence[Row]], fold: LocalizationFold, data: Data, measure: Measure, folder: Path, title: str
) -> list[Path]:
    """Draw a map with the true path and the path of the first method, and the errors of all methods over time."""
    wide, tall = _size([fold.states[:, :2], *_corners(data)], 5.6, 4.6)
    with canvas(1, 2, (wide + 6.2, max(tall, 2.6) + 1.1), width_ratios=(wide + 0.7, 5.0)) as (figure, axes):
        plan, chart = axes[0]
        _plan(plan, data, fold.states)
        first, *others = runs
        colours = colours_of(runs)
        rows = runs[first]
        for number in np.unique(np.linspace(0, len(rows) - 1, ELLIPSES).astype(int)):
            _ellipse(plan, rows[number], colours[first])
        truth, path = columns(rows, "true_x", "true_y"), columns(rows, "x", "y")
        plan.plot(*truth.T, color="black", linewidth=1.6, linestyle=(0, (4, 2)), label="true path")
        plan.plot(*path.T, color=colours[first], linewidth=1.8, label=f"{METHODS[first].label}, with 95 % ellipses")
        plan.set(title=title, xlabel=f"x ({measure.unit})", ylabel=f"y ({measure.unit})", aspect="equal")
        _fit(plan, [fold.states[:, :2], truth[np.isfinite(truth).all(axis=1)], *_corners(data)])
        _legend_below(figure, plan, *plan.get_legend_handles_labels())
        for method in [*reversed(others), first]:
            values = columns(runs[method], "time", "error").T
            mean = np.nanmean(values[1][measure.judged(values[0])])
            width = 2.0 if method == first else 1.1
            label = f"{METHODS[method].label}: {mean:.2f} {measure.unit} on average"
            chart.plot(*values, color=colours[method], linewidth=width, label=label)
        chart.set(title="Error over time", xlabel="time (s)", ylabel=f"error ({measure.unit})", ylim=(0, None))
        handles, labels = chart.get_legend_handles_labels()
        _legend_below(figure, chart, handles[::-1], labels[::-1])
        return save_figure(figure, folder, "path")


def colours_of(methods: Iterable[str]) -> dict[str, str]:
    """Return the colour of each method.

    Examples
    --------
    >>> colours_of(["kmcf", "nai"])
    {'kmcf': '#0072b2', 'nai': '#d55e00'}
    """
    return dict(zip(methods, cycle(PALETTE), strict=False))


def draw_errors(scores: Sequence[Score], measure: Measure, folder: Path) -> list[Path]:
    """Draw the primary number of every fold and method, with means and standard errors."""
    methods = methods_of(scores)
    colours = colours_of(methods)
    with canvas(1, 1, (7.5, 0.9 + 0.5 * len(methods))) as (figure, axes):
        axis = axes[0, 0]
        for place, method in enumerate(methods):
            values = [one.value(measure.primary) for one in scores if one.method == method]
            average = summary(scores, method, measure.primary)
            axis.plot(values, np.full(len(values), place), "o", color=colours[method], alpha=0.4, markersize=5)
            error = average.error if np.isfinite(average.error) else None
            axis.errorbar(average.value, place, xerr=error, fmt="D", color=colours[method], capsize=4, markersize=7)
        axis.set_yticks(range(len(methods)), [METHODS[method].label for method in methods])
        axis.set_ylim(len(methods) - 0.5, -0.5)
        axis.set(xlabel=f"{heading(measure.primary, measure)}; diamonds: means ± standard errors, dots: folds")
        return save_figure(figure, folder, "errors")


def draw_sizes(scores: Sequence[Score], measure: Measure, folder: Path) -> list[Path]:
    """Draw the error and the time per step over the number of examples, a column per interval (Figures 11 and 12)."""
    groups = list(dict.fromkeys(one.group for one in scores if one.group))
    if len({(one.examples, one.group) for one in scores if one.group}) < 2:
        return []
    methods = methods_of(scores)
    colours = colours_of(methods)
    with canvas(2, len(groups), (4.0 * len(groups) + 0.6, 7.4), sharex=True, sharey="row") as (figure, axes):
        for column, group in zip(axes.T, groups, strict=True):
            for axis, name in zip(column, (measure.primary, "milliseconds"), strict=True):
                for method in methods:
                    own = [one for one in scores if one.group == group and one.method == method]
                    sizes = sorted({one.examples for one in own})
                    means = [estimate(one.value(name) for one in own if one.examples == n) for n in sizes]
                    errors = np.nan_to_num([mean.error for mean in means])
                    style = "o-" if METHODS[method].printed else "s--"
                    axis.errorbar(
                        sizes, [mean.value for mean in means], errors, fmt=style, color=colours[method], capsize=2,
                        markersize=4, linewidth=1.3, label=METHODS[method].label,
                    )  # fmt: skip
            column[0].set_title(f"steps of {group}")
            column[1].set(xlabel="number of examples n", yscale="log", xticks=sorted({one.examples for one in scores}))
        axes[0, 0].set(ylabel=heading(measure.primary, measure), ylim=(0, None))
        axes[1, 0].set_ylabel("ms per step")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
        return save_figure(figure, folder, "sizes")


def draw_iterations(
    iterations: Sequence[Iteration], data: Data, folder: Path, name: str, unit: str = "m"
) -> list[Path]:
    """Draw single iterations, a column each: prediction, correction with signed weights, resampling."""
    wide, tall = _size([*(one.states for one in iterations), *_corners(data)], 4.6, 3.0)
    size = ((wide + 0.3) * len(iterations) + 0.6, 3 * tall + 0.8)
    with canvas(3, len(iterations), size, sharex=True, sharey=True) as (figure, axes):
        for column, one in zip(axes.T, iterations, strict=True):
            for axis in column:
                _plan(axis, data, None)
                axis.plot(*one.truth, **_TRUE_PLACE)
            column[0].plot(*one.predicted.T, **_PARTICLES)
            _discs(column[1], one.states, one.weights)
            column[1].plot(*one.estimate, **_ESTIMATE)
            column[2].plot(*one.herded.T, **_PICKED)
            column[0].set_title(f"t = {one.time:.4g} s, error {one.error:.2f} {unit}")
        for axis, words in zip(axes[:, 0], ("prediction", "correction", "resampling"), strict=True):
            axis.set_ylabel(f"{words}\ny ({unit})")
        for axis in axes[-1]:
            axis.set_xlabel(f"x ({unit})")
        for axis in axes.ravel():
            axis.set_aspect("equal")
        line = require("matplotlib.lines", "plot").Line2D
        handles, labels = axes[0, 0].get_legend_handles_labels()
        marks = [handle for handle, label in zip(handles, labels, strict=True) if label in data.marks]
        signs = [line([], [], **style) for style in _SIGNS]
        figure.legend(handles=[*signs, *marks], loc="outside lower center", ncols=3)
        return save_figure(figure, folder, f"iterations_{name}")


def _discs(axis: Any, states: FloatArray, weights: FloatArray) -> None:
    heaviest = float(np.abs(weights).max(initial=0.0)) or 1.0
    for sign, colour in ((1.0, BLUE), (-1.0, ORANGE)):
        chosen = sign * weights > 1e-3 * heaviest
        sizes = _LARGEST * np.abs(weights[chosen]) / heaviest
        axis.scatter(*states[chosen].T, s=sizes, color=colour, alpha=0.55, linewidths=0)


def _plan(axis: Any, data: Data, examples: FloatArray | None) -> None:
    if data.walls is not None:
        for wall in np.asarray(data.walls, dtype=np.float64).reshape(-1, 2, 2):
            axis.plot(*wall.T, color="#555555", linewidth=1.0)
    if examples is not None:
        axis.plot(examples[:, 0], examples[:, 1], ".", color="#bbbbbb", markersize=2.5, label="examples")
    for name, places in data.marks.items():
        axis.plot(*np.asarray(places, dtype=np.float64).T, "^", color="#8e6c3a", markersize=5, alpha=0.7, label=name)


def _corners(data: Data) -> list[FloatArray]:
    """Return everything that a plan shows besides the examples, as points (n, 2)."""
    walls = [] if data.walls is None else [np.asarray(data.walls, dtype=np.float64).reshape(-1, 2)]
    return [*walls, *(np.asarray(places, dtype=np.float64) for places in data.marks.values())]


def _size(points: Sequence[FloatArray], widest: float, tallest: float) -> tuple[float, float]:
    """Return width and height, in inches, of the largest plan of these points within limits."""
    extent = np.maximum(np.ptp(np.concatenate(list(points)), axis=0), 1e-3)
    scale = min(widest / extent[0], tallest / extent[1])
    return max(float(scale * extent[0]), 1.8), max(float(scale * extent[1]), 1.2)


def _legend_below(figure: Any, axis: Any, handles: list[Any], labels: list[str]) -> None:
    """Put the legend below the label of the horizontal axis, at a distance that does not depend on the height."""
    below = require("matplotlib.transforms", "plot").offset_copy(axis.transAxes, figure, y=-36, units="points")
    axis.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=below, ncols=2)


def _fit(axis: Any, points: Sequence[FloatArray]) -> None:
    """Limit the axes to what is on the plan; ellipses may reach beyond."""
    everything = np.concatenate(list(points))
    low, high = everything.min(axis=0), everything.max(axis=0)
    room = 0.04 * float((high - low).max())
    axis.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))


def _ellipse(axis: Any, row: Row, colour: str) -> None:
    matrix = np.array([[row["variance_x"], row["covariance"]], [row["covariance"], row["variance_y"]]], dtype=float)
    if not np.isfinite(matrix).all():
        return
    variances, directions = np.linalg.eigh(matrix)
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    outline = directions @ (_RADIUS * np.sqrt(np.maximum(variances, 0.0))[:, None] * circle)
    axis.fill(row["x"] + outline[0], row["y"] + outline[1], color=colour, alpha=0.08, linewidth=0)
