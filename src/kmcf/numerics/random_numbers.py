"""Random numbers from what a filter hands to a transition: a NumPy Generator or a JAX key.

Transitions written with these functions work with both.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np

from kmcf.numerics.arrays import Array

Randomness: TypeAlias = Any
"""A NumPy Generator or a JAX key."""


def normal(source: Randomness, shape: tuple[int, ...], dtype: Any = None) -> Array:
    """Draw independent standard normal numbers.

    Parameters
    ----------
    source : numpy.random.Generator or JAX key
        What the filter passes as the last argument of ``transition`` and ``initial``.
    shape : tuple of int
        Shape of the result.
    dtype : dtype, optional
        Precision, with JAX; usually that of the states.

    Examples
    --------
    >>> normal(np.random.default_rng(0), (2, 1)).shape
    (2, 1)
    """
    if _is_generator(source):
        return source.standard_normal(shape)
    return _jax_random().normal(source, shape, dtype=dtype)


def uniform(
    source: Randomness, shape: tuple[int, ...], low: float = 0.0, high: float = 1.0, dtype: Any = None
) -> Array:
    """Draw independent uniform numbers between two bounds; parameters as for :func:`normal`.

    Examples
    --------
    >>> float(uniform(np.random.default_rng(0), (5,), 2.0, 3.0).min()) >= 2.0
    True
    """
    if _is_generator(source):
        return source.uniform(low, high, size=shape)
    return _jax_random().uniform(source, shape, dtype=dtype, minval=low, maxval=high)


def split(source: Randomness, count: int) -> list[Randomness]:
    """Return sources of independent numbers: new keys, or the generator itself, which advances as it draws.

    Examples
    --------
    >>> len(split(np.random.default_rng(0), 3))
    3
    """
    return [source] * count if _is_generator(source) else list(_jax_random().split(source, count))


def _is_generator(source: Randomness) -> bool:
    if isinstance(source, np.random.Generator):
        return True
    jax = sys.modules.get("jax")  # anyone who has a key has imported JAX
    if jax is not None and isinstance(source, jax.Array):
        return False
    raise TypeError(f"rng is {source!r}; it must be a numpy.random.Generator or a JAX key.")


def _jax_random() -> Any:
    return sys.modules["jax"].random
