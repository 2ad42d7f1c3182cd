"""What the learnt kernel predicts."""

import numpy as np

from kmcf.kernels.learned.targets import state_targets


def test_targets_are_centred_scaled_and_tell_modes_apart():
    states = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    targets = state_targets(states)
    np.testing.assert_allclose(targets.values.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(targets.values.std(axis=0), 1.0, atol=1e-6)
    assert (targets.weights > 0).all()
    wrapped = state_targets(np.array([[3.1], [-3.1], [0.0], [1.0], [2.0]] * 4), angles=(0,)).values
    assert np.linalg.norm(wrapped[0] - wrapped[1]) < np.linalg.norm(wrapped[0] - wrapped[2])
