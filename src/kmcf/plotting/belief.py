"""The picture of a belief: weights and density on a line, or weights on a map."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, describe, is_numeric
from kmcf.plotting.style import DENSITY, ESTIMATE, LINE, NEGATIVE, POSITIVE, STATES, TRUTH, legend_above, true_states
from kmcf.support.extras import require


class DrawableBelief(Protocol):
    """What is drawn of a belief."""

    def __len__(self) -> int: ...

    @property
    def states(self) -> Objects:
        """The states, (n, ...)."""
        ...

    @property
    def weights(self) -> FloatArray:
        """Their weights, (n,), of any sign."""
        ...

    @property
    def ess(self) -> float:
        """The effective sample size."""
        ...

    @property
    def time(self) -> int:
        """The number of steps made."""
        ...

    def mean(self) -> FloatArray:
        """Return the mean state."""
        ...

    def density(self, points: Any, /) -> FloatArray:
        """Return the density at some points."""
        ...


def plot_belief(belief: DrawableBelief, ax: Any = None, truth: Any = None) -> Any:
    """Draw a belief: for one dimension the weights and the density, for two or more a map of the first two coordinates.

    Parameters
    ----------
    belief : Belief
        What to draw.
    ax : matplotlib axes, optional
        Where to draw.
    truth : array (d,), optional
        The true state, if known.

    Examples
    --------
    >>> import kmcf
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train = model.simulate(60, random_state=0)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
    >>> axes = plot_belief(flt.step(flt.start(), 0.3))
    """
    pyplot = require("matplotlib.pyplot", "plot")
    if not is_numeric(belief.states):
        raise TypeError(f"the states are {describe(belief.states)}, which cannot be drawn.")
    rows = np.asarray(belief.states, dtype=np.float64).reshape(len(belief), -1)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7.5, 3.8) if rows.shape[1] == 1 else (6.5, 6.2), layout="constrained")
    point = None if truth is None else true_states(truth, (1, rows.shape[1]))[0]
    draw = _belief_line if rows.shape[1] == 1 else _belief_map
    draw(ax, belief, rows, point)
    ax.set_title(f"belief at step {belief.time}, effective sample size {belief.ess:.1f}", fontsize="medium", pad=24)
    legend_above(ax)
    return ax


def _belief_line(ax: Any, belief: DrawableBelief, rows: FloatArray, truth: FloatArray | None) -> None:
    for sign, color, label in ((1, POSITIVE, "weights > 0"), (-1, NEGATIVE, "weights < 0")):
        chosen = sign * belief.weights > 0
        if chosen.any():
            ax.vlines(rows[chosen, 0], 0, belief.weights[chosen], color=color, linewidth=1.0, label=label)
    ax.axhline(0.0, color=LINE, linewidth=0.6)
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


def _belief_map(ax: Any, belief: DrawableBelief, rows: FloatArray, truth: FloatArray | None) -> None:
    size = 400.0 * np.abs(belief.weights) / np.abs(belief.weights).max()
    ax.plot(rows[:, 0], rows[:, 1], ".", color=STATES, markersize=3, zorder=0, label="states")
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
