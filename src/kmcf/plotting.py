"""Pictures of beliefs and runs (needs the extra ``kmcf[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.objects import describe, is_numeric
from kmcf.support.alerts import LOW_COVERAGE
from kmcf.support.extras import require

if TYPE_CHECKING:
    from kmcf.filter.belief import Belief
    from kmcf.filter.run import FilterRun

ESTIMATE, TRUTH, POSITIVE, NEGATIVE, ALERT = "#1f5fa8", "#222222", "#1f5fa8", "#c8372d", "#d9822b"
DENSITY = "#2f8f5b"


def plot_run(run: FilterRun, truth: Any = None, axes: Any = None) -> Any:
    """Draw the posterior mean with its 95 % interval per state coordinate, then effective sample size and coverage.

    Steps without observation, and those whose observation was rejected, are marked on the mean; the lowest panel shows
    how well the examples cover each step, and marks what they hardly cover (below 0.1).

    Parameters
    ----------
    run : FilterRun
        One sequence (index a batch first).
    truth : array (T, d), optional
        The true states, if known.
    axes : array of d + 2 matplotlib axes, optional
        Where to draw; with d + 1 axes the coverage is left out.

    Returns
    -------
    array of axes
    """
    pyplot = require("matplotlib.pyplot", "plot")
    if run.ess.ndim != 1:
        raise ValueError("this is a batch of runs; plot one of them: run[b].plot().")
    mean = run.mean.reshape(len(run), -1)
    bounds = run.interval
    d = mean.shape[1]
    if axes is None:
        heights = [2.4] * d + [1.1, 1.1]
        _, axes = pyplot.subplots(
            d + 2, 1, sharex=True, figsize=(9, sum(heights) + 0.9), height_ratios=heights, layout="constrained"
        )
    true_states = None if truth is None else _true_states(truth, mean.shape)
    for j in range(d):
        _plot_coordinate(
            axes[j], run, mean[:, j], bounds[:, :, j], None if true_states is None else true_states[:, j], j
        )
        axes[j].set_ylabel(("state" if d == 1 else f"state {j}") + (" [rad]" if j in run.angles else ""))
    _legend_above(axes[0])
    axes[d].plot(run.time, run.ess, color="#555555", linewidth=1.0)
    axes[d].set(ylabel="effective\nsample size", ylim=(0, None))
    if len(axes) > d + 1:
        _plot_coverage(axes[d + 1], run)
    axes[-1].set_xlabel("time step")
    return axes


def _legend_above(ax: Any) -> None:
    """Put the legend where it hides nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=5, fontsize="small", frameon=False, borderaxespad=0.2)


def _plot_coverage(ax: Any, run: FilterRun) -> None:
    ax.plot(run.time, run.coverage, color="#555555", linewidth=1.0)
    low = run.coverage < LOW_COVERAGE
    if low.any():
        ax.plot(
            run.time[low], run.coverage[low], "o", color=ALERT, markersize=4, label="hardly covered by the examples"
        )
        ax.legend(loc="lower left", fontsize="small", frameon=False)
    ax.set(ylabel="coverage", ylim=(-0.05, 1.05))


def _true_states(truth: Any, shape: tuple[int, ...]) -> FloatArray:
    states: FloatArray = np.asarray(truth, dtype=np.float64)
    if states.size != np.prod(shape):
        raise ValueError(f"truth has shape {states.shape}; it must hold {shape[0]} states with {shape[1]} columns.")
    return states.reshape(shape)


def _plot_coordinate(
    ax: Any, run: FilterRun, mean: FloatArray, bounds: FloatArray, truth: FloatArray | None, column: int
) -> None:
    if column in run.angles and truth is not None:
        truth = mean + wrapped_difference(truth - mean)
    ax.fill_between(run.time, bounds[:, 0], bounds[:, 1], color=ESTIMATE, alpha=0.2, linewidth=0, label="95 % band")
    if truth is not None:
        ax.plot(run.time, truth, color=TRUTH, linewidth=1.0, label="truth")
    ax.plot(run.time, mean, color=ESTIMATE, linewidth=1.4, label="posterior mean")
    for chosen, marker, color, label in (
        (run.missing, "o", "#8a8a8a", "no observation"),
        (run.rejected, "X", ALERT, "observation rejected"),
    ):
        if chosen.any():
            ax.plot(run.time[chosen], mean[chosen], marker, color=color, markersize=5, label=label)


