import types

import numpy as np
import pytest

from kmcf.numerics.arrays import array_namespace, is_jax, log_sum_exp

OTHER_LIBRARY = types.ModuleType("other")


class OtherArray:
    """An array of another library."""

    def __array_namespace__(self):
        return OTHER_LIBRARY


@pytest.mark.parametrize("arrays", [(), (np.zeros(3),), (np.float64(1.0), np.zeros(2)), ([1.0, 2.0],), (3.0,)])
def test_numpy_unless_an_array_says_otherwise(arrays):
    assert array_namespace(*arrays) is np


def test_another_library_wins_wherever_it_stands():
    assert array_namespace(OtherArray(), np.zeros(2)) is OTHER_LIBRARY
    assert array_namespace(np.zeros(2), OtherArray()) is OTHER_LIBRARY


def test_arrays_of_jax_are_recognised():
    jnp = pytest.importorskip("jax.numpy", reason="JAX (the extra kmcf[jax]) is not installed")
    assert is_jax(jnp.zeros(2))
    assert not any(is_jax(other) for other in (np.zeros(2), [1.0], 3, None, OtherArray()))


@pytest.mark.parametrize("shape", [(7,), (7, 3)])
@pytest.mark.parametrize("shift", [0.0, -5000.0, 5000.0])
def test_sums_of_exponentials_neither_overflow_nor_underflow(shape, shift):
    logs = np.random.default_rng(0).normal(size=shape)
    expected = shift + np.log(np.exp(logs).sum(axis=0))
    np.testing.assert_allclose(log_sum_exp(logs + shift), expected, rtol=1e-13, atol=1e-12)


def test_the_logarithm_of_an_empty_sum_is_minus_infinity():
    logs = np.array([[-np.inf, 0.0, -np.inf], [-np.inf, -np.inf, 2.0]])
    np.testing.assert_array_equal(log_sum_exp(logs), [-np.inf, 0.0, 2.0])
    assert log_sum_exp(logs[:, 0]) == -np.inf
