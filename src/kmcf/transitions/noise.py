"""The one place where random numbers are drawn: by a NumPy Generator, or with a JAX key."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np

from kmcf.arrays import Array

Randomness: TypeAlias = Any
"""A NumPy Generator or a JAX key."""


def standard_normal(rng: Randomness, shape: tuple[int, ...]) -> Array:
    """Draw independent standard normal numbers.

    Examples
    --------
    >>> standard_normal(np.random.default_rng(0), (2, 3)).shape
    (2, 3)
    """
    return rng.standard_normal(shape) if _is_generator(rng) else _jax_random().normal(rng, shape)


def uniform(rng: Randomness, shape: tuple[int, ...]) -> Array:
    """Draw independent numbers uniformly in [0, 1).

    Examples
    --------
    >>> uniform(np.random.default_rng(0), (2, 3)).shape
    (2, 3)
    """
    return rng.random(shape) if _is_generator(rng) else _jax_random().uniform(rng, shape)


def split(rng: Randomness, count: int) -> list[Randomness]:
    """Return sources of independent numbers: new keys, or the generator itself, which moves on as it draws.

    Examples
    --------
    >>> len(split(np.random.default_rng(0), 3))
    3
    """
    return [rng] * count if _is_generator(rng) else list(_jax_random().split(rng, count))


def _is_generator(rng: Randomness) -> bool:
    if isinstance(rng, np.random.Generator):
        return True
    jax = sys.modules.get("jax")  # whoever has a key has imported it
    if jax is not None and isinstance(rng, jax.Array):
        return False
    raise TypeError(f"rng is {rng!r}; it must be a numpy.random.Generator or a JAX key.")


def _jax_random() -> Any:
    return sys.modules["jax"].random
