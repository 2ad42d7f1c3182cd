"""Linear motion: what was simulated is learnt."""

import numpy as np
import pytest
from motion_cases import simulated

from kmcf.transitions import LinearGaussian, lagged


def test_matrices_and_noise_are_learnt():
    truth = LinearGaussian([[0.9, 0.2], [-0.1, 0.7]], [[0.5, 0.2], [0.2, 0.3]], [1.0, -1.0], [[1.0], [2.0]])
    controls = np.random.default_rng(0).normal(size=5000)
    states = simulated(truth, [0, 0], controls)
    learnt = LinearGaussian().fit(states, controls)
    np.testing.assert_allclose(learnt.matrix_, truth.matrix, atol=0.03)
    np.testing.assert_allclose(learnt.offset_, truth.offset, atol=0.1)
    np.testing.assert_allclose(learnt.control_matrix_, truth.control_matrix, atol=0.03)
    np.testing.assert_allclose(learnt.covariance_, truth.covariance, atol=0.03)
    only_noise = LinearGaussian(truth.matrix, None, truth.offset, truth.control_matrix).fit(states, controls)
    assert not hasattr(only_noise, "matrix_")
    np.testing.assert_allclose(only_noise.covariance_, truth.covariance, atol=0.03)


def test_autoregression():
    truth = LinearGaussian.autoregressive([0.6, -0.3, 0.2], scale=0.5)
    series = simulated(truth, np.zeros(3), None, length=6000)[:, 0]
    learnt = LinearGaussian().fit(lagged(series, 3))
    np.testing.assert_allclose(learnt.matrix_, truth.matrix, atol=0.05)
    np.testing.assert_allclose(learnt.covariance_, truth.covariance, atol=0.02)
    with pytest.raises(ValueError, match="singular"):
        truth.log_density(np.zeros((1, 3)), np.zeros((1, 3)))
