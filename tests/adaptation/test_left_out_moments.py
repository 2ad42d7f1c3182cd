"""What the sensor shows at a state: against regressions fitted again without a block, and against known sensors."""

import numpy as np
import pytest

from kmcf.adaptation.left_out_moments import LeftOutMoments, Smoother, features_of
from kmcf.kernels import Gaussian

RNG = np.random.default_rng(0)
STATES = RNG.normal(scale=2.0, size=(200, 1))


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("ridge", [np.inf, 0.01])
def test_residuals_of_blocks_are_those_of_a_regression_fitted_without_them(linear, ridge):
    states, targets = STATES[:40], RNG.normal(size=(40, 2))
    gram = np.exp(-0.5 * (states - states.T) ** 2)
    smoother = Smoother(gram, features_of(states))
    found = smoother._tried(targets, linear, ridge)
    features = np.concatenate([np.ones((40, 1)), states], axis=1)[:, : 2 if linear else 1]
    for block in np.split(np.arange(40), 10):
        kept = np.setdiff1d(np.arange(40), block)
        # The trend under a kernel regression is that of all examples: it has few parameters.
        known = kept if np.isinf(ridge) else np.arange(40)
        trend = np.linalg.pinv(features[known]) @ targets[known]
        expected = targets[block] - features[block] @ trend
        if np.isfinite(ridge):
            rest = targets[kept] - features[kept] @ trend
            expected -= gram[np.ix_(block, kept)] @ np.linalg.solve(
                gram[np.ix_(kept, kept)] + 40 * ridge * np.eye(36), rest
            )
        np.testing.assert_allclose(found.left[block], expected, atol=1e-8)


def test_a_linear_sensor_with_equal_noise_is_found_to_be_one():
    seen = 2.0 * STATES - 1.0 + 0.5 * RNG.normal(size=STATES.shape)
    moments = LeftOutMoments.of(Gaussian(0.5).fit(STATES), STATES, seen)
    places = np.linspace(-4.0, 4.0, 9)[:, None]
    means, variances = moments.at(places)
    np.testing.assert_allclose(means, 2.0 * places - 1.0, atol=0.3)
    np.testing.assert_allclose(variances, 0.25, rtol=0.4)


def test_noise_that_grows_with_the_state_and_a_curved_mean_are_followed():
    states = RNG.uniform(-2.0, 2.0, size=(600, 1))
    truth = np.concatenate([np.sin(2.0 * states), 0.0 * states], axis=1)
    spread = np.concatenate([0.2 + 0.0 * states, np.exp(states)], axis=1)
    moments = LeftOutMoments.of(Gaussian(0.5).fit(states), states, truth + spread * RNG.normal(size=truth.shape))
    places = np.array([[-1.5], [0.0], [1.5]])
    means, variances = moments.at(places)
    np.testing.assert_allclose(means[:, 0], np.sin(2.0 * places[:, 0]), atol=0.15)
    np.testing.assert_allclose(np.log(variances[:, 0]), np.log(0.04), atol=0.5)
    np.testing.assert_allclose(np.log(variances[:, 1]), 2.0 * places[:, 0], atol=1.0)


def test_out_of_reach_the_trend_goes_on_from_the_nearest_example_with_doubt():
    seen = 2.0 * STATES + RNG.normal(size=STATES.shape)
    moments = LeftOutMoments.of(Gaussian(0.5).fit(STATES), STATES, seen)
    edge = STATES[[STATES.argmax()]]
    far, last = moments.at(np.array([[15.0]])), moments.at(edge)
    further = 2.0 * (15.0 - edge)
    np.testing.assert_allclose(far[0] - last[0], further, rtol=0.1)
    np.testing.assert_allclose(far[1] - last[1], (further / 2.0) ** 2, rtol=0.2)


def test_a_column_that_never_changes_does_not_crash():
    seen = np.concatenate([STATES, np.full_like(STATES, 3.0)], axis=1)
    means, variances = LeftOutMoments.of(Gaussian(0.5).fit(STATES), STATES, seen).at(STATES[:5])
    np.testing.assert_allclose(means[:, 1], 3.0)
    assert np.isfinite(variances).all()
    assert (variances > 0).all()
