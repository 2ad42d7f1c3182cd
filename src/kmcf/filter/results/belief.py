"""What the filter believes about the state at one time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.filter.results.calibrated import CalibratedEmbedding
from kmcf.filter.results.step_report import StepReport
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, describe, is_numeric, take
from kmcf.plotting import plot_belief
from kmcf.support.notebooks import html_table
from kmcf.trust.alarm import Watch
from kmcf.trust.calibration import Calibration

WATCHED = (
    "observation_distance",
    "observation_shift",
    "residual_shift",
    "straying",
    "relative_evidence",
    "state_coverage",
    "observation_coverage",
    "rejected",
)
"""What alarms take from a step's report."""


class Belief(CalibratedEmbedding):
    """The state's distribution at one time, as a weighted sample. Beliefs do not change: a step returns a new one.

    After a correction the states are the example states with signed weights. Before the first observation, after a
    missing one and after a rejected step they are the predicted particles, and ``report.weight_sum`` is NaN.

    Parameters
    ----------
    states, weights, kernel, angles
        As for :class:`~kmcf.embedding.embedding.Embedding`.
    time : int
        Number of steps made: 0 for the initial belief.
    stream : int
        Which stream of random numbers the next steps use.
    report : StepReport
        How the step went.
    resampled : array of int, optional
        Indices of the states that the next step propagates, with equal weights, repeated as needed. None: it
        propagates all states with their weights.
    rejections : int
        How many steps were rejected on the way here.
    clock : float, optional
        The user's time, if steps are given times.
    elapsed : float, optional
        Time since the step before, if both are known.
    calibration : Calibration, optional
        What intervals, ellipses and probabilities are corrected by.
    watch : Watch, optional
        What raises alarms.

    Examples
    --------
    >>> belief = Belief(np.array([[0.0], [2.0]]), np.array([0.25, 0.75]), time=3)
    >>> belief.mean(), belief.time, belief.report.rejected
    (array([1.5]), 3, False)
    """

    def __init__(
        self,
        states: Objects,
        weights: FloatArray | LazyWeights,
        *,
        kernel: Kernel | None = None,
        angles: Sequence[int] = (),
        time: int = 0,
        stream: int = 0,
        report: StepReport | None = None,
        resampled: IntArray | None = None,
        rejections: int = 0,
        clock: float | None = None,
        elapsed: float | None = None,
        calibration: Calibration | None = None,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(states, weights, kernel, angles)
        self._time = time
        self._stream = stream
        self._report = StepReport() if report is None else report
        self._resampled = resampled
        self._rejections = rejections
        self._clock = clock
        self._elapsed = elapsed
        self._calibration = calibration
        self._watch = watch

    @property
    def time(self) -> int:
        """Number of steps made: 0 before the first."""
        return self._time

    @property
    def stream(self) -> int:
        """Which stream of random numbers the next steps use."""
        return self._stream

    @property
    def report(self) -> StepReport:
        """How the step that made this belief went."""
        return self._report

    @property
    def resampled(self) -> IntArray | None:
        """Indices of the states that the next step propagates; None if it propagates all, with their weights."""
        return self._resampled

    @property
    def rejections(self) -> int:
        """How many steps were rejected on the way here."""
        return self._rejections

    @property
    def clock(self) -> float | None:
        """The user's time of this belief; None if steps are not given times."""
        return self._clock

    @property
    def elapsed(self) -> float | None:
        """Time since the step before; None if it is not known."""
        return self._elapsed

    @property
    def calibration(self) -> Calibration | None:
        """What intervals, ellipses and probabilities are corrected by; None if the filter was not calibrated."""
        return self._calibration

    @property
    def corrected(self) -> bool:
        """Whether an observation was used in the step that made this belief."""
        return self.time > 0 and not (self.report.missing or self.report.rejected)

    @property
    def final(self) -> bool:
        """Whether no step may continue from this belief: a smoothed one knows later observations."""
        return False

    @property
    def beyond(self) -> FloatArray | None:
        """Predicted states beyond the examples, which intervals take in; None where there are none."""
        return None if self.final else self.report.beyond

    @property
    def watch(self) -> Watch | None:
        """What raises alarms; None if nobody watches."""
        return self._watch

    @property
    def log_evidence(self) -> float:
        """Predictive log density of the last observation, as ``run.log_evidence``; NaN if it was missing."""
        return self.report.log_evidence

    @property
    def alarm(self) -> bool:
        """Whether something suggests that this estimate should not be believed."""
        return bool(self.alarm_reason)

    @property
    def alarm_reason(self) -> str:
        """Why there is an alarm: "uncovered state", "unlike any example", ...; empty if there is none."""
        return alarm_reasons([self])[0]

    @property
    def state_shape(self) -> tuple[int, ...] | None:
        """Shape of one state; None if states are objects."""
        return None if isinstance(self._states, list) else tuple(self._states.shape[1:])

    def stamped(self, clock: float | None, elapsed: float | None) -> Belief:
        """Return the same belief with the user's time, and how much of it passed since the step before."""
        same = copy.copy(self)
        same._clock, same._elapsed = clock, elapsed
        return same

    def particles(self, size: int) -> tuple[Objects, FloatArray]:
        """Return the sample that the next step moves: ``size`` copies of the resampled states, or all with weights."""
        if self._resampled is None:
            return self.states, self.weights
        points, times = take(self._states, self._resampled), -(-size // len(self._resampled))
        copies = points * times if isinstance(points, list) else np.concatenate([points] * times)
        return copies[:size], equal_weights(size)  # particle i is point i mod ℓ

    def plot(self, ax: Any = None, truth: Any = None) -> Any:
        """Draw the belief (needs matplotlib); see :func:`kmcf.plotting.plot_belief`."""
        return plot_belief(self, ax=ax, truth=truth)

    def __repr__(self) -> str:
        flags = " rejected" * self.report.rejected + " missing" * self.report.missing
        return f"Belief(time={self.time}, {len(self)} states, effective sample size {self.ess:.1f}{flags})"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows: dict[str, Any] = {"time": self.time, "states": describe(self.states)}
        if self.clock is not None:
            rows["clock"] = self.clock
        if is_numeric(self.states):
            rows["mean"] = self.mean()
            deviations = np.sqrt(np.diagonal(self.scatter()))
            rows["standard deviation"] = deviations.reshape(self.states.shape[1:])
        rows["mode"] = self.mode()
        rows["effective sample size"] = self.ess
        rows["negative mass"] = abs(self.negative_mass)  # no minus sign before zero
        rows["coverage"] = self.report.coverage
        if self.report.sensors.used:
            rows["sensors used"] = ", ".join(self.report.sensors.used)
        if reason := self.alarm_reason:
            rows["alarm"] = reason
        if self.report.relocated:
            rows["relocated"] = "the state was looked for among all examples"
        how = "no observation" if self.report.missing else "observation rejected" if self.report.rejected else ""
        return html_table("Belief", rows, how)


def check_continues(belief: Belief) -> None:
    """Refuse to make a step from a belief that knows later observations."""
    if belief.final:
        raise ValueError(
            "a smoothed belief knows later observations, which a step would use twice: start from run.filtered[t]."
        )


def alarm_reasons(beliefs: Sequence[Belief]) -> list[str]:
    """Return the reasons for alarms of several beliefs, which cost little more than one; empty where there is none.

    Examples
    --------
    >>> alarm_reasons([Belief(np.zeros((2, 1)), equal_weights(2))])
    ['']
    """
    reasons = [""] * len(beliefs)
    watched: dict[tuple[int, int], list[int]] = {}  # beliefs with one watch are decided about together
    for position, belief in enumerate(beliefs):
        if belief.watch is not None and belief.time > 0:
            watched.setdefault((id(belief.watch), len(belief.states)), []).append(position)
    for positions in watched.values():
        some = [beliefs[position] for position in positions]
        rows: dict[str, Any] = {name: np.array([getattr(one.report, name) for one in some]) for name in WATCHED}
        rows |= {"ess": np.array([one.ess for one in some])}
        rows |= {"negative_mass": np.array([one.negative_mass for one in some])}
        rows |= {"running": np.array([one.report.running for one in some])}
        rows |= {"support_size": np.array([len(one) for one in some])}
        rows["mean"] = np.stack([one.mean() for one in some]) if is_numeric(some[0].states) else None
        assert some[0].watch is not None
        for position, reason in zip(positions, some[0].watch.decide(rows)[1], strict=True):
            reasons[position] = str(reason)
    return reasons


@lru_cache(maxsize=16)
def equal_weights(size: int) -> FloatArray:
    """Return the weights 1 / size, read-only, as every step asks for them.

    Examples
    --------
    >>> equal_weights(4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    weights = np.full(size, 1.0 / size)
    weights.flags.writeable = False
    return weights
