import numpy as np
import pytest

from kmcf.kernels import Constant, Linear

A = np.random.default_rng(0).normal(size=(4, 3))
B = np.random.default_rng(1).normal(size=(2, 3))


def test_linear_is_the_inner_product():
    expected = [[sum(x[j] * y[j] for j in range(3)) for y in B] for x in A]
    np.testing.assert_allclose(Linear()(A, B), expected, rtol=1e-13)
    np.testing.assert_allclose(Linear().diagonal(A), [sum(x * x) for x in A], rtol=1e-13)


@pytest.mark.parametrize("value", [0.0, 1.0, 2.5])
def test_constant_is_constant_on_anything(value):
    np.testing.assert_array_equal(Constant(value)(A, B), np.full((4, 2), value))
    np.testing.assert_array_equal(Constant(value)(["a", "b"], [None, {}, 3]), np.full((2, 3), value))
    np.testing.assert_array_equal(Constant(value).diagonal(A), np.full(4, value))


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_constant_must_be_non_negative_and_finite(value):
    with pytest.raises(ValueError, match=r"Constant has value = .*non-negative and finite"):
        Constant(value)(A, B)
