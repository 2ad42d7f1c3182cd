"""Random numbers from what a filter hands to a transition: a NumPy Generator or a JAX key.

Transitions written with these functions work with both.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from kmcf.numerics.arrays import Array

Randomness: TypeAlias = Any
"""A NumPy Generator or a JAX key."""
WORD, POOL = 2**32, 4
"""NumPy makes seeds of words of 32 bits, at least four."""


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return NumPy's generator of a seed and a key, as ``SeedSequence(seed, spawn_key=key)`` seeds it.

    The words that make up its entropy are put together here, since NumPy takes most of its time for that.

    Parameters
    ----------
    seed : int
        Not negative, of any size.
    *key : int
        Not negative.

    Examples
    --------
    >>> usual = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(1, 2)))
    >>> bool(generator(7, 1, 2).random() == usual.random())
    True
    """
    if max(key) >= WORD:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    words = np.array([*_words(seed), *key], dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


@lru_cache(maxsize=16)
def _words(seed: int) -> tuple[int, ...]:
    """Return a seed as words of 32 bits, filled up to the size of NumPy's pool where a key follows."""
    if seed < 0:
        raise ValueError(f"a seed is {seed}; it must not be negative.")
    words = [seed % WORD]
    while seed := seed // WORD:
        words.append(seed % WORD)
    return (*words, *[0] * (POOL - len(words)))


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
