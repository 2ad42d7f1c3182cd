"""The pose kernel against its formula."""

import numpy as np
import pytest

from kmcf.kernels import Circular, Columns, Gaussian, Pose

RNG = np.random.default_rng(0)
POSES = np.column_stack([RNG.normal(scale=5.0, size=(9, 2)), RNG.uniform(-np.pi, np.pi, 9)])


def test_kernel_is_the_product_of_position_and_heading():
    position = np.sum((POSES[:, None, :2] - POSES[None, :, :2]) ** 2, axis=2)
    chord = np.abs(np.exp(1j * POSES[:, None, 2]) - np.exp(1j * POSES[None, :, 2]))
    expected = np.exp(-position / (2 * 3.0**2)) * np.exp(-(chord**2) / (2 * 0.4**2))
    kernel = Pose(position_bandwidth=3.0, heading_bandwidth=0.4)
    np.testing.assert_allclose(kernel(POSES), expected, rtol=1e-12, atol=1e-300)


def test_bandwidths_are_learnt_separately():
    kernel = Pose(multiplier=0.5).fit(POSES)
    assert kernel.position_bandwidth_ == Gaussian(multiplier=0.5).fit(POSES[:, :2]).bandwidth_
    assert kernel.heading_bandwidth_ == Circular(multiplier=0.5).fit(POSES[:, 2]).bandwidth_
    stretched = POSES * [1000.0, 1000.0, 1.0]
    np.testing.assert_allclose(Pose().fit(stretched)(stretched), Pose().fit(POSES)(POSES), rtol=1e-9)


def test_the_heading_may_be_any_column_or_several():
    kernel = Pose().fit(POSES)
    first = POSES[:, [2, 0, 1]]
    np.testing.assert_allclose(Pose(heading=0).fit(first)(first), kernel(POSES), rtol=1e-12)
    np.testing.assert_allclose(Pose(heading=-1).fit(POSES)(POSES), kernel(POSES), rtol=1e-12)
    two = Pose(heading=[1, 2]).fit(POSES)(POSES)
    expected = Columns(Gaussian(), 0) * Columns(Circular(), [1, 2])
    np.testing.assert_allclose(two, expected.fit(POSES)(POSES), rtol=1e-12)


def test_full_turns_change_nothing():
    np.testing.assert_allclose(
        Pose().fit(POSES)(POSES + np.array([0, 0, 2 * np.pi]), POSES), Pose().fit(POSES)(POSES), rtol=1e-9
    )


@pytest.mark.parametrize("heading", [3, -4, [0, 1, 2], [2, 2], []])
def test_impossible_headings_are_errors(heading):
    with pytest.raises(ValueError, match=r"heading = .*3 columns"):
        Pose(heading=heading).fit(POSES)


def test_other_columns_than_fitted_are_an_error():
    with pytest.raises(ValueError, match="fitted on 3 columns but got 4"):
        Pose().fit(POSES)(np.zeros((2, 4)))


def test_logarithms_do_not_underflow():
    kernel = Pose(position_bandwidth=0.1, heading_bandwidth=0.5)
    far = np.array([[100.0, 0.0, 1.0]])
    near = np.array([[0.0, 0.0, 1.0]])
    logs = kernel.on_examples(near).log_against(far)
    np.testing.assert_allclose(logs, [[-0.5 * (100.0 / 0.1) ** 2]])
    poses = np.random.default_rng(0).normal(size=(6, 3))
    np.testing.assert_allclose(kernel.on_examples(poses).log_against(poses), np.log(kernel(poses)), atol=1e-12)
