import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist, pdist

from kmcf.kernels.distances import euclidean, manhattan, median_distance, squared_euclidean

COLUMNS = [1, 2, 8, 9, 30]


def rows(seed, n, d):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", COLUMNS)
def test_distances_equal_scipy(d):
    a, b = rows(0, 9, d), rows(1, 6, d)
    np.testing.assert_allclose(squared_euclidean(a, b), cdist(a, b, "sqeuclidean"), rtol=1e-12)
    np.testing.assert_allclose(euclidean(a, b), cdist(a, b), rtol=1e-12)
    np.testing.assert_allclose(manhattan(a, b), cdist(a, b, "cityblock"), rtol=1e-12)


@pytest.mark.parametrize("d", COLUMNS)
def test_distances_survive_a_large_offset(d):
    a, b = rows(0, 9, d), rows(1, 6, d)
    np.testing.assert_allclose(squared_euclidean(1e6 + a, 1e6 + b), cdist(a, b, "sqeuclidean"), rtol=1e-8)


@pytest.mark.parametrize("d", COLUMNS)
def test_distance_of_equal_rows_is_exactly_zero(d):
    a = 1e3 * rows(0, 20, d)
    np.testing.assert_array_equal(np.diag(squared_euclidean(a, a)), np.zeros(20))
    np.testing.assert_array_equal(np.diag(squared_euclidean(a, a.copy())), np.zeros(20))


@given(a=arrays(np.float64, (4, 10), elements=st.floats(-100, 100)))
def test_squared_distances_are_never_negative(a):
    assert squared_euclidean(a, a).min() >= 0.0


def test_rows_without_columns_coincide():
    np.testing.assert_array_equal(squared_euclidean(np.empty((2, 0)), np.empty((3, 0))), np.zeros((2, 3)))
    np.testing.assert_array_equal(manhattan(np.empty((2, 0)), np.empty((3, 0))), np.zeros((2, 3)))


@pytest.mark.parametrize("distance", [squared_euclidean, euclidean, manhattan])
@pytest.mark.parametrize(("d", "e"), [(2, 3), (3, 2), (20, 21), (1, 10)])
def test_different_numbers_of_columns_are_an_error(distance, d, e):
    with pytest.raises(ValueError, match=f"have {d} and {e} columns"):
        distance(np.zeros((4, d)), np.zeros((5, e)))


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("n", [2, 3, 40])
def test_median_distance_is_the_median_over_pairs(n, d):
    points = rows(0, n, d)
    assert median_distance(points) == pytest.approx(np.median(pdist(points)), rel=1e-12)
    assert median_distance(points, manhattan) == pytest.approx(np.median(pdist(points, "cityblock")), rel=1e-12)


@pytest.mark.parametrize("d", [1, 10])
@pytest.mark.parametrize("seed", range(5))
def test_median_distance_ignores_coinciding_pairs_where_they_are_the_majority(d, seed):
    points = np.vstack([np.tile(100 * rows(seed, 1, d), (30, 1)), 100 * rows(seed + 10, 4, d)])
    positive = pdist(points)
    positive = positive[positive > 0]
    assert len(positive) < 34 * 33 / 4
    assert median_distance(points) == pytest.approx(np.median(positive), rel=1e-10)


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_median_distance_of_one_constant_is_one(n, d):
    assert median_distance(np.tile(100 * rows(3, 1, d), (n, 1))) == 1.0


@given(seed=st.integers(0, 1000), n=st.integers(2, 30))
def test_median_distance_does_not_depend_on_the_order(seed, n):
    points = rows(seed, n, 2)
    shuffled = np.random.default_rng(seed).permutation(points)
    assert median_distance(shuffled) == pytest.approx(median_distance(points), rel=1e-13)


def test_median_distance_of_many_rows_is_close_and_does_not_depend_on_their_order():
    points = rows(0, 2600, 2)
    first = median_distance(points)
    assert median_distance(np.random.default_rng(1).permutation(points)) == first
    # ‖a − b‖² / 2 is χ² with two degrees of freedom, whose median is 2 log 2
    assert first == pytest.approx(np.sqrt(4.0 * np.log(2.0)), rel=0.03)


@pytest.mark.parametrize("columns", [0, 3, 12])
def test_no_rows_are_no_distances(columns):
    assert squared_euclidean(np.zeros((5, columns)), np.zeros((0, columns))).shape == (5, 0)
    assert squared_euclidean(np.zeros((0, columns)), np.zeros((5, columns))).shape == (0, 5)
