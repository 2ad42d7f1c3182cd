import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.circles import wrapped_difference
from kmcf.datasets.building import compose_motions, integrate_motions, relative_motions
from kmcf.datasets.building.odometry import measure_motions

SEEDS = st.integers(0, 2**32 - 1)


def matrix(turn, distance, second):
    """The motion as a product of homogeneous matrices."""

    def rotation(angle):
        return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])

    return rotation(turn) @ np.array([[1, 0, distance], [0, 1, 0], [0, 0, 1]]) @ rotation(second)


@given(SEEDS)
def test_motions_compose_like_matrices(seed):
    motions = np.random.default_rng(seed).uniform(-2, 2, size=(5, 3))
    product = np.linalg.multi_dot([matrix(*motion) for motion in motions])
    np.testing.assert_allclose(matrix(*compose_motions(motions)), product, atol=1e-9)


@given(SEEDS)
def test_motions_of_poses_lead_back_to_them(seed):
    poses = np.random.default_rng(seed).uniform(-3, 3, size=(6, 3))
    motions = relative_motions(poses)
    again = integrate_motions(poses[0], motions)
    np.testing.assert_allclose(again[:, :2], poses[:, :2], atol=1e-9)
    np.testing.assert_allclose(wrapped_difference(again[:, 2] - poses[:, 2]), 0.0, atol=1e-9)
    assert np.abs(motions[:, 0]).max() <= np.pi / 2 + 1e-12


def test_turning_on_the_spot_and_backing_up():
    turned = relative_motions([[1.0, 1.0, 0.5], [1.0, 1.0, 1.5], [1.0 - np.cos(1.5), 1.0 - np.sin(1.5), 1.5]])
    np.testing.assert_allclose(turned, [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]], atol=1e-12)


def test_noise_has_the_variances_of_table_5_6():
    motion, (one, two, three, four) = np.array([0.5, 2.0, -0.3]), (0.01, 0.02, 0.03, 0.04)
    rng = np.random.default_rng(0)
    measured = measure_motions(np.tile(motion, (100_000, 1)), np.array([one, two, three, four]), rng)
    variances = [one * 0.25 + two * 4, three * 4 + four * (0.25 + 0.09), one * 0.09 + two * 4]
    np.testing.assert_allclose(measured.mean(axis=0), motion, atol=0.01)
    np.testing.assert_allclose(measured.var(axis=0), variances, rtol=0.03)


def test_nothing_to_compose_is_no_motion():
    np.testing.assert_array_equal(compose_motions(np.empty((0, 3))), [0.0, 0.0, 0.0])
    assert integrate_motions([1.0, 2.0, 3.0], np.empty((0, 3))) == pytest.approx(np.array([[1.0, 2.0, 3.0]]))
