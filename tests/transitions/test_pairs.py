"""Reading sequences as moves."""

import numpy as np
import pytest

from kmcf.datasets import Recording
from kmcf.transitions import GaussianRandomWalk, LinearGaussian, OdometryMotion, with_velocities


def test_unknown_states_and_controls_are_left_out():
    states = np.array([[0.0], [1.0], [np.nan], [5.0], [6.0]])
    assert GaussianRandomWalk().fit([states, states]).scale_[0] == pytest.approx(1.0)
    recording = Recording("r", np.arange(5.0), states, states, np.array([0, np.nan, 0, 0, 1.0]))
    learnt = LinearGaussian(matrix=[[1.0]], offset=[0.0]).fit([recording, recording])
    assert learnt.control_matrix_[0, 0] == pytest.approx(1.0)  # the one move that is known: 5 to 6, driven by 1


def test_bad_sequences():
    with pytest.raises(ValueError, match="no two successive known states"):
        GaussianRandomWalk().fit(np.array([[1.0], [np.nan], [2.0]]))
    with pytest.raises(ValueError, match="different widths"):
        GaussianRandomWalk().fit([np.zeros((3, 1)), np.zeros((3, 2))])
    with pytest.raises(ValueError, match="3 states but 2 controls"):
        OdometryMotion().fit(np.zeros((3, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="1 sequences but 2 sequences of controls"):
        OdometryMotion().fit([np.zeros((3, 3))], [np.zeros((3, 3))] * 2)
    with pytest.raises(ValueError, match="learns from states and controls"):
        OdometryMotion().fit(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"trim = 0\.7"):
        GaussianRandomWalk().fit(np.zeros((3, 1)), trim=0.7)
    with pytest.raises(ValueError, match="too few to learn 3 coefficients"):
        LinearGaussian().fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="at least two positions, but got 1"):
        with_velocities([1.0])


def test_a_data_frame_or_a_jax_array_is_one_sequence():
    pandas, jax = pytest.importorskip("pandas"), pytest.importorskip("jax.numpy")
    rows = np.array([[0.0, 0.0], [3.0, 1.0], [6.0, 2.0]])
    for sequence in (rows, pandas.DataFrame(rows, columns=["x", "y"]), jax.asarray(rows)):
        np.testing.assert_allclose(GaussianRandomWalk().fit(sequence).scale_, [3.0, 1.0])
