"""The Kalman filter for the paper's model 1a, which knows every equation: the truth to compare with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kmcf.numerics.arrays import FloatArray


class KalmanRun(NamedTuple):
    """Exact posterior means and variances, (T,) each."""

    means: FloatArray
    variances: FloatArray


def kalman(observations: FloatArray) -> KalmanRun:
    """Filter model 1a exactly: x' = 0.9 x + v, y = x + w, noise of unit variance, stationary start.

    Examples
    --------
    >>> means, variances = kalman(np.array([1.0, 0.0]))
    >>> means.round(3), variances.round(3)
    (array([0.84 , 0.282]), array([0.84 , 0.627]))
    """
    values = np.ravel(observations)
    mean, variance = 0.0, 1.0 / (1.0 - 0.9**2)
    means, variances = np.empty(len(values)), np.empty(len(values))
    for t, y in enumerate(values):
        if t > 0:
            mean, variance = 0.9 * mean, 0.81 * variance + 1.0
        gain = variance / (variance + 1.0)
        mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
        means[t], variances[t] = mean, variance
    return KalmanRun(means, variances)
