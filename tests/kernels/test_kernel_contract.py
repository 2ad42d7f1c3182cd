"""What every kernel must satisfy, whatever it computes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, RationalQuadratic
from structured_cases import CASES

import kmcf.kernels
from kmcf.kernels import (
    AsinhScaled,
    Circular,
    Columns,
    Constant,
    ExampleKernel,
    FromCallable,
    FromSklearn,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Pose,
    Same,
    SignalStrength,
)


def cauchy(a, b):
    """A positive definite function of two arrays of rows."""
    return 1.0 / (1.0 + np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2))


VECTOR_KERNELS = {
    "Gaussian": Gaussian(0.7),
    "Gaussian per column": Gaussian([0.5, 1.0, 2.0]),
    "Gaussian learnt": Gaussian(),
    "Laplace": Laplace(1.3),
    "Laplace learnt": Laplace(multiplier=0.5),
    "Matern 1/2": Matern(1.0, nu=0.5),
    "Matern 3/2": Matern(1.0, nu=1.5),
    "Matern 5/2": Matern(nu=2.5),
    "Linear": Linear(),
    "Constant": Constant(2.0),
    "Circular": Circular(0.6),
    "Circular learnt": Circular(),
    "AsinhScaled": AsinhScaled(Gaussian()),
    "Columns": Columns(Matern(), [2, 0]),
    "Pose": Pose(position_bandwidth=2.0, heading_bandwidth=0.5),
    "Pose learnt": Pose(multiplier=0.5),
    "Same": Same(),
    "Same with otherwise": Same(0.3),
    "SignalStrength": SignalStrength(floor=-1.0),
    "Sum": Gaussian() + Linear(),
    "Product": Laplace(1.0) * AsinhScaled(Gaussian(1.0)),
    "Scaled": 3.0 * Gaussian(1.0),
    "nested": 0.5 * (Gaussian() + Columns(Linear(), 1) * Constant(2.0)) + Circular(1.0),
    "FromCallable": FromCallable(cauchy),
    "FromSklearn": FromSklearn(RBF(1.5) * RationalQuadratic()),
}
EXAMPLES = np.random.default_rng(0).normal(size=(12, 3))
OTHERS = np.random.default_rng(1).normal(size=(5, 3))

each_kernel = pytest.mark.parametrize("kernel", VECTOR_KERNELS.values(), ids=VECTOR_KERNELS.keys())


def fitted(kernel):
    return clone(kernel).fit(EXAMPLES)


def learnt_names(kernel):
    """Names of all fitted attributes of a kernel and of the kernels inside it."""
    names = []
    for name, value in vars(kernel).items():
        names += [name] if name.endswith("_") else []
        names += learnt_names(value) if isinstance(value, Kernel) else []
    return names


def test_every_public_kernel_class_is_under_this_contract():
    public = {
        name
        for name in kmcf.kernels.__all__
        if isinstance(value := getattr(kmcf.kernels, name), type) and issubclass(value, Kernel)
    }
    tested = {type(kernel).__name__ for kernel in VECTOR_KERNELS.values()}
    tested |= {type(case.kernel).__name__ for case in CASES.values()}  # test_structured_contract.py
    # Learned and Counts need states to learn from: tests/kernels/learned
    assert public - tested <= {"Counts", "Kernel", "Learned", "Precomputed"}


@each_kernel
def test_matrix_is_symmetric_and_positive_semidefinite(kernel):
    matrix = fitted(kernel)(EXAMPLES)
    assert matrix.shape == (12, 12)
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-14 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix).min() > -1e-12 * np.trace(matrix)


@each_kernel
@given(rows=arrays(np.float64, (6, 3), elements=st.floats(-50, 50, width=32)))
def test_random_inputs_give_a_finite_positive_semidefinite_matrix(kernel, rows):
    matrix = fitted(kernel)(rows)
    assert np.all(np.isfinite(matrix))
    assert np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min() >= -1e-9 * max(np.trace(matrix), 1.0)


@each_kernel
def test_batch_equals_single_pairs(kernel):
    kernel = fitted(kernel)
    matrix = kernel(EXAMPLES, OTHERS)
    singles = [[float(kernel(a[None], b[None])[0, 0]) for b in OTHERS] for a in EXAMPLES]
    np.testing.assert_allclose(matrix, singles, rtol=1e-12, atol=1e-14)


@each_kernel
def test_swapping_the_arguments_transposes(kernel):
    kernel = fitted(kernel)
    np.testing.assert_allclose(kernel(EXAMPLES, OTHERS), kernel(OTHERS, EXAMPLES).T, rtol=1e-12, atol=1e-14)


@each_kernel
def test_permuting_the_objects_permutes_the_matrix(kernel):
    kernel = fitted(kernel)
    order = np.random.default_rng(2).permutation(12)
    np.testing.assert_allclose(kernel(EXAMPLES[order]), kernel(EXAMPLES)[np.ix_(order, order)], rtol=1e-12, atol=1e-14)


@each_kernel
def test_fitting_does_not_depend_on_the_order_of_the_examples(kernel):
    order = np.random.default_rng(2).permutation(12)
    reordered = clone(kernel).fit(EXAMPLES[order])
    np.testing.assert_allclose(reordered(OTHERS), fitted(kernel)(OTHERS), rtol=1e-12, atol=1e-14)


@each_kernel
def test_diagonal_is_the_diagonal_of_the_matrix(kernel):
    kernel = fitted(kernel)
    diagonal = kernel.diagonal(EXAMPLES)
    assert diagonal.shape == (12,)
    np.testing.assert_allclose(diagonal, np.diag(kernel(EXAMPLES)), rtol=1e-12)


@each_kernel
def test_inputs_are_not_modified(kernel):
    rows = EXAMPLES.copy()
    copy = clone(kernel).fit(rows)
    copy(rows, rows)
    copy.diagonal(rows)
    copy.on_examples(rows).matrix()[:] = 0.0
    np.testing.assert_array_equal(rows, EXAMPLES)


@each_kernel
def test_duplicates_give_equal_rows(kernel):
    rows = EXAMPLES[[0, 0, 1, 1, 0]]
    matrix = clone(kernel).fit(rows)(rows)
    assert np.all(np.isfinite(matrix))
    np.testing.assert_allclose(matrix[0], matrix[1], rtol=1e-12)
    np.testing.assert_allclose(matrix[0], matrix[4], rtol=1e-12)
    np.testing.assert_allclose(matrix[0, 0], matrix[0, 1], rtol=1e-12)


@each_kernel
def test_a_single_constant_example_can_be_fitted(kernel):
    row = np.full((1, 3), 2.0)
    matrix = clone(kernel).fit(row)(row)
    assert matrix.shape == (1, 1)
    assert matrix[0, 0] > 0


@pytest.mark.parametrize("name", sorted(VECTOR_KERNELS.keys() - {"FromSklearn"}))
def test_no_objects_give_an_empty_matrix(name):
    assert fitted(VECTOR_KERNELS[name])(np.empty((0, 3)), OTHERS).shape == (0, 5)


@each_kernel
def test_clone_is_equal_unfitted_and_independent(kernel):
    original = clone(kernel)
    copy = clone(original)
    assert copy is not original
    assert copy.get_params().keys() == original.get_params().keys()
    assert repr(copy) == repr(original)
    copy.fit(EXAMPLES)
    assert learnt_names(original) == []


@pytest.mark.parametrize("name", ["Gaussian learnt", "AsinhScaled", "Columns", "Sum", "nested"])
def test_clone_of_a_fitted_kernel_has_forgotten_what_it_learnt(name):
    kernel = fitted(VECTOR_KERNELS[name])
    assert learnt_names(kernel) != []
    assert learnt_names(clone(kernel)) == []


@each_kernel
def test_fit_returns_the_kernel_itself(kernel):
    copy = clone(kernel)
    assert copy.fit(EXAMPLES) is copy


@each_kernel
@pytest.mark.parametrize("wrong", [3.0, "text", {"a": 1}, None, np.float64(1.0), np.array(1.0)], ids=repr)
def test_what_is_not_a_collection_is_a_type_error(kernel, wrong):
    with pytest.raises(TypeError, match="must be an array or a list"):
        fitted(kernel)(wrong, OTHERS)


@pytest.mark.parametrize(
    "name", [name for name, kernel in VECTOR_KERNELS.items() if not isinstance(kernel, Constant | FromCallable)]
)
def test_objects_that_are_not_numeric_are_a_type_error_that_names_a_kernel(name):
    with pytest.raises(TypeError, match=r"the kernel [A-Z]\w+ works on numeric arrays, but got a list of 2 objects"):
        fitted(VECTOR_KERNELS[name])(["left", "right"])


@pytest.mark.parametrize(
    "name",
    [
        "Gaussian",
        "Laplace",
        "Matern 3/2",
        "Linear",
        "AsinhScaled",
        "Pose learnt",
        "Circular",
        "Sum",
        "Product",
        "Gaussian per column",
    ],
)
@pytest.mark.parametrize("columns", [2, 4])
def test_different_numbers_of_columns_are_an_error(name, columns):
    with pytest.raises(ValueError, match="columns"):
        fitted(VECTOR_KERNELS[name])(OTHERS, np.zeros((2, columns)))


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Matern(1.0)], ids=repr)
def test_different_numbers_of_many_columns_are_an_error(kernel):
    with pytest.raises(ValueError, match="have 12 and 11 columns"):
        kernel(np.zeros((2, 12)), np.zeros((2, 11)))


@pytest.mark.parametrize(
    "name", sorted(VECTOR_KERNELS.keys() - {"Columns", "Pose", "Pose learnt", "nested", "Gaussian per column"})
)
def test_flat_lists_are_columns_of_numbers(name):
    kernel = VECTOR_KERNELS[name]
    numbers = [0.5, -1.0, 2.0]
    column = np.array(numbers)[:, None]
    np.testing.assert_array_equal(clone(kernel).fit(numbers)(numbers), clone(kernel).fit(column)(column))


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Matern(1.0), AsinhScaled(Laplace(1.0))], ids=repr)
def test_objects_with_several_axes_are_flattened(kernel):
    images = np.random.default_rng(3).normal(size=(6, 4, 5))
    flat = images.reshape(6, 20)
    np.testing.assert_array_equal(clone(kernel).fit(images)(images), clone(kernel).fit(flat)(flat))


# --- a kernel with its examples -------------------------------------------------------------------------------------


@each_kernel
def test_example_kernel_gives_parts_of_the_matrix(kernel):
    kernel = fitted(kernel)
    matrix = np.array([[float(kernel(a[None], b[None])[0, 0]) for b in EXAMPLES] for a in EXAMPLES])
    fixed = kernel.on_examples(EXAMPLES)
    assert isinstance(fixed, ExampleKernel)
    assert fixed.size == 12
    close = {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(fixed.matrix(), matrix, **close)
    np.testing.assert_allclose(fixed.diagonal(), np.diag(matrix), **close)
    np.testing.assert_allclose(fixed.columns(np.array([7, 2, 7])), matrix[:, [7, 2, 7]], **close)
    np.testing.assert_allclose(fixed.against(EXAMPLES[[3, 4]]), matrix[:, [3, 4]], **close)


@each_kernel
def test_subset_of_an_example_kernel_keeps_only_the_chosen_examples(kernel):
    kernel = fitted(kernel)
    matrix = kernel(EXAMPLES)
    whole = kernel.on_examples(EXAMPLES)
    chosen = np.array([9, 0, 4])
    part = whole.subset(chosen)
    close = {"rtol": 1e-12, "atol": 1e-14}
    assert (part.size, whole.size) == (3, 12)
    np.testing.assert_allclose(part.matrix(), matrix[np.ix_(chosen, chosen)], **close)
    np.testing.assert_allclose(part.diagonal(), np.diag(matrix)[chosen], **close)
    np.testing.assert_allclose(part.columns(np.array([1])), matrix[np.ix_(chosen, [0])], **close)
    np.testing.assert_allclose(part.against(OTHERS), kernel(EXAMPLES[chosen], OTHERS), **close)
    np.testing.assert_allclose(part.subset(np.array([2])).matrix(), matrix[[4]][:, [4]], **close)
    np.testing.assert_allclose(whole.matrix(), matrix, **close)
