"""The kernel contract for kernels on special kinds of data: the same laws, each on data of its kind."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from structured_cases import CASES

from kmcf.kernels import ExampleKernel, LandmarkSet, LaserScan, Spectrum

each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
CLOSE = {"rtol": 1e-11, "atol": 1e-13}


@pytest.fixture(scope="module")
def fitted():
    """Kernels fitted on 12 objects, fitted once only."""
    cache = {}

    def fit(case):
        if id(case) not in cache:
            cache[id(case)] = clone(case.kernel).fit(case.objects(0, 12))
        return cache[id(case)]

    return fit


def equal(a, b):
    return all(
        np.array_equal(x, y, equal_nan=True) if isinstance(x, np.ndarray) else x == y for x, y in zip(a, b, strict=True)
    )


@each_case
@pytest.mark.parametrize("seed", range(5))
def test_matrix_of_random_objects_is_symmetric_and_positive_semidefinite(case, seed, fitted):
    matrix = fitted(case)(case.objects(seed, 25))
    assert matrix.shape == (25, 25)
    assert np.all(np.isfinite(matrix))
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-13 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix).min() > -1e-12 * np.trace(matrix)


@each_case
def test_batch_equals_single_pairs_and_swapping_transposes(case, fitted):
    kernel, objects, others = fitted(case), case.objects(0, 12), case.objects(1, 5)
    matrix = kernel(objects, others)
    singles = [[float(kernel([a], [b])[0, 0]) for b in others] for a in objects]
    np.testing.assert_allclose(matrix, singles, **CLOSE)
    np.testing.assert_allclose(kernel(others, objects).T, matrix, **CLOSE)


@each_case
def test_the_order_of_objects_and_examples_does_not_matter(case, fitted):
    objects, order = case.objects(0, 12), np.random.default_rng(2).permutation(12)
    reordered = [objects[i] for i in order]
    matrix = fitted(case)(objects)
    np.testing.assert_allclose(fitted(case)(reordered), matrix[np.ix_(order, order)], **CLOSE)
    np.testing.assert_allclose(clone(case.kernel).fit(reordered)(objects), matrix, **CLOSE)


@each_case
def test_diagonal_is_the_diagonal_of_the_matrix(case, fitted):
    objects = case.objects(3, 12)
    np.testing.assert_allclose(fitted(case).diagonal(objects), np.diag(fitted(case)(objects)), **CLOSE)


@each_case
def test_objects_are_not_modified(case):
    objects = case.objects(0, 12)
    before = copy.deepcopy(objects)
    kernel = clone(case.kernel).fit(objects)
    kernel(objects, objects)
    kernel.diagonal(objects)
    kernel.on_examples(objects if kernel.structured else np.array(objects)).matrix()[:] = 0.0
    assert equal(objects, before)


@each_case
def test_duplicates_give_equal_rows(case):
    objects = [case.objects(0, 12)[i] for i in (0, 0, 1, 2, 1, 0, 3)]
    matrix = clone(case.kernel).fit(objects)(objects)
    np.testing.assert_allclose(matrix[0], matrix[1], **CLOSE)
    np.testing.assert_allclose(matrix[2], matrix[4], **CLOSE)
    np.testing.assert_allclose(matrix[0, 0], matrix[0, 5], **CLOSE)


@each_case
def test_a_single_example_can_be_fitted(case):
    one = max(case.objects(0, 12), key=lambda one: len(set(np.ravel(np.array(list(one), dtype=object)).tolist())))
    matrix = clone(case.kernel).fit([one])([one])
    assert matrix.shape == (1, 1)
    assert matrix[0, 0] > 0


@each_case
def test_no_objects_give_an_empty_matrix(case, fitted):
    others = case.objects(1, 5)
    nothing = [] if case.kernel.structured else np.empty((0, len(others[0])))
    assert fitted(case)(nothing, others).shape == (0, 5)
    assert fitted(case)(others, nothing).shape == (5, 0)


@each_case
def test_clones_are_equal_and_unfitted(case, fitted):
    copied = clone(fitted(case))
    assert repr(copied) == repr(clone(case.kernel))
    assert [name for name in vars(copied) if name.endswith("_")] == []
    assert copied.structured == case.kernel.structured
    assert copied.fit(case.objects(0, 12)) is copied


@each_case
@pytest.mark.parametrize("wrong", [3.0, "text", {"a": 1}, None], ids=repr)
def test_what_is_not_a_collection_is_a_type_error(case, wrong, fitted):
    with pytest.raises(TypeError, match="must be an array or a list"):
        fitted(case)(wrong, case.objects(1, 5))


@each_case
def test_objects_of_another_kind_are_a_type_error_that_says_so(case, fitted):
    for wrong in case.wrong:
        with pytest.raises(TypeError, match=r"works on numeric arrays|compares|an image is"):
            fitted(case)([wrong, wrong])


@each_case
def test_an_example_kernel_gives_parts_of_the_matrix(case, fitted):
    kernel, objects, others = fitted(case), case.objects(0, 12), case.objects(1, 5)
    if not kernel.structured:
        objects, others = np.array(objects), np.array(others)
    matrix, cross = kernel(objects), kernel(objects, others)
    whole = kernel.on_examples(objects)
    assert isinstance(whole, ExampleKernel)
    chosen = np.array([9, 0, 4])
    part = whole.subset(chosen)
    np.testing.assert_allclose(whole.matrix(), matrix, **CLOSE)
    np.testing.assert_allclose(whole.columns(np.array([7, 2, 7])), matrix[:, [7, 2, 7]], **CLOSE)
    np.testing.assert_allclose(whole.against(others), cross, **CLOSE)
    np.testing.assert_allclose(part.matrix(), matrix[np.ix_(chosen, chosen)], **CLOSE)
    np.testing.assert_allclose(part.diagonal(), np.diag(matrix)[chosen], **CLOSE)
    np.testing.assert_allclose(part.columns(np.array([1])), matrix[np.ix_(chosen, [0])], **CLOSE)
    np.testing.assert_allclose(part.against(others), cross[chosen], **CLOSE)


def test_which_kernels_keep_lists_and_which_take_gaps():
    assert {name for name, case in CASES.items() if not case.kernel.structured} == {
        name for name in CASES if name.startswith(("Hist", "Chi", "Hell", "LaserScan", "PlacedScan"))
    }
    assert LaserScan().handles_missing
    assert not LandmarkSet().handles_missing
    assert not (Spectrum(2) * Spectrum(3)).handles_missing
