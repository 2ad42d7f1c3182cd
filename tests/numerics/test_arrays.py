import types

import numpy as np
import pytest

from kmcf.numerics.arrays import array_namespace, is_jax

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
