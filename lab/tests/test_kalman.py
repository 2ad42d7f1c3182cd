"""The Kalman filter of model 1a."""

import numpy as np
import pytest

from kmcf_lab.kalman import kalman


def test_the_kalman_filter_is_conditioning_of_a_normal_vector():
    y = np.random.default_rng(0).normal(size=6)
    lags = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    prior = 0.9**lags / (1 - 0.81)
    for t in range(1, 7):
        gain = np.linalg.solve(prior[:t, :t] + np.eye(t), prior[:t, t - 1])
        means, variances = kalman(y)
        assert means[t - 1] == pytest.approx(gain @ y[:t])
        assert variances[t - 1] == pytest.approx(prior[t - 1, t - 1] - gain @ prior[:t, t - 1])
