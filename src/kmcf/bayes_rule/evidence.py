r"""The evidence: how well a prior on the examples predicted an observation (up to a constant).

With λ the prior's weights on the examples,

    log Σ_i λ_i k_Y(y, Y_i)        the predictive log density of y, blurred by k_Y,
    log (1/n) Σ_i k_Y(y, Y_i)      the same for a prior spread evenly over all examples,
    log Σ_ij λ_i λ_j k_Y(Y_i, Y_j) what the first is on average (before the logarithm) if the prior is right.

The first is the evidence of y. Compared with the second it tells a prior at the wrong place from an observation that is
rare everywhere. Compared with the third it is a normalised innovation: for normal distributions of whatever width,
their difference is half the squared innovation in units of its variance, up to a constant.

Since the first is a density blurred by k_Y, on average it is largest for a prediction that is too narrow, by as much as
k_Y is wide. The kernel score

    2 Σ_i λ_i k_Y(y, Y_i) − Σ_ij λ_i λ_j k_Y(Y_i, Y_j) = k_Y(y, y) − ‖k_Y(·, y) − Σ_i λ_i k_Y(·, Y_i)‖²

is not: whatever the width of a characteristic k_Y, its average is largest for the true distribution of y.
"""

from __future__ import annotations

from math import nan
from typing import Any, NamedTuple

from kmcf.numerics.arrays import array_namespace

LEAST_RATIO = 1e-10
"""Signed weights may make the sum zero or negative; then it counts as this share of the spread prior's."""
LEAST_SIMILARITY_SUM = 1e-30
"""No sum counts as less than this (so that single precision can hold it)."""


class Evidence(NamedTuple):
    """The log evidence of one observation, and what it is compared with."""

    predicted: Any
    """Of the filter's prior."""
    spread: Any
    """Of a prior spread evenly over all examples."""
    expected: Any
    """What the filter's prior expects it to be."""
    score: Any = nan
    """The kernel score of the filter's prediction: the larger, the better."""

    @property
    def ratio(self) -> Any:
        """How much better the filter's prior predicted the observation, as a difference of logarithms."""
        return self.predicted - self.spread

    @property
    def innovation(self) -> Any:
        """How much less probable than expected the observation was, as a difference of logarithms."""
        return self.expected - self.predicted


def log_evidence(predicted: Any, spread: Any, expected: Any) -> Evidence:
    """Take logarithms of the three sums, kept away from zero.

    Parameters
    ----------
    predicted, spread, expected : float or array
        Σ_i λ_i k_Y(y, Y_i), the mean of k_Y(y, Y_i), and Σ_ij λ_i λ_j k_Y(Y_i, Y_j), from any array library.

    Examples
    --------
    >>> import numpy as np
    >>> found = log_evidence(np.float64(0.5), np.float64(0.25), np.float64(1.0))
    >>> [round(float(value), 3) for value in (found.predicted, found.ratio, found.innovation)]
    [-0.693, 0.693, 0.693]
    >>> float(found.score)
    0.0
    >>> round(float(log_evidence(np.float64(-0.1), np.float64(0.25), np.float64(1.0)).ratio), 3)  # cancelled: log 1e-10
    -23.026
    """
    xp = array_namespace(predicted)
    score = 2.0 * predicted - expected
    spread = xp.maximum(spread, LEAST_SIMILARITY_SUM)
    predicted = xp.maximum(predicted, LEAST_RATIO * spread)
    return Evidence(xp.log(predicted), xp.log(spread), xp.log(xp.maximum(expected, LEAST_SIMILARITY_SUM)), score)
