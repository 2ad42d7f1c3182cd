"""Observations that are no vectors of finite numbers: how a filter reads them before its kernel does."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import kmcf
from kmcf.kernels import Gaussian, LandmarkSet, LaserScan, Learned, SpatialPyramid

RNG = np.random.default_rng(0)
PLACES = RNG.uniform(0, 10, size=(60, 1))
IMAGES = RNG.integers(0, 256, size=(60, 24, 32), dtype=np.uint8)
BEARINGS = np.linspace(0.1, np.pi - 0.1, 30)


def stay(states, control, rng):
    return states + 0.1 * rng.normal(size=states.shape)


def fitted(observations, kernel, states=PLACES, **settings):
    return kmcf.KernelMonteCarloFilter(stay, observation_kernel=kernel, random_state=0, **settings).fit(
        states, observations
    )


def scans(places, nothing):
    """A wall ``places`` metres ahead and open space elsewhere; ranges over 8 m do not come back."""
    ranges = np.asarray(places) / np.maximum(np.sin(BEARINGS), 1e-9)
    return np.where(ranges > 8.0, nothing, ranges)


# --- infinite ranges --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("support", ["examples", "particles"])
def test_infinite_ranges_are_the_same_as_ranges_beyond_the_limit(support):
    means = []
    for nothing in (np.inf, 1e9):
        flt = fitted(scans(PLACES, nothing), LaserScan(max_range=8.0), support=support)
        means.append(flt.filter(scans([[3.0]] * 4, nothing)).mean)
    np.testing.assert_array_equal(means[0], means[1])
    assert abs(means[0][-1, 0] - 3.0) < 0.5


def test_a_scan_that_saw_nothing_is_an_observation_and_one_of_nan_is_none():
    flt = fitted(scans(PLACES, np.inf), 2.0 * LaserScan(max_range=8.0))
    blind = flt.step(flt.start(), np.full(30, np.inf))
    assert blind.mean()[0] > 7.5  # nothing within 8 m: the wall is far away
    assert np.isnan(flt.step(flt.start(), np.full(30, np.nan)).report.weight_sum)


def test_infinity_stays_an_error_where_a_part_of_the_kernel_cannot_take_it():
    assert LaserScan().handles_infinity
    assert (2.0 * LaserScan()).handles_infinity
    assert not (LaserScan() + Gaussian()).handles_infinity
    with pytest.raises(ValueError, match="NaN or infinity in"):
        fitted(scans(PLACES, np.inf), LaserScan(max_range=8.0) + Gaussian())
    flt = fitted(scans(PLACES, 1e3), LaserScan(max_range=8.0) + Gaussian())
    with pytest.raises(ValueError, match="contains infinity"):
        flt.step(flt.start(), np.full(30, np.inf))
    with pytest.raises(ValueError, match="ranges are non-negative"):
        fitted(scans(PLACES, -np.inf), LaserScan(max_range=8.0))


# --- arrays of images and sets ----------------------------------------------------------------------------------------


def test_an_array_of_images_keeps_its_bytes():
    seen = []

    def features(images):
        seen.append(images.dtype)
        return np.reshape(images, (len(images), -1))[:, ::50]

    flt = fitted(IMAGES, Learned(features=features))
    flt.filter(IMAGES[:2])
    flt.partial_fit(PLACES[:3], IMAGES[:3])
    assert set(seen) == {np.dtype(np.uint8)}


def test_arrays_of_16_bit_images_work_like_lists_of_them():
    images = IMAGES.astype(np.uint16) * 257
    kernel = SpatialPyramid(words=5, levels=2)
    as_array = fitted(images, kernel).filter(images[:3]).mean
    np.testing.assert_array_equal(as_array, fitted(list(images), kernel).filter(list(images[:3])).mean)


def test_images_of_another_size_may_follow_an_array_of_examples():
    flt = fitted(IMAGES, SpatialPyramid(words=5, levels=2))
    from_list = fitted(list(IMAGES), SpatialPyramid(words=5, levels=2))
    others = [IMAGES[0, :20], np.dstack([IMAGES[1]] * 3), IMAGES[2]]
    np.testing.assert_array_equal(flt.filter(others).mean, from_list.filter(others).mean)
    coloured = np.stack([np.dstack([image] * 3) for image in IMAGES[:4]])  # one axis more than examples, yet no batch
    assert flt.filter(coloured).mean.shape == (4, 1)
    assert flt.filter(np.stack([IMAGES[:4], IMAGES[4:8]])).mean.shape == (2, 4, 1)


def test_sets_of_another_size_may_follow_an_array_of_sets():
    posts = np.array([0.0, 5.0, 10.0])
    sets = np.array([[(number, abs(x - post)) for number, post in enumerate(posts)] for x in PLACES[:, 0]])
    new = [sets[0], sets[1][:2], []]
    from_array, from_list = fitted(sets, LandmarkSet()), fitted(list(sets), LandmarkSet())
    np.testing.assert_array_equal(from_array.filter(new).mean, from_list.filter(new).mean)


def test_new_examples_of_another_type_are_refused():
    flt = fitted(IMAGES, SpatialPyramid(words=5, levels=2))
    with pytest.raises(ValueError, match="have the type float64, but the filter was fitted on uint8"):
        flt.partial_fit(PLACES[:2], IMAGES[:2] / 255.0)


def test_states_are_64_bit_floats_whatever_their_kernel():
    sets = np.arange(60).reshape(60, 1, 1)
    flt = fitted(PLACES, RBF(), states=sets, state_kernel=LandmarkSet(identity=None, method="mean"))
    assert flt.states_.dtype == np.float64


# --- kernels made of kernels ------------------------------------------------------------------------------------------


def test_each_part_of_a_product_reads_objects_its_own_way():
    vectors = np.sin(PLACES * np.arange(1, 5)) + 0.1 * RNG.normal(size=(60, 4))
    kernel = Gaussian() * Learned(features=np.asarray)
    plain = fitted(vectors, Gaussian() * Learned()).filter(vectors[:3]).mean
    np.testing.assert_allclose(fitted(list(vectors), kernel).filter(list(vectors[:3])).mean, plain, rtol=1e-10)
    np.testing.assert_allclose(fitted(vectors, kernel).filter(vectors[:3]).mean, plain, rtol=1e-10)
