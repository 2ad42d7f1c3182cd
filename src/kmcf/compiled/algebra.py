"""JAX's side of the seam that :mod:`kmcf.bayes_rule.core` is written against."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import jax.numpy as jnp
from jax import lax

from kmcf.compiled.loops import fused_loop, plain_loop
from kmcf.compiled.similarities import can_be_fused, fused_similarities, plain_similarities
from kmcf.compiled.solves import MOST_ROWS, fused_solve, plain_solve, solve_factorised
from kmcf.herding.herding import herding_loss
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import Array

LARGEST_FUSED_LOOP = 8192
"""More candidates do not fit a GPU's registers."""


@dataclass(frozen=True)
class DeviceAlgebra:
    """Solves, the greedy loop and the similarities of particles: as fused GPU kernels or plainly.

    Parameters
    ----------
    loop : {"plain", "fused", "interpreted"}
        "plain": a loop over picks, JAX's Cholesky. "fused": one GPU kernel for all picks, one for the similarities of
        all particles, one for small systems of many filters. "interpreted": those kernels without a GPU, for tests.
    """

    loop: str = "plain"

    def similarities(self, pivots: ExampleKernel, particles: Array) -> tuple[Array, Array]:
        """Return the particles' mean similarities with the pivots, and the mean of their largest ones."""
        if self.loop == "plain" or not can_be_fused(pivots, particles):
            return plain_similarities(pivots, particles)
        return fused_similarities(pivots, particles, interpret=self.loop == "interpreted")

    def solve_lower(self, lower: Array, right: Array) -> Array:
        """Solve L x = right, for one right-hand side or, as columns, several."""
        columns = right if right.ndim == 2 else right[:, None]
        return lax.linalg.triangular_solve(lower, columns, left_side=True, lower=True).reshape(right.shape)

    def solve_factorised(self, lower: Array, right: Array) -> Array:
        """Solve L Lᵀ x = right."""
        return solve_factorised(lower, right)

    def solve_regularised_square(self, C: Array, delta: Any, right: Array) -> Array:
        """Solve (C² + δI) x = right for a symmetric C."""
        return self._solve(C @ C + delta * jnp.eye(C.shape[0], dtype=C.dtype), right)

    def solve_shifted(self, C: Array, delta: Any, right: Array) -> Array:
        """Solve (C + δI) x = right for a positive semi-definite C."""
        return self._solve(C + delta * jnp.eye(C.shape[0], dtype=C.dtype), right)

    def _solve(self, matrix: Array, right: Array) -> Array:
        if self.loop == "plain" or matrix.shape[0] > MOST_ROWS:
            return plain_solve(matrix, right)
        return fused_solve(matrix, right, interpret=self.loop == "interpreted")

    def weighted_gram(self, rows: Array, weights: Array) -> Array:
        """Return Σ_i w_i r_i r_iᵀ for rows r_i and weights that are not negative."""
        return (rows * weights[:, None]).T @ rows

    def herd(self, mean_values: Array, gram: Array, size: int, squared_norm: Array) -> tuple[Array, Array]:
        """Return the picks of Kernel Herding (Algorithm 4) and their distance to the embedding."""
        picks, score = self._greedy(lax.stop_gradient(mean_values), gram, size)  # an argmax has no derivative
        return picks, herding_loss(mean_values, score, picks, size, squared_norm)

    def _greedy(self, mean_values: Array, gram: Array, size: int) -> tuple[Array, Array]:
        if self.loop == "plain" or mean_values.shape[0] > LARGEST_FUSED_LOOP:
            return plain_loop(mean_values, gram[:, : mean_values.shape[0]], size)
        return fused_loop(mean_values, gram, size, interpret=self.loop == "interpreted")


def algebra_for(platform: str) -> DeviceAlgebra:
    """Return the fastest algebra for a platform: a fused greedy loop on NVIDIA GPUs, the plain one elsewhere.

    JAX has announced that it will drop the language of the fused loop; without it, GPUs run the plain loop, too.

    Examples
    --------
    >>> algebra_for("cpu")
    DeviceAlgebra(loop='plain')
    """
    nvidia = platform in ("gpu", "cuda") and find_spec("jax.experimental.pallas.triton") is not None
    return DeviceAlgebra("fused") if nvidia else DeviceAlgebra()
