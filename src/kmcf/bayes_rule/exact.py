"""Kernel Bayes' Rule in symmetric form: the same weights with one Cholesky factorisation of a q × q matrix.

With G_Y = V Vᵀ (pivoted Cholesky to rounding; q is the numerical rank) and C = Vᵀ Λ V, the push-through identity
Vᵀ f(Λ V Vᵀ) = f(Vᵀ Λ V) Vᵀ turns line 4 of Algorithm 1 into

    w = λ ∘ (V z),    z = (C² + δI)⁻¹ Vᵀ Λ k_Y,

where C² + δI is symmetric positive definite although Λ is indefinite and Λ G_Y is not symmetric.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.bayes_rule.gram import GramRule
from kmcf.kernels.base import ExampleKernel
from kmcf.linalg import PivotedCholesky, cholesky, pivoted_cholesky, solve_regularised_square, weighted_gram

ROUNDING = 1e-14
"""Relative residual at which the factor of G_Y is exact to rounding."""


class ExactRule(GramRule):
    """The exact engine, for both rules."""

    @staticmethod
    def _represented(observation_kernel: ExampleKernel) -> PivotedCholesky:
        return pivoted_cholesky(observation_kernel.columns, observation_kernel.diagonal(), tolerance=ROUNDING)

    @staticmethod
    def _formulas() -> dict[str, Callable[[FloatArray, Any, FloatArray, float], FloatArray]]:
        return {"kbr": kernel_bayes_rule, "importance": importance_weighted_rule}


def kernel_bayes_rule(prior: FloatArray, factor: PivotedCholesky, k_y: FloatArray, delta: float) -> FloatArray:
    """Algorithm 1, line 4, for G_Y = V Vᵀ.

    Parameters
    ----------
    prior : array (n,)
        λ, the diagonal of Λ.
    factor : PivotedCholesky
        V, of shape (n, q).
    k_y : array (n,)
        Similarities of the observation with the examples.
    delta : float
        δ.

    Examples
    --------
    >>> factor = pivoted_cholesky(lambda i: np.eye(2)[:, i], np.ones(2), tolerance=0.0)
    >>> kernel_bayes_rule(np.array([1.0, 1.0]), factor, np.array([1.0, 0.0]), 1.0)
    array([0.5, 0. ])
    """
    V = factor.factor
    z = solve_regularised_square(weighted_gram(V, prior), delta, V.T @ (prior * k_y))
    weights: FloatArray = prior * (V @ z)
    return weights


def importance_weighted_rule(prior: FloatArray, factor: PivotedCholesky, k_y: FloatArray, delta: float) -> FloatArray:
    """Importance-weighted rule for G_Y = V Vᵀ.

    k_Y = V ψ + r with ψ = V[pivots]⁻¹ k_Y[pivots] and a remainder r that is zero but for rounding and for the
    truncation of V; treating the two parts apart keeps the 1/δ of the remainder from amplifying the rounding of the
    main part.

    Examples
    --------
    >>> factor = pivoted_cholesky(lambda i: np.eye(2)[:, i], np.ones(2), tolerance=0.0)
    >>> importance_weighted_rule(np.array([1.0, -1.0]), factor, np.array([1.0, 0.0]), 1.0)
    array([0.5, 0. ])
    """
    positive = np.maximum(prior, 0.0)
    V = factor.factor
    psi = factor.features(k_y[factor.pivots])
    remainder = k_y - V @ psi
    solver = cholesky(weighted_gram(V, positive), shift=delta, name="C + delta I", remedy="delta")
    in_span = V @ solver.solve(psi)
    outside = (remainder - V @ solver.solve(V.T @ (positive * remainder))) / delta
    weights: FloatArray = positive * (in_span + outside)
    return weights
