"""Nearly constant velocity, against the Kalman model."""

import numpy as np
import pytest
from motion_cases import simulated

from kmcf.transitions import ConstantVelocity


def test_its_diffusion_is_learnt():
    learnt = ConstantVelocity(step=0.5).fit(
        simulated(ConstantVelocity([0.3, 0.7], step=0.5), np.zeros(4), None, length=3000)
    )
    np.testing.assert_allclose(learnt.diffusion_, [0.3, 0.7], rtol=0.05)


def test_times_as_controls():
    times = np.random.default_rng(0).uniform(0.1, 2.0, size=(3000, 1))
    states = simulated(ConstantVelocity(0.4, step=None), np.zeros(2), times)
    np.testing.assert_allclose(ConstantVelocity(step=None).fit(states, times).diffusion_, 0.4, rtol=0.05)
    with pytest.raises(ValueError, match="learns from states and controls"):
        ConstantVelocity(step=None).fit(states)


def test_it_is_a_kalman_model():
    """Mean and covariance of the draws against the textbook matrices."""
    h, q = 0.7, 0.5
    draws = ConstantVelocity(q, step=h)(np.tile([1.0, 2.0], (200_000, 1)), None, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(axis=0), [1 + h * 2, 2], atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), q**2 * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]]), rtol=0.02)
