"""A run of the Kernel Monte Carlo Filter repeated, with everything that pictures of its iterations need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.filter.sequential import SequentialFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.report import Frame
from kmcf_lab.localize.problem import LocalizationFold, Measure
from kmcf_lab.localize.steps import control_of, position_of
from kmcf_lab.quiet import quiet


@dataclass(frozen=True)
class Iteration:
    """One iteration of the filter: prediction, correction, resampling; positions only.

    Attributes
    ----------
    step, time, error
        Number, seconds, metres.
    predicted : array (m, 2)
        The sample before the correction.
    states, weights : array (n, 2), array (n,)
        The posterior.
    herded : array (l, 2)
        The points picked from it.
    truth, estimate : array (2,)
        The true and the estimated position.
    missing : bool
        Nothing was observed.
    """

    step: int
    time: float
    error: float
    predicted: FloatArray
    states: FloatArray
    weights: FloatArray
    herded: FloatArray
    truth: FloatArray
    estimate: FloatArray
    missing: bool

    @property
    def frame(self) -> Frame:
        """The same for the player on the page."""
        without = ", nothing observed" if self.missing else ""
        return Frame(
            f"t = {self.time:.4g} s, error {self.error:.2f} m{without}",
            self.states,
            self.weights,
            self.predicted,
            self.herded,
            self.truth,
            self.estimate,
        )


def replayed(
    flt: SequentialFilter, fold: LocalizationFold, measure: Measure, steps: Sequence[int]
) -> dict[int, Iteration]:
    """Filter a fold's test sequence again and return some of its iterations by step.

    The prediction of a step is a forecast from the belief before it, which draws the same random numbers.
    """
    wanted = set(steps)
    iterations: dict[int, Iteration] = {}
    belief = flt.start()
    for t in range(max(wanted, default=-1) + 1):
        control = control_of(fold.test, t)
        with quiet():
            ahead = flt.forecast(belief, 1, None if control is None else [control])[0] if t in wanted else None
            belief = flt.step(belief, fold.test.observations[t], control)
        if ahead is None:
            continue
        truth = np.asarray(fold.test.states[t], dtype=np.float64)[:2]
        place = position_of(belief, measure.estimate)
        iterations[t] = Iteration(
            step=t,
            time=float(fold.test.time[t]),
            error=float(np.linalg.norm(place - truth)),
            predicted=_plane(ahead.states),
            states=_plane(belief.states),
            weights=np.array(belief.weights),
            herded=_plane(belief.states)[[] if belief.resampled is None else belief.resampled],
            truth=truth,
            estimate=place,
            missing=bool(belief.report.missing),
        )
    return iterations


def _plane(states: Any) -> FloatArray:
    return np.asarray(states, dtype=np.float64)[:, :2]