def plot_belief(belief: Belief, ax: Any = None, truth: Any = None) -> Any:
    """Draw a belief: for one dimension the weights and the density, for two or more a map of the first two coordinates.

    Parameters
    ----------
    belief : Belief
        What to draw.
    ax : matplotlib axes, optional
        Where to draw.
    truth : array (d,), optional
        The true state, if known.
    """
    pyplot = require("matplotlib.pyplot", "plot")
    if not is_numeric(belief.states):
        raise TypeError(f"the states are {describe(belief.states)}, which cannot be drawn.")
    rows = np.asarray(belief.states, dtype=np.float64).reshape(len(belief), -1)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7.5, 3.8) if rows.shape[1] == 1 else (6.5, 6.2), layout="constrained")
    point = None if truth is None else _true_states(truth, (1, rows.shape[1]))[0]
    draw = _belief_line if rows.shape[1] == 1 else _belief_map
    draw(ax, belief, rows, point)
    ax.set_title(f"belief at step {belief.time}, effective sample size {belief.ess:.1f}", fontsize="medium", pad=24)
    _legend_above(ax)
    return ax


def _belief_line(ax: Any, belief: Belief, rows: FloatArray, truth: FloatArray | None) -> None:
    for sign, color, label in ((1, POSITIVE, "weights > 0"), (-1, NEGATIVE, "weights < 0")):
        chosen = sign * belief.weights > 0
        if chosen.any():
            ax.vlines(rows[chosen, 0], 0, belief.weights[chosen], color=color, linewidth=1.0, label=label)
    ax.axhline(0.0, color="#999999", linewidth=0.6)
    ax.axvline(float(np.ravel(belief.mean())[0]), color=ESTIMATE, linestyle="--", linewidth=1.2, label="mean")
    if truth is not None:
        ax.axvline(truth[0], color=TRUTH, linewidth=1.2, label="truth")
    ax.set(xlabel="state", ylabel="weight")
    grid = np.linspace(rows.min(), rows.max(), 400)
    heights = belief.density(grid)
    density = ax.twinx()
    density.plot(grid, heights, color=DENSITY, linewidth=1.4)
    ax.plot([], [], color=DENSITY, linewidth=1.4, label="density")  # so that the legend has it
    density.set_ylabel("density", color=DENSITY)
    _share_zero(ax, density, belief.weights, heights)


def _share_zero(ax: Any, other: Any, values: FloatArray, other_values: FloatArray) -> None:
    """Put zero at the same height on both vertical axes."""
    below = max(-float(v.min(initial=0.0)) / max(float(v.max(initial=0.0)), 1e-300) for v in (values, other_values))
    for axes, shown in ((ax, values), (other, other_values)):
        top = 1.08 * float(shown.max(initial=0.0)) or 1.0
        axes.set_ylim(-(below + 0.04) * top, top)


def _belief_map(ax: Any, belief: Belief, rows: FloatArray, truth: FloatArray | None) -> None:
    size = 400.0 * np.abs(belief.weights) / np.abs(belief.weights).max()
    ax.plot(rows[:, 0], rows[:, 1], ".", color="#bbbbbb", markersize=3, zorder=0, label="states")
    for sign, color, label in ((1, POSITIVE, "weights > 0"), (-1, NEGATIVE, "weights < 0")):
        chosen = sign * belief.weights > 0
        ax.scatter(rows[chosen, 0], rows[chosen, 1], s=size[chosen], color=color, alpha=0.5, linewidths=0)
        if chosen.any():
            ax.scatter([], [], s=50, color=color, alpha=0.5, linewidths=0, label=label)  # the legend's own dot
    mean = np.ravel(belief.mean())
    ax.plot(mean[0], mean[1], "D", color=DENSITY, markersize=8, label="mean")
    if truth is not None:
        ax.plot(truth[0], truth[1], "*", color=TRUTH, markersize=13, label="truth")
    ax.set(xlabel="state 0", ylabel="state 1")
