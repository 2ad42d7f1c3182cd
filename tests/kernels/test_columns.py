"""Kernels on some of the columns, and on robustly scaled ones."""

import numpy as np
import pytest
from kernels_by_hand import gaussian_matrix
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError

from kmcf.kernels import AsinhScaled, Columns, Constant, Gaussian

A = np.random.default_rng(0).normal(size=(6, 3))
B = np.random.default_rng(1).normal(size=(4, 3))


@pytest.mark.parametrize(("columns", "indices"), [(1, [1]), ([2, 0], [2, 0]), (-1, [2]), (np.array([0, 1]), [0, 1])])
def test_columns_sees_only_its_columns(columns, indices):
    np.testing.assert_allclose(
        Columns(Gaussian(1.0), columns)(A, B), gaussian_matrix(A[:, indices], B[:, indices], 1.0), rtol=1e-12
    )


def test_columns_of_several_axes_count_the_flattened_entries():
    images = np.random.default_rng(2).normal(size=(4, 2, 3))
    expected = gaussian_matrix(images[:, 1, 0, None], images[:, 1, 0, None], 1.0)
    np.testing.assert_allclose(Columns(Gaussian(1.0), 3)(images), expected, rtol=1e-12)


@pytest.mark.parametrize("columns", [3, [0, 5], -4, []])
def test_columns_that_do_not_exist_are_an_error(columns):
    with pytest.raises(ValueError, match=r"asked for columns .* of data with 3 columns"):
        Columns(Gaussian(1.0), columns)(A)
    with pytest.raises(ValueError, match=r"asked for columns .* of data with 3 columns"):
        Columns(Gaussian(1.0), columns).fit(A)


def scaled(rows, examples):
    """asinh((y − median) / MAD), column by column, with the plain (unscaled) MAD."""
    columns = []
    for j in range(rows.shape[1]):
        median = np.median(examples[:, j])
        mad = np.median(np.abs(examples[:, j] - median))
        columns.append(np.arcsinh((rows[:, j] - median) / (mad if mad > 0 else 1.0)))
    return np.stack(columns, axis=1)


def test_asinh_scaled_applies_its_kernel_to_scaled_columns():
    heavy = np.random.default_rng(3).standard_t(1.5, size=(30, 2)) * [1.0, 100.0] + [5.0, 0.0]
    kernel = AsinhScaled(Gaussian(0.8)).fit(heavy)
    new = heavy[:5] + 1.0
    np.testing.assert_allclose(kernel.transform(new), scaled(new, heavy), rtol=1e-12)
    np.testing.assert_allclose(
        kernel(new, heavy), gaussian_matrix(scaled(new, heavy), scaled(heavy, heavy), 0.8), rtol=1e-10
    )


def test_asinh_scaled_fits_the_kernel_inside_on_scaled_columns():
    kernel = AsinhScaled(Gaussian(multiplier=0.7)).fit(A)
    assert kernel.kernel.bandwidth_ == pytest.approx(0.7 * np.median(pdist(scaled(A, A))), rel=1e-12)


def test_mad_of_zero_becomes_one():
    mostly_constant = np.array([[2.0, 0.0], [2.0, 1.0], [2.0, 5.0], [9.0, 6.0]])
    kernel = AsinhScaled(Gaussian(1.0)).fit(mostly_constant)
    np.testing.assert_array_equal(kernel.centre_, [2.0, 3.0])
    np.testing.assert_array_equal(kernel.scale_, [1.0, 2.5])
    np.testing.assert_allclose(kernel.transform(np.array([[9.0, 3.0]])), [[np.arcsinh(7.0), 0.0]], rtol=1e-14)


def test_missing_values_do_not_count_for_the_scale():
    class Present(Constant):
        handles_missing = True

    rows = np.array([[1.0, np.nan], [2.0, 10.0], [4.0, 20.0], [8.0, 60.0]])
    kernel = AsinhScaled(Present()).fit(rows)
    np.testing.assert_array_equal(kernel.centre_, [3.0, 20.0])
    np.testing.assert_array_equal(kernel.scale_, [1.5, 10.0])


def test_asinh_scaled_must_be_fitted():
    with pytest.raises(NotFittedError, match="AsinhScaled learns its scale from examples: call fit"):
        AsinhScaled(Gaussian(1.0))(A)


def test_asinh_scaled_checks_the_number_of_columns():
    with pytest.raises(ValueError, match="fitted on 3 columns but got 2"):
        AsinhScaled(Gaussian(1.0)).fit(A)(A[:, :2])
