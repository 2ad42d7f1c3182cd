"""Motion learnt from the training tracks, and widened."""

import numpy as np
import pytest

from kmcf.transitions import ConstantVelocity, GaussianRandomWalk, OdometryMotion
from kmcf_lab.localize.motion import fitted_motion, inflated


@pytest.mark.parametrize(
    ("motion", "control"),
    [(GaussianRandomWalk([0.2, 0.3, 0.1]), None), (OdometryMotion(0.01, 0.01, 0.02, 0.02), np.array([0.0, 2.0, 0.0]))],
)
def test_inflated_motion_spreads_as_much_wider(motion, control):
    moves = [one(np.zeros((40_000, 3)), control, np.random.default_rng(1)) for one in (motion, inflated(motion, 3.0))]
    np.testing.assert_allclose(moves[1][:, 2].std(), 3 * moves[0][:, 2].std(), rtol=0.03)
    assert inflated(motion, 1.0) is motion
    with pytest.raises(ValueError, match="noise of ConstantVelocity cannot be widened"):
        inflated(ConstantVelocity(), 2.0)


def test_motion_is_learnt_from_the_training_tracks_only(radio):
    fold = radio.folds()[0]
    scale = np.sqrt(np.mean(np.concatenate([np.diff(one.states, axis=0) for one in fold.training]) ** 2, axis=0))
    np.testing.assert_allclose(fitted_motion(radio.settings, fold).parameters()["scale"], 2.0 * scale, rtol=0.05)
