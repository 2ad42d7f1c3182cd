"""A kernel that remembers is the kernel inside, computed once."""

import numpy as np
import pytest
from sklearn.base import clone

from kmcf import KernelMonteCarloFilter
from kmcf.kernels import SpatialPyramid
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.localize import remembered
from kmcf_lab.localize.remembered import Remembered, meet

pytest.importorskip("cv2")
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, size=(30, 32, 40), dtype=np.uint8)
PYRAMID = SpatialPyramid(words=8, n_descriptors=300)


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    monkeypatch.setattr(remembered, "_TABLES", remembered.Cache(4))


def test_values_are_those_of_the_kernel_inside():
    plain, kernel = clone(PYRAMID).fit(IMAGES[:20]), Remembered(PYRAMID).fit(IMAGES[:20])
    for a, b in ((IMAGES[:20], IMAGES[15:]), (IMAGES[25:26], IMAGES), (IMAGES[[3, 3, 28]], IMAGES[[28, 3]])):
        np.testing.assert_array_equal(kernel(a, b), plain(a, b))
    np.testing.assert_allclose(kernel.diagonal(IMAGES), 1.0)
    listed = Remembered(PYRAMID).fit(list(IMAGES[:20]))
    np.testing.assert_array_equal(listed(list(IMAGES[:5])), plain(IMAGES[:5]))


def test_filters_give_the_same_estimates():
    states = RNG.normal(size=(20, 1))
    runs = [
        KernelMonteCarloFilter(GaussianRandomWalk(0.3), observation_kernel=kernel, random_state=0)
        .fit(states, IMAGES[:20])
        .filter(IMAGES[20:])
        for kernel in (PYRAMID, Remembered(PYRAMID))
    ]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)


def test_the_same_examples_share_what_was_computed(monkeypatch):
    first = Remembered(PYRAMID).fit(IMAGES[:20])
    first(IMAGES)
    for name in ("fit", "prepare", "evaluate"):
        monkeypatch.setattr(SpatialPyramid, name, None)  # nothing is left to compute
    again = Remembered(clone(PYRAMID)).fit(IMAGES[:20].copy())
    np.testing.assert_array_equal(again(IMAGES), first(IMAGES))


def test_other_examples_and_other_settings_share_nothing():
    kernels = [
        Remembered(PYRAMID).fit(IMAGES[:20]),
        Remembered(PYRAMID).fit(IMAGES[:19]),
        Remembered(SpatialPyramid(words=9, n_descriptors=300)).fit(IMAGES[:20]),
    ]
    assert len({id(kernel.table_) for kernel in kernels}) == 3


def test_what_a_test_will_show_can_be_met_beforehand(monkeypatch):
    meet(Remembered(PYRAMID), IMAGES[:20], IMAGES[20:])
    monkeypatch.setattr(SpatialPyramid, "evaluate", None)
    assert Remembered(PYRAMID).fit(IMAGES[:20])(IMAGES[:20], IMAGES[20:]).shape == (20, 10)
    meet(PYRAMID, IMAGES[:20], IMAGES[20:])  # which does nothing


def test_it_must_be_fitted_first():
    with pytest.raises(Exception, match="call fit"):
        Remembered(PYRAMID).prepare(IMAGES)
