"""Kernels by name."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import NAMED, named


@pytest.mark.parametrize("name", NAMED)
def test_every_named_kernel_works_on_vectors(name):
    rows = np.abs(np.random.default_rng(0).normal(size=(40, 12)))
    kernel = named(name).fit(rows, rows[:, :1])
    matrix = kernel(rows[:10])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9


def test_parameters():
    assert named("matern", nu=0.5, bandwidth=2.0).get_params() == kmcf.kernels.Matern(2.0, nu=0.5).get_params()
    assert named("asinh", multiplier=0.5).kernel.multiplier == 0.5
    with pytest.raises(ValueError, match=r"unknown kernel 'gausian'; did you mean 'gaussian'\?"):
        named("gausian")
    with pytest.raises(ValueError, match="unknown kernel 'zzz'; the kernels are gaussian, laplace"):
        named("zzz")
    with pytest.raises(ValueError, match=r"'gaussian' has no parameter 'bandwith'; did you mean 'bandwidth'\?"):
        named("gaussian", bandwith=1.0)
