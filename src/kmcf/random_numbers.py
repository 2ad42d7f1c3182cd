"""Random numbers from whatever a filter hands to a transition: a NumPy Generator, or a JAX key.

Transitions written with these functions work in both worlds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.arrays import Array


def normal(source: Any, shape: tuple[int, ...], dtype: Any = None) -> Array:
    """Draw standard normal numbers.

    Parameters
    ----------
    source : numpy.random.Generator or JAX key
        What the filter passes as the last argument of ``transition`` and ``initial``.
    shape : tuple of int
        How many.
    dtype : dtype, optional
        Their precision, with JAX; usually that of the states.

    Examples
    --------
    >>> normal(np.random.default_rng(0), (2, 1)).shape
    (2, 1)
    """
    if isinstance(source, np.random.Generator):
        return source.normal(size=shape)
    import jax

    return jax.random.normal(source, shape, dtype=dtype)


def uniform(source: Any, shape: tuple[int, ...], low: float, high: float, dtype: Any = None) -> Array:
    """Draw uniform numbers between two bounds; parameters as for :func:`normal`.

    Examples
    --------
    >>> float(uniform(np.random.default_rng(0), (5,), 2.0, 3.0).min()) >= 2.0
    True
    """
    if isinstance(source, np.random.Generator):
        return source.uniform(low, high, size=shape)
    import jax

    return jax.random.uniform(source, shape, dtype=dtype, minval=low, maxval=high)
