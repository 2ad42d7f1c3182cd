"""One step."""

import numpy as np
from controlled_walk import data, fitted, online, push


def test_a_step_changes_nothing_and_branches_share_their_noise():
    flt = fitted()
    observations, controls = data()
    trunk = online(flt, observations[:5], controls)[-1]
    before = trunk.weights.copy(), trunk.states.copy(), trunk.mean(), trunk.time
    left = flt.step(trunk, [0.5], 0.1)
    right = flt.step(trunk, [-2.0], 0.1)
    again = flt.step(trunk, [0.5], 0.1)
    np.testing.assert_array_equal(left.weights, again.weights)
    assert np.abs(left.mean() - right.mean()).max() > 0.01
    np.testing.assert_array_equal(flt.step(trunk, None, 0.1).states, flt.step(trunk, None, 0.1).states)
    for was, now in zip(before, (trunk.weights, trunk.states, trunk.mean(), trunk.time), strict=True):
        np.testing.assert_array_equal(was, now)


def test_a_missing_step_is_the_prediction_alone():
    """The particles are moved as they are: the same noise, no weights changed, no correction."""
    flt = fitted(resampling="none")
    observations, _controls = data()
    before = flt.step(flt.start(), observations[0])
    after = flt.step(before, None, 0.7)
    rng = np.random.default_rng(np.random.SeedSequence(flt.seed_, spawn_key=(0, 2)))
    np.testing.assert_allclose(after.states, push(before.states, 0.7, rng), rtol=1e-14)
    np.testing.assert_array_equal(after.weights, before.weights)
    assert after.report.missing
    assert not after.report.rejected
    assert np.isnan(after.report.weight_sum)
    assert np.isnan(after.report.herding_loss)
