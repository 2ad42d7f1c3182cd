"""The kernel on sets against loops over elements."""

import math
import time

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kmcf.kernels import LandmarkSet


def random_sets(count, rng, most=5, landmarks=8, repeat=False):
    sets = []
    for _ in range(count):
        ids = rng.choice(landmarks, size=rng.integers(0, most + 1), replace=repeat)
        sets.append([(int(i), float(rng.gamma(3.0)), float(rng.uniform(-4, 4))) for i in ids])
    return sets


def gauss(s, t, widths):
    chord = abs(np.exp(1j * s[2]) - np.exp(1j * t[2]))
    return math.exp(-0.5 * (((s[1] - t[1]) / widths[0]) ** 2 + (chord / widths[1]) ** 2))


def match_by_loops(a, b, widths, absent):
    a, b = {s[0]: s for s in a}, {t[0]: t for t in b}
    value = 1.0
    for name in a.keys() | b.keys():
        both = name in a and name in b
        value *= absent**2 + (1 - absent**2) * gauss(a[name], b[name], widths) if both else absent
    return value


def mean_by_loops(a, b, widths, identities=True):
    if not a or not b:
        return float(not a and not b)
    pairs = [gauss(s, t, widths) for s in a for t in b if not identities or s[0] == t[0]]
    return sum(pairs) / (len(a) * len(b))


A, B = random_sets(14, np.random.default_rng(0)), random_sets(6, np.random.default_rng(1))
WIDTHS = np.array([1.5, 0.7])


@pytest.mark.parametrize("absent", [0.0, 0.3, 0.9])
def test_matching_is_the_product_over_identities(absent):
    kernel = LandmarkSet(angles=[2], bandwidth=WIDTHS, absent=absent)
    expected = [[match_by_loops(a, b, WIDTHS, absent) for b in B] for a in A]
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), 1.0)


@pytest.mark.parametrize("identity", [0, None])
def test_means_are_averages_over_pairs(identity):
    repeated = random_sets(10, np.random.default_rng(2), most=9, landmarks=4, repeat=True)
    kernel = LandmarkSet(identity, angles=[2], bandwidth=WIDTHS, method="mean", normalize=False)
    widths = WIDTHS
    if identity is None:
        kernel.set_params(bandwidth=[1e9, *WIDTHS])  # the number is then a column like others: make it not count
    expected = [[mean_by_loops(a, b, widths, identity == 0) for b in B] for a in repeated]
    np.testing.assert_allclose(kernel(repeated, B), expected, rtol=1e-12)
    np.testing.assert_allclose(
        kernel.diagonal(repeated), [mean_by_loops(a, a, widths, identity == 0) for a in repeated], rtol=1e-12
    )


def test_normalised_means_have_unit_diagonal():
    kernel = LandmarkSet(angles=[2], bandwidth=WIDTHS, method="mean")
    own = np.array([mean_by_loops(a, a, WIDTHS) for a in A])
    expected = np.array([[mean_by_loops(a, b, WIDTHS) for b in A] for a in A]) / np.sqrt(np.outer(own, own))
    np.testing.assert_allclose(kernel(A), expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["match", "mean"])
@pytest.mark.parametrize("repeat", [False, True])
def test_matrices_are_positive_semidefinite_with_empty_sets_and_duplicates(method, repeat):
    sets = [*random_sets(60, np.random.default_rng(3), repeat=repeat), [], []]
    for normalize in (False, True):
        kernel = LandmarkSet(angles=[2], method=method, absent=0.7, normalize=normalize).fit(sets)
        assert np.linalg.eigvalsh(kernel(sets)).min() > -1e-12 * len(sets)


def test_empty_sets():
    near = [(1, 1.0, 0.0), (2, 1.0, 0.0)]
    match = LandmarkSet(angles=[2], bandwidth=1.0, absent=0.4)
    np.testing.assert_allclose(match([[], near], [[]]), [[1.0], [0.16]])
    mean = LandmarkSet(angles=[2], bandwidth=1.0, method="mean")
    np.testing.assert_allclose(mean([[], near], [np.empty((0, 3))]), [[1.0], [0.0]])


