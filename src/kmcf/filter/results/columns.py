"""The columns of a run under the names that users know: one entry per step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray


class ColumnsByName(ABC):
    """What a run says of every step, as arrays whose first axis is the step (of a batch, the second)."""

    @abstractmethod
    def _column(self, name: str) -> Any:
        """Return a column, or None where it is not defined."""

    @property
    def mean(self) -> FloatArray:
        """Posterior means, (T, d)."""
        return self._moment("mean")

    @property
    def covariance(self) -> FloatArray:
        """Centred covariances as computed (signed weights may make them indefinite), (T, d, d)."""
        return self._moment("covariance")

    @property
    def mode(self) -> Any:
        """The state with the largest weight, (T, d), or a list if states are objects."""
        return self._column("mode")

    @property
    def interval(self) -> FloatArray:
        """Central 95 % intervals, calibrated if the filter was: lower and upper bounds per coordinate, (T, 2, d)."""
        return self._moment("interval")

    @property
    def time(self) -> IntArray:
        """Step numbers, from 1."""
        return self._column("time")

    @property
    def times(self) -> FloatArray:
        """The user's times of the steps; NaN if they were filtered without."""
        found = self._column("times")
        return np.full(self.time.shape, np.nan) if found is None else found

    @property
    def ess(self) -> FloatArray:
        """Effective sample size 1 / Σw²."""
        return self._column("ess")

    @property
    def weight_sum(self) -> FloatArray:
        """Sum of the weights before normalisation; NaN if nothing was corrected."""
        return self._column("weight_sum")

    @property
    def negative_mass(self) -> FloatArray:
        """Total of the negative weights, as a positive number."""
        return self._column("negative_mass")

    @property
    def herding_loss(self) -> FloatArray:
        """RKHS distance of the resampled points to the posterior; NaN if nothing was resampled."""
        return self._column("herding_loss")

    @property
    def coverage(self) -> FloatArray:
        """The smaller of observation and state coverage: near 1, the examples cover a step well; near 0, poorly."""
        return self._column("coverage")

    @property
    def observation_coverage(self) -> FloatArray:
        """Similarity of the observation to the closest example observation; NaN if it is missing."""
        return self._column("observation_coverage")

    @property
    def state_coverage(self) -> FloatArray:
        """Average similarity of the predicted states to their closest example states."""
        return self._column("state_coverage")

    @property
    def log_evidence(self) -> FloatArray:
        """Predictive log density of each observation, up to a constant that no transition changes; NaN if missing."""
        return self._column("log_evidence")

    @property
    def prediction_score(self) -> FloatArray:
        """Kernel score of each prediction, given its observation; NaN if missing, or if the run is from a file.

        The larger its sum, the better the transition: unlike that of :attr:`log_evidence`, its average is largest for
        the true one, at whatever width of the observation kernel (``docs/learning-transitions.md``).
        """
        return self._column("prediction_score")

    @property
    def observation_distance(self) -> FloatArray:
        """Log distance of each observation to the nearest example observations, in raw columns; NaN if missing."""
        return self._column("observation_distance")

    @property
    def alarm(self) -> BoolArray:
        """Steps whose estimate should not be believed; about 1 % of good steps raise an alarm, too."""
        return self._column("alarm")

    @property
    def alarm_reason(self) -> Any:
        """Why: "uncovered state", "unlike any example", "changed sensor", "cancelled weights" or "lost"; else ""."""
        return self._column("alarm_reason")

    @property
    def rejected(self) -> BoolArray:
        """Steps whose observation was not used because no example resembles it or the weights nearly cancelled."""
        return self._column("rejected")

    @property
    def relocated(self) -> BoolArray:
        """Steps at which observations contradicted the prediction, so that the state was looked for among all examples.

        See the filters' setting ``relocate``. This is no alarm: about one step in a thousand does so in vain.
        """
        return self._column("relocated")

    @property
    def missing(self) -> BoolArray:
        """Steps without an observation."""
        return self._column("missing")

    def _moment(self, name: str) -> Any:
        values = self._column(name)
        if values is None:
            raise TypeError(
                f"the states are objects, for which no {name} is defined; use run.mode or the beliefs' expectation()."
            )
        return values
