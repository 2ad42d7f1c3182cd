"""Pictures of beliefs and runs (needs the extra ``kmcf[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.circles import wrapped_difference
from kmcf.extras import require
from kmcf.objects import describe, is_numeric

if TYPE_CHECKING:
    from kmcf.filter.belief import Belief
    from kmcf.filter.run import FilterRun

ESTIMATE, TRUTH, POSITIVE, NEGATIVE, ALERT = "#1f5fa8", "#222222", "#1f5fa8", "#c8372d", "#d9822b"


def plot_run(run: FilterRun, truth: Any = None, axes: Any = None) -> Any:
    """Draw the posterior mean with its 95 % interval per state coordinate, and the effective sample size below.

    Parameters
    ----------
    run : FilterRun
        One sequence (index a batch first).
    truth : array (T, d), optional
        The true states, if known.
    axes : array of d + 1 matplotlib axes, optional
        Where to draw.

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
        _, axes = pyplot.subplots(d + 1, 1, sharex=True, figsize=(9, 2.4 * d + 1.6), height_ratios=[2.4] * d + [1.2])
    true_states = None if truth is None else _true_states(truth, mean.shape)
    for j in range(d):
        _plot_coordinate(
            axes[j], run, mean[:, j], bounds[:, :, j], None if true_states is None else true_states[:, j], j
        )
        axes[j].set_ylabel(("state" if d == 1 else f"state {j}") + (" [rad]" if j in run.angles else ""))
    axes[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, fontsize="small", frameon=False)
    axes[d].plot(run.time, run.ess, color="#555555", linewidth=1.0)
    axes[d].set(xlabel="time step", ylabel="effective\nsample size", ylim=(0, None))
    return axes


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
    skipped = run.missing | run.rejected
    if skipped.any():
        ax.plot(run.time[skipped], mean[skipped], "o", color=ALERT, markersize=4, label="no observation used")


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
        _, ax = pyplot.subplots(figsize=(7, 3.5) if rows.shape[1] == 1 else (6, 5.5))
    point = None if truth is None else _true_states(truth, (1, rows.shape[1]))[0]
    draw = _belief_line if rows.shape[1] == 1 else _belief_map
    draw(ax, belief, rows, point)
    ax.set_title(f"belief at step {belief.time}, effective sample size {belief.ess:.1f}", fontsize="medium")
    ax.legend(fontsize="small")
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
    density = ax.twinx()
    density.plot(grid, belief.density(grid), color="#2f8f5b", linewidth=1.4)
    density.set_ylabel("density", color="#2f8f5b")
    density.set_ylim(bottom=min(0.0, density.get_ylim()[0]))


def _belief_map(ax: Any, belief: Belief, rows: FloatArray, truth: FloatArray | None) -> None:
    size = 400.0 * np.abs(belief.weights) / np.abs(belief.weights).max()
    ax.plot(rows[:, 0], rows[:, 1], ".", color="#cccccc", markersize=2, zorder=0, label="states of the sample")
    for sign, color, label in ((1, POSITIVE, "weights > 0"), (-1, NEGATIVE, "weights < 0")):
        chosen = sign * belief.weights > 0
        ax.scatter(rows[chosen, 0], rows[chosen, 1], s=size[chosen], color=color, alpha=0.5, linewidths=0, label=label)
    mean = np.ravel(belief.mean())
    ax.plot(mean[0], mean[1], "D", color="#2f8f5b", markersize=8, label="mean")
    if truth is not None:
        ax.plot(truth[0], truth[1], "*", color=TRUTH, markersize=13, label="truth")
    ax.set(xlabel="state 0", ylabel="state 1")