def test_unseen_identities_scale_all_similarities_alike():
    kernel = LandmarkSet(angles=[2], absent=0.5).fit(A)
    query = [(3, 2.0, 0.1)]
    strange = [*query, ("never seen", 1.0, 0.0)]
    np.testing.assert_allclose(kernel(A, [strange]), 0.5 * kernel(A, [query]), rtol=1e-12)
    mean = LandmarkSet(angles=[2], method="mean", normalize=False).fit(A)
    filled = [a for a in A if a]
    np.testing.assert_allclose(mean(filled, [strange]), 0.5 * mean(filled, [query]), rtol=1e-12)
    assert mean(filled, [[("never seen", 1.0, 0.0)]]).max() == 0.0


def test_duplicates_of_an_identity_are_averaged_when_matching():
    kernel = LandmarkSet(angles=[2], bandwidth=1.0)
    twice, once = [(1, 1.0, 0.1), (1, 3.0, -0.1)], [(1, 2.0, 0.0)]
    np.testing.assert_allclose(kernel([twice], [once]), 1.0)


def test_order_of_elements_does_not_matter_and_full_turns_neither():
    turned = [[(i, r, w + 2 * np.pi) for i, r, w in reversed(one)] for one in A]
    for method in ("match", "mean"):
        kernel = LandmarkSet(angles=[-1], method=method).fit(A)
        np.testing.assert_allclose(kernel(turned, B), kernel(A, B), rtol=1e-9)


def test_bandwidths_follow_the_units():
    stretched = [[(i, 1000.0 * r, w) for i, r, w in one] for one in A]
    plain, scaled = LandmarkSet(angles=[2]).fit(A), LandmarkSet(angles=[2]).fit(stretched)
    np.testing.assert_allclose(scaled.bandwidth_, plain.bandwidth_ * [1000.0, 1.0], rtol=1e-9)


def test_bandwidth_of_one_column_is_half_the_median_difference():
    sets = [[("a", 0.0)], [("a", 1.0), ("b", 50.0)], [("a", 3.0)]]
    np.testing.assert_allclose(LandmarkSet().fit(sets).bandwidth_, [1.0])


def test_identical_elements_still_give_a_bandwidth():
    assert np.all(LandmarkSet().fit([[(1, 2.0)], [(1, 2.0)]]).bandwidth_ > 0)


def test_a_numeric_array_of_sets_and_bare_numbers():
    kernel = LandmarkSet(identity=None, method="mean", bandwidth=1.0)
    array = np.random.default_rng(4).normal(size=(5, 3, 2))
    np.testing.assert_allclose(kernel(array), kernel(list(array)))
    np.testing.assert_allclose(kernel([[1.0, 2.0]], [np.array([1.0, 2.0])]), 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "closest"}, "method = 'closest'"),
        ({"identity": None}, "pairs elements by identity"),
        ({"absent": 1.0}, "absent = 1.0"),
        ({"angles": [0]}, "the identity cannot be an angle"),
        ({"angles": [7]}, "angles = \\[7\\]"),
        ({"bandwidth": [1.0]}, "1 bandwidths, but elements have 2"),
        ({"bandwidth": 0.0}, "positive and finite"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        LandmarkSet(**settings).fit(A)


def test_bandwidths_cannot_be_learnt_from_nothing():
    with pytest.raises(ValueError, match="all example sets are empty"):
        LandmarkSet().fit([[], []])
    with pytest.raises(NotFittedError, match="fit"):
        LandmarkSet()(A)


def test_other_columns_than_fitted_are_an_error():
    with pytest.raises(ValueError, match="object 0 have 2 columns, but LandmarkSet expects 3"):
        LandmarkSet(angles=[2]).fit(A)([[(1, 2.0)]])


def test_a_thousand_sets_take_a_few_seconds():
    sets = random_sets(1000, np.random.default_rng(5), most=10, landmarks=15)
    start = time.perf_counter()
    for method in ("match", "mean"):
        LandmarkSet(angles=[2], method=method).fit(sets)(sets)
    assert time.perf_counter() - start < 20
