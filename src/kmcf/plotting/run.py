"""The picture of a run: estimates over time, effective sample size, coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray
from kmcf.numerics.circles import wrapped_difference
from kmcf.plotting.style import ALERT, ESTIMATE, MISSING, QUIET, TRUTH, legend_above, true_states
from kmcf.support.alerts import LOW_COVERAGE
from kmcf.support.extras import require


class DrawableRun(Protocol):
    """What is drawn of a run of T steps over d coordinates."""

    def __len__(self) -> int: ...

    @property
    def time(self) -> IntArray:
        """Step numbers, (T,)."""
        ...

    @property
    def mean(self) -> FloatArray:
        """Estimated states, (T, ...)."""
        ...

    @property
    def times(self) -> FloatArray:
        """The user's times of the steps, (T,); NaN if there are none."""
        ...

    @property
    def interval(self) -> FloatArray:
        """Lower and upper bounds of the estimates, (T, 2, d)."""
        ...

    @property
    def angles(self) -> tuple[int, ...]:
        """Coordinates that are angles in radians."""
        ...

    @property
    def ess(self) -> FloatArray:
        """Effective sample sizes, (T,)."""
        ...

    @property
    def coverage(self) -> FloatArray:
        """How well the examples cover each step, (T,)."""
        ...

    @property
    def missing(self) -> BoolArray:
        """Steps without an observation, (T,)."""
        ...

    @property
    def rejected(self) -> BoolArray:
        """Steps whose observation was not used, (T,)."""
        ...

    @property
    def alarm(self) -> BoolArray:
        """Steps whose estimate should not be believed, (T,)."""
        ...

    @property
    def alarm_reason(self) -> Any:
        """Why, (T,)."""
        ...

    @property
    def filtered(self) -> Any:
        """The run that was smoothed, drawn beside it; None if this is the filter's."""
        ...


def plot_run(
    run: DrawableRun, truth: Any = None, axes: Any = None, *, names: Sequence[str] = (), time: str | None = None
) -> Any:
    """Draw the posterior mean with its 95 % interval per state coordinate, then effective sample size and coverage.

    A smoothed run is drawn with the filter's mean beside it. Steps without observation, and those whose observation was
    rejected, are marked on the mean; steps with an alarm are shaded. The lowest panel shows how well the examples cover
    each step, and marks what they hardly cover (below 0.1).

    Parameters
    ----------
    run : FilterRun
        One sequence (index a batch first).
    truth : array (T, d), optional
        The true states, if known. With fewer columns than states have, these are the first.
    axes : array of d + 2 matplotlib axes, optional
        Where to draw; with d + 1 axes the coverage is left out.
    names : sequence of str
        What the coordinates are called; empty: "state 0" and so on.
    time : str, optional
        What the horizontal axis is called; None: "time", or "time step" where no times are known.

    Returns
    -------
    array of axes

    Examples
    --------
    >>> import kmcf
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(60, random_state=0), model.simulate(20, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
    >>> len(plot_run(flt.filter(test.observations), truth=test.states))
    3
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
    true = None if truth is None else true_states(truth, (len(mean), d))
    for j in range(d):
        _plot_coordinate(axes[j], run, mean[:, j], bounds[:, :, j], None if true is None else true[:, j], j)
        name = names[j] if len(names) == d else "state" if d == 1 else f"state {j}"
        axes[j].set_ylabel(name + (" [rad]" if j in run.angles else ""))
        _shade_alarms(axes[j], run)
    legend_above(axes[0])
    axes[d].plot(_when(run), run.ess, color=QUIET, linewidth=1.0)
    axes[d].set(ylabel="effective\nsample size", ylim=(0, None))
    if len(axes) > d + 1:
        _plot_coverage(axes[d + 1], run)
    axes[-1].set_xlabel(time or ("time step" if np.isnan(run.times).any() else "time"))
    return axes


def _when(run: DrawableRun) -> Any:
    """Return the user's times or, where there are none, the numbers of the steps."""
    return run.time if np.isnan(run.times).any() else run.times


def _shade_alarms(ax: Any, run: DrawableRun) -> None:
    """Shade the steps with an alarm; the label says why, most frequent reason first."""
    steps = np.flatnonzero(run.alarm)
    if not len(steps):
        return
    counts = Counter(str(reason) for reason in run.alarm_reason[steps]).most_common()
    reasons = [f"{reason} ({count})" for reason, count in counts]
    lines = [", ".join(reasons[k : k + 2]) for k in range(0, len(reasons), 2)]  # one line would leave no room for axes
    label, edges = "alarm: " + ",\n".join(lines), _edges(np.asarray(_when(run), dtype=np.float64))
    for spell in np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1):
        ax.axvspan(edges[spell[0]], edges[spell[-1] + 1], color=ALERT, alpha=0.15, linewidth=0, zorder=0, label=label)
        label = "_"  # one entry in the legend


def _edges(when: FloatArray) -> FloatArray:
    """Return where each of T steps begins and the last one ends, halfway between them, (T + 1,).

    Examples
    --------
    >>> _edges(np.array([1.0, 2.0, 4.0])).tolist()
    [0.5, 1.5, 3.0, 5.0]
    """
    halves = np.diff(when) / 2 if len(when) > 1 else np.array([0.5])
    return np.concatenate([[when[0] - halves[0]], when[:-1] + halves[: len(when) - 1], [when[-1] + halves[-1]]])


def _plot_coverage(ax: Any, run: DrawableRun) -> None:
    ax.plot(_when(run), run.coverage, color=QUIET, linewidth=1.0)
    low = run.coverage < LOW_COVERAGE
    if low.any():
        ax.plot(
            _when(run)[low], run.coverage[low], "o", color=ALERT, markersize=4, label="hardly covered by the examples"
        )
        ax.legend(loc="lower left", fontsize="small", frameon=False)
    ax.set(ylabel="coverage", ylim=(-0.05, 1.05))


def _plot_coordinate(
    ax: Any, run: DrawableRun, mean: FloatArray, bounds: FloatArray, truth: FloatArray | None, column: int
) -> None:
    if column in run.angles and truth is not None:
        truth = mean + wrapped_difference(truth - mean)
    ax.fill_between(_when(run), bounds[:, 0], bounds[:, 1], color=ESTIMATE, alpha=0.2, linewidth=0, label="95 % band")
    if truth is not None:
        ax.plot(_when(run), truth, color=TRUTH, linewidth=1.0, label="truth")
    if run.filtered is not None:
        before = run.filtered.mean.reshape(len(run), -1)[:, column]
        ax.plot(_when(run), before, color=QUIET, linewidth=1.0, linestyle="--", label="filtered mean")
    name = "posterior mean" if run.filtered is None else "smoothed mean"
    ax.plot(_when(run), mean, color=ESTIMATE, linewidth=1.4, label=name)
    for chosen, marker, color, label in (
        (run.missing, "o", MISSING, "no observation"),
        (run.rejected, "X", ALERT, "observation rejected"),
    ):
        if chosen.any():
            ax.plot(_when(run)[chosen], mean[chosen], marker, color=color, markersize=5, label=label)
