"""What a step says about itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcf.bayes_rule.base import NOBODY, SensorUse
from kmcf.numerics.arrays import FloatArray
from kmcf.trust.residuals import contradicted
from kmcf.trust.signals import NOTHING_SEEN, STRAYING, Running


@dataclass(frozen=True)
class StepReport:
    """How one step went, and whether to trust it.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train = model.simulate(60, random_state=0)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
    >>> report = flt.step(flt.start(), 0.3).report
    >>> report.rejected, report.missing, bool(report.observation_coverage > 0.5)
    (False, False, True)
    """

    weight_sum: float = np.nan
    """Sum of the weights before normalisation; far from 1 means an inaccurate estimate (Section 4.3)."""
    herding_loss: float = np.nan
    """RKHS distance between the posterior and the points resampled from it; NaN if nothing was resampled."""
    observation_coverage: float = np.nan
    """Similarity of the observation to the closest example observation, in [0, 1]; NaN if there was none."""
    state_coverage: float = np.nan
    """Similarity of the predicted states to their closest example states, on average, in [0, 1]."""
    log_evidence: float = np.nan
    """Predictive log density of the observation up to a constant that no transition changes; NaN if there was none."""
    relative_evidence: float = np.nan
    """The same less that of a prior spread over all examples: far below zero, the prediction was at a wrong place."""
    prediction_score: float = np.nan
    """Kernel score of the prediction, given the observation: the larger, the better; NaN if there was none."""
    observation_distance: float = np.nan
    """Log distance of the observation to the nearest example observations, in raw columns, compared with theirs."""
    observation_shift: float = np.nan
    """How far the running mean of observations is from the examples' mean, in units of their columns' spread."""
    residual_shift: float = np.nan
    """The same of what they differ by from those of the examples around the mean, in units of their spread there."""
    running_observation: FloatArray | None = None
    """These two running means, one row each."""
    running: Running = NOTHING_SEEN
    """Running means of the distance, and of how much less probable than predicted observations were."""
    doubt: float = 0.0
    """How much better a prior spread over all examples predicted the last observations, as a log Bayes factor."""
    beyond: FloatArray | None = None
    """Predicted states beyond the examples, while a good part of the prediction is there; intervals take them in."""
    relocated: bool = False
    """Observations contradicted the prediction, so the state was looked for among all examples."""
    missing: bool = False
    """No observation was given."""
    rejected: bool = False
    """An observation was given but not used; of several sensors, none was used."""
    sensors: SensorUse = NOBODY
    """Of a filter with several sensors: which were ``used``, and which spoke but were ``rejected``."""

    @property
    def coverage(self) -> float:
        """The smaller of the two coverages."""
        return float(np.fmin(self.observation_coverage, self.state_coverage))

    @property
    def straying(self) -> bool:
        """Whether part of the prediction is beyond the examples, and observations differ from those of the examples."""
        return self.beyond is not None and contradicted(self.running_observation, STRAYING)
