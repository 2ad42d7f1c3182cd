"""The greedy loop of Kernel Herding in JAX: a plain loop anywhere, one fused kernel on a GPU.

Each pick is one argmax and one addition over the N candidates. In a plain loop over a batch, every pick streams all
scores through memory; the fused kernel keeps one filter's scores in registers for all picks, and only the rows of the
kernel matrix, which all filters share, come from the cache.
"""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl

from kmcf.compiled.fusing import power_of_two, warps
from kmcf.numerics.arrays import Array

EACH = 1024
"""Candidates per warp: as few warps as hold them, since threads of different ones wait for each other at every pick."""


def plain_loop(mean_values: Array, gram: Array, size: int) -> tuple[Array, Array]:
    """Pick ``size`` candidates; return them and the score after the last pick (as ``numerics.greedy`` does).

    Examples
    --------
    >>> picks, _ = plain_loop(jnp.array([0.5, 0.0, 0.5]), jnp.eye(3), 2)
    >>> picks.tolist()
    [0, 2]
    """

    def pick(score: Array, _: None) -> tuple[Array, Array]:
        best = lax.argmax(score, 0, jnp.int32)
        return (score + mean_values) - gram[best], best

    score, picks = lax.scan(pick, mean_values, None, length=size)
    return picks, score


def fused_loop(mean_values: Array, gram: Array, size: int, *, interpret: bool = False) -> tuple[Array, Array]:
    """Do the same in one kernel per filter (Pallas); ``interpret`` runs it without a GPU, for tests.

    The score is padded to a power of two.

    Examples
    --------
    >>> picks, _ = fused_loop(jnp.array([0.5, 0.0, 0.5]), jnp.eye(3), 2, interpret=True)
    >>> picks.tolist()
    [0, 2]
    """
    count = mean_values.shape[0]
    width = power_of_two(count)
    if width != gram.shape[1]:  # blocks are powers of two; padding is never picked
        gram = jnp.pad(gram, ((0, 0), (0, width - gram.shape[1])))
    picks, score = pl.pallas_call(
        partial(_loop_kernel, size=size, count=count, width=width),
        out_shape=(
            jax.ShapeDtypeStruct((power_of_two(size),), jnp.int32),
            jax.ShapeDtypeStruct((width,), mean_values.dtype),
        ),
        compiler_params=warps(max(width // EACH, 1)),
        interpret=interpret,
        name="herding",
    )(mean_values, gram)
    return picks[:size], score


def padded_gram(gram: Any) -> Any:
    """Return a kernel matrix with its rows padded with zeros to a power of two, as the fused loop needs them."""
    width = power_of_two(gram.shape[1])
    return jnp.pad(jnp.asarray(gram), ((0, 0), (0, width - gram.shape[1])))


def _loop_kernel(
    mean_ref: Any, gram_ref: Any, picks_ref: Any, score_ref: Any, *, size: int, count: int, width: int
) -> None:
    places = jnp.arange(width)
    mean = jnp.where(places < count, mean_ref[jnp.minimum(places, count - 1)], -jnp.inf)

    def pick(p: Array, score: Array) -> Array:
        best = lax.argmax(score, 0, jnp.int32)
        picks_ref[p] = best
        return (score + mean) - gram_ref[best, :]

    score_ref[...] = lax.fori_loop(0, size, pick, mean)
