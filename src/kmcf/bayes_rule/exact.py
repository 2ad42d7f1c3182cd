"""Kernel Bayes' Rule in symmetric form: the same weights with one Cholesky factorisation of a q × q matrix.

With G_Y = V Vᵀ (pivoted Cholesky to rounding; q is the numerical rank) and C = Vᵀ Λ V, the push-through identity
Vᵀ f(Λ V Vᵀ) = f(Vᵀ Λ V) Vᵀ turns line 4 of Algorithm 1 into

    w = λ ∘ (V z),    z = (C² + δI)⁻¹ Vᵀ Λ k_Y,

where C² + δI is symmetric positive definite although Λ is indefinite and Λ G_Y is not symmetric.

Examples to which the prior gives (almost) no weight, λᵢ ≈ 0, get none from the rule either, so only the others enter
the solve. Where the state kernel is narrow and the prior concentrated, these are few: a robot that knows its corridor
does not compare with all others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kmcf.bayes_rule.base import Prior, Sample
from kmcf.bayes_rule.contrast import Contrast
from kmcf.bayes_rule.gram import Formula, GramRule
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import PivotedCholesky, cholesky, pivoted_cholesky, solve_regularised_square, weighted_gram
from kmcf.numerics.objects import Objects

ROUNDING = 1e-14
"""Relative residual at which the factor of G_Y is exact to rounding."""
LEAST_PRIOR = 1e-12
"""Examples with a smaller |λᵢ|, relative to the largest, are left out: they change the weights only by rounding."""


def local_factor(rows: FloatArray) -> PivotedCholesky | None:
    """Return the Cholesky factor of some examples' kernel matrix, or None where rounding makes it indefinite.

    Parameters
    ----------
    rows : array (m, q)
        Their rows of V.

    Examples
    --------
    >>> local_factor(np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0]])).factor.round(6)
    array([[2., 0.],
           [1., 1.]])
    """
    gram = rows @ rows.T
    try:
        lower = cholesky(gram, shift=10.0 * ROUNDING * float(gram.diagonal().max()), name="G_Y", remedy="delta").lower
    except np.linalg.LinAlgError:
        return None
    return PivotedCholesky(lower, np.arange(len(rows)), np.zeros(len(rows)))


def kernel_bayes_rule(prior: FloatArray, factor: PivotedCholesky, k_y: FloatArray, delta: float) -> FloatArray:
    """Algorithm 1, line 4, for G_Y = V Vᵀ.

    Parameters
    ----------
    prior : array (n,)
        λ, the diagonal of Λ.
    factor : PivotedCholesky
        V, of shape (n, q).
    k_y : array (n,) or (n, m)
        Similarities of the observation, or of m of them, with the examples.
    delta : float
        δ.

    Examples
    --------
    >>> factor = pivoted_cholesky(lambda i: np.eye(2)[:, i], np.ones(2), tolerance=0.0)
    >>> kernel_bayes_rule(np.array([1.0, 1.0]), factor, np.array([1.0, 0.0]), 1.0)
    array([0.5, 0. ])
    """
    V = factor.factor
    z = solve_regularised_square(weighted_gram(V, prior), delta, V.T @ (prior * k_y.T).T)
    return (prior * (V @ z).T).T


def importance_weighted_rule(prior: FloatArray, factor: PivotedCholesky, k_y: FloatArray, delta: float) -> FloatArray:
    """Importance-weighted rule for G_Y = V Vᵀ.

    k_Y = V ψ + r with ψ = V[pivots]⁻¹ k_Y[pivots] and a remainder r that is zero but for rounding and the truncation of
    V. Treating the two parts separately keeps the 1/δ of the remainder from amplifying rounding in the main part.

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
    outside = (remainder - V @ solver.solve(V.T @ (positive * remainder.T).T)) / delta
    return (positive * (in_span + outside).T).T


@dataclass(frozen=True, eq=False)
class ExactRule(GramRule):
    """The exact engine, for both rules."""

    formulas: ClassVar[dict[str, Formula]] = {"kbr": kernel_bayes_rule, "importance": importance_weighted_rule}

    negligible: float = LEAST_PRIOR
    """Examples with a smaller absolute λᵢ, relative to the largest, are left out of a step."""

    @staticmethod
    def represented(observation_kernel: ExampleKernel) -> PivotedCholesky:
        """Return the factor V of G_Y, exact to rounding."""
        return pivoted_cholesky(observation_kernel.columns, observation_kernel.diagonal(), tolerance=ROUNDING)

    def _corrected(self, coefficients: FloatArray, k_y: FloatArray) -> FloatArray:
        """Apply the rule to the examples that the prior does not exclude."""
        sizes = np.abs(coefficients)
        active = np.flatnonzero(sizes > self.negligible * sizes.max())
        V = self.observations.factor
        few = 0 < 2 * len(active) <= V.shape[1]
        local = local_factor(V[active]) if few else None
        if local is None:
            return super()._corrected(coefficients, k_y)
        weights = np.zeros_like(coefficients)
        weights[active] = self.formula(coefficients[active], local, k_y[active], self.delta)
        return weights

    def correct_all(self, prior: FloatArray, observations: Objects) -> FloatArray:
        """Return unnormalised weights, (n, m), for m observations under one prior.

        What depends on the prior alone is factorised once.

        Parameters
        ----------
        prior : array (n,)
            Similarity of each example state to the prior: its embedding there.
        observations : collection of length m
            The observations.
        """
        coefficients = self._prior(prior)
        return self.formula(
            coefficients, self.observations, self.examples.observation_kernel.against(observations), self.delta
        )

    @cached_property
    def _sharp(self) -> Contrast | None:
        V = self.observations.factor
        return Contrast.of(V.T @ V / len(V), V.mean(axis=0))

    def _contrast(self, coefficients: FloatArray, k_y: FloatArray) -> float:
        factor = self.observations
        features = factor.features(k_y[factor.pivots])
        return np.nan if self._sharp is None else self._sharp(coefficients @ factor.factor, features)

    def suggested(self, observation: Objects) -> Prior | None:
        """Weigh the example states by one observation alone."""
        if self._sharp is None:
            return None
        factor, k_y = self.observations, self.examples.observation_kernel.against(observation)[:, 0]
        weights = self._sharp.likely(factor.factor, factor.features(k_y[factor.pivots]))
        return None if weights is None else Sample(self.examples.states, weights)

    def _expected(self, coefficients: FloatArray) -> float:
        features = coefficients @ self.observations.factor
        return float(features @ features)
