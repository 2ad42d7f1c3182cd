"""Kernels on some of the columns: what is left of them is the kernel that would be written for these columns."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import kmcf.kernels as k
from kmcf.kernels import Circular, Columns, Constant, Gaussian, Laplace, Learned, Linear, Matern

A = np.abs(np.random.default_rng(0).normal(size=(9, 4)))
STATES = A[:, :1] * 3.0
KNOWN = np.array([0, 2, 3])
PAIRS = {
    "Gaussian": (Gaussian(0.8), Gaussian(0.8)),
    "Gaussian per column": (Gaussian([1.0, 2.0, 3.0, 4.0]), Gaussian([1.0, 3.0, 4.0])),
    "Matern learnt": (Matern(multiplier=0.5), Matern(multiplier=0.5)),
    "Linear": (Linear(), Linear()),
    "Constant": (Constant(2.0), Constant(2.0)),
    "Circular": (Circular([1.0, 2, 3, 4, 5, 6, 7, 8]), Circular([1.0, 3, 4, 5, 7, 8])),
    "asinh": (k.AsinhScaled(Gaussian()), k.AsinhScaled(Gaussian())),
    "histogram": (k.HistogramIntersection(normalize=True), k.HistogramIntersection(normalize=True)),
    "chi squared": (k.ChiSquared(), k.ChiSquared()),
    "columns": (Columns(Gaussian([1.0, 2.0]), [3, 0]), Columns(Gaussian([1.0, 2.0]), [2, 0])),
    "some of its columns": (Columns(Gaussian([1.0, 2.0, 3.0]), [1, 3, 0]), Columns(Gaussian([2.0, 3.0]), [2, 0])),
    "a factor is gone": (Columns(Gaussian(1.0), [0, 2]) * Columns(Laplace(1.0), 1), Columns(Gaussian(1.0), [0, 1])),
    "sum": (2.0 * Gaussian(1.0) + Columns(Linear(), [2, 3]), 2.0 * Gaussian(1.0) + Columns(Linear(), [1, 2])),
    "scikit-learn": (k.FromSklearn(RBF(0.7)), k.FromSklearn(RBF(0.7))),
}


@pytest.mark.parametrize(("kernel", "expected"), PAIRS.values(), ids=PAIRS)
def test_a_kernel_on_the_columns_that_are_known(kernel, expected):
    assert kernel.restrictable
    found, rows = kernel.restricted(KNOWN).fit(A[:, KNOWN], STATES), A[:, KNOWN]
    np.testing.assert_allclose(found(rows), expected.fit(rows, STATES)(rows), rtol=1e-12)


def test_a_kernel_that_sees_none_of_the_columns():
    assert Columns(Gaussian(1.0), 1).restricted(KNOWN) is None
    assert (3.0 * Columns(Gaussian(1.0), 1)).restricted(KNOWN) is None
    assert (Columns(Gaussian(1.0), 1) * Columns(Linear(), [1])).restricted(KNOWN) is None


@pytest.mark.parametrize(
    "kernel",
    [
        k.FromCallable(lambda a, b: a @ b.T),
        k.FromSklearn(RBF([1.0, 2.0, 3.0, 4.0])),
        k.Pose(),
        k.Precomputed(),
        k.Spectrum(1),
        Learned(features=len),
        Columns(Gaussian(), -1),
        Gaussian() * k.Pose(),
        2.0 * k.Pose(),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_kernels_that_do_not_say_what_they_make_of_some_columns(kernel):
    assert not kernel.restrictable
