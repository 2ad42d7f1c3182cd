"""The particles' similarities to the pivots, summed up: plain for any kernel, one fused GPU kernel for the Gaussian.

All that a step needs of the (pivots, particles) matrix are its mean over the particles and, of each particle, its
largest entry. The plain formulas leave it to the compiler to fuse two reductions in different directions; on a GPU the
second then takes four times as long as the first. The fused kernel makes one pass over blocks of particles, padded to
a power of two, in a third of the time.
"""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl

from kmcf.compiled.fusing import power_of_two, warps
from kmcf.kernels import ExampleKernel, Gaussian
from kmcf.numerics.arrays import Array

MOST_COLUMNS = 8
"""Longer states do not fit a GPU's registers."""
LARGEST_BLOCK = 1024
"""Particles per program of the fused kernel."""
BASE_TWO = float(np.sqrt(0.5 / np.log(2.0)))
"""With coordinates times this, exp(−½d²) is 2^(−d²), in single precision one instruction."""


def plain_similarities(pivots: ExampleKernel, particles: Array) -> tuple[Array, Array]:
    """Return the particles' mean similarities with the pivots, and the mean of their largest ones.

    The largest ones are found from logarithms, which saves a second round of exponentials.

    Examples
    --------
    >>> pivots = Gaussian(1.0).on_examples(jnp.array([[0.0], [3.0]]))
    >>> mean, closest = plain_similarities(pivots, jnp.array([[0.0], [3.0]]))
    >>> mean.round(3).tolist(), closest.round(3).tolist()
    ([0.506, 0.506], 1.0)
    """
    mean = jnp.mean(pivots.against(particles), axis=1)
    return mean, jnp.mean(jnp.exp(jnp.max(pivots.log_against(particles), axis=0)))


def can_be_fused(pivots: ExampleKernel, particles: Array) -> bool:
    """Say whether the fused kernel knows this kernel: a Gaussian on short states."""
    return type(pivots.kernel) is Gaussian and particles[0].size <= MOST_COLUMNS


def fused_similarities(pivots: ExampleKernel, particles: Array, *, interpret: bool = False) -> tuple[Array, Array]:
    """Do the same for a Gaussian in one GPU kernel (Pallas); ``interpret`` runs it without a GPU, for tests.

    Examples
    --------
    >>> pivots = Gaussian(1.0).on_examples(jnp.array([[0.0], [3.0]]))
    >>> mean, closest = fused_similarities(pivots, jnp.array([[0.0], [3.0]]), interpret=True)
    >>> mean.round(3).tolist(), closest.round(3).tolist()
    ([0.506, 0.506], 1.0)
    """
    centres = jnp.asarray(pivots.prepared, particles.dtype)
    return _gaussian(interpret, centres, pivots.kernel.prepare(particles))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _gaussian(interpret: bool, centres: Array, points: Array) -> tuple[Array, Array]:
    """Return the means over points of exp(−½‖c − x‖²) and of its largest value over centres."""
    count, columns = points.shape
    width = min(power_of_two(count), LARGEST_BLOCK)
    each = 256 if points.dtype == jnp.float64 else 512  # particles per warp, by measurement
    blocks = -(-count // width)
    # One row per column, so that a block of particles is contiguous.
    scale = 1.0 if points.dtype == jnp.float64 else BASE_TWO
    rows = jnp.pad(scale * points.T, ((0, 0), (0, blocks * width - count)), mode="edge")
    sums, largest = pl.pallas_call(
        partial(_sums_kernel, count=count, width=width),
        grid=(blocks,),
        in_specs=[pl.BlockSpec((columns, width), lambda b: (0, b)), pl.BlockSpec(centres.shape, lambda b: (0, 0))],
        out_specs=[pl.BlockSpec((1, len(centres)), lambda b: (b, 0)), pl.BlockSpec((1,), lambda b: (b,))],
        out_shape=[
            jax.ShapeDtypeStruct((blocks, len(centres)), points.dtype),
            jax.ShapeDtypeStruct((blocks,), points.dtype),
        ],
        compiler_params=warps(max(width // each, 1)),
        interpret=interpret,
        name="similarities",
    )(rows, scale * centres)
    return jnp.sum(sums, axis=0) / count, jnp.sum(largest) / count


@_gaussian.defjvp
def _gaussian_jvp(interpret: bool, primals: Any, tangents: Any) -> Any:
    """Differentiate the plain formulas: the fused kernel has no derivative of its own."""
    return jax.jvp(_plain_gaussian, primals, tangents)


def _plain_gaussian(centres: Array, points: Array) -> tuple[Array, Array]:
    kernel = Gaussian(1.0)
    mean = jnp.mean(kernel.evaluate(centres, points), axis=1)
    return mean, jnp.mean(jnp.exp(jnp.max(kernel.evaluate_log(centres, points), axis=0)))


def _sums_kernel(points_ref: Any, centres_ref: Any, sums_ref: Any, largest_ref: Any, *, count: int, width: int) -> None:
    """Sum over one block of points; those that fill the last block do not count."""
    columns = [points_ref[k, :] for k in range(points_ref.shape[0])]
    counted = pl.program_id(0) * width + jnp.arange(width) < count

    def summed(squares: Array) -> Array:
        values = jnp.exp(-0.5 * squares) if squares.dtype == jnp.float64 else jnp.exp2(-squares)
        return jnp.sum(jnp.where(counted, values, 0.0))

    def compare(j: Array, closest: Array) -> Array:
        differences = [column - centres_ref[j, k] for k, column in enumerate(columns)]
        squares = sum(difference * difference for difference in differences)
        sums_ref[0, j] = summed(squares)
        return jnp.minimum(closest, squares)

    far = jnp.full((width,), jnp.inf, columns[0].dtype)
    largest_ref[0] = summed(lax.fori_loop(0, centres_ref.shape[0], compare, far))
