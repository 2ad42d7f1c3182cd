"""Algorithm 5 exactly as printed: Kernel Bayes' Rule with low-rank kernel matrices, by the Woodbury identity.

U and V are the incomplete Cholesky factors of both kernel matrices at the rank asked for. Line 3 divides by nε and line
5 inverts C = VᵀΛV, which is indefinite and may be nearly singular; the paper itself reports that small ranks were
unstable. This is the reference for what the paper reports of KMCF-low; :mod:`kmcf.bayes_rule.lowrank` is our own
version, which divides by neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.bayes_rule.base import Examples, Resampler
from kmcf.bayes_rule.gram import Formula, GramRule
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import CholeskyFactor, cholesky, pivoted_cholesky


def low_rank_bayes_rule(prior: FloatArray, V: FloatArray, k_y: FloatArray, delta: float) -> FloatArray:
    r"""Algorithm 5, lines 4 and 5.

    .. math:: w = \frac1\delta \Lambda V V^T (I - B (\delta C^{-1} + D B)^{-1} D) \Lambda k_Y

    Parameters
    ----------
    prior : array (n,)
        The diagonal of Λ.
    V : array (n, r)
        Factor of the kernel matrix of the example observations.
    k_y : array (n,)
        Similarities of the observation with the examples.
    delta : float
        δ.

    Examples
    --------
    >>> low_rank_bayes_rule(np.array([1.0, 1.0]), np.eye(2), np.array([1.0, 0.0]), 1.0)
    array([0.5, 0. ])
    """
    D = V.T
    B = prior[:, None] * V
    C = D @ B
    right = prior * k_y
    try:
        inner = delta * np.linalg.inv(C) + D @ B  # the one explicit inverse in this package: it is the paper's
        bracket = right - B @ np.linalg.solve(inner, D @ right)
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(
            "Algorithm 5 as printed inverts VᵀΛV, which is singular at this step; use a smaller rank, or "
            "engine='lowrank', which does not invert it."
        ) from error
    return prior * (V @ (D @ bracket)) / delta


@dataclass(frozen=True, eq=False)
class LiteralLowRankRule(GramRule):
    """The literal engine at a given rank. Herding uses the full kernel matrix of the example states, as printed."""

    formulas: ClassVar[dict[str, Formula]] = {"kbr": low_rank_bayes_rule}

    states: FloatArray
    """U, (n, r)."""
    epsilon: float

    @classmethod
    def of_rank(
        cls,
        examples: Examples,
        rank: tuple[int | float | None, int | float | None],
        *,
        epsilon: float,
        delta: float,
        rule: str,
        resampler: Resampler,
    ) -> Self:
        """Factorise both kernel matrices.

        Parameters
        ----------
        examples : Examples
            The example states, and both kernels on the examples.
        rank : pair of int, float or None
            r for states and observations; below 1: the share of the trace to keep; None: as far as rounding allows.
        epsilon, delta : float
            Regularisers.
        rule : {"kbr"}
            Algorithm 5 is printed for Kernel Bayes' Rule only.
        resampler : callable
            How posteriors are resampled.
        """
        U, V = (_factor(kernel, r) for kernel, r in zip(examples[1:], rank, strict=True))
        return cls(
            examples=examples,
            resampler=resampler,
            state_gram=examples.state_kernel.matrix(),
            prior_factor=_inner(U, epsilon),
            observations=V,
            formula=cls.formulas[rule],
            delta=delta,
            largest=examples.largest,
            states=U,
            epsilon=epsilon,
        )

    @staticmethod
    def represented(_observation_kernel: ExampleKernel) -> Any:
        """Refuse: Algorithm 5 needs a rank."""
        raise TypeError("Algorithm 5 needs a rank: use LiteralLowRankRule.of_rank.")

    @property
    def ranks(self) -> tuple[int, int]:
        """The ranks of U and V, which may be smaller than asked for where rounding allows no more."""
        return self.states.shape[1], self.observations.shape[1]

    def trace_errors(self) -> tuple[float, float]:
        """Return ‖G − FFᵀ‖ in the trace norm, relative to the trace of G, for states and observations."""
        kernels = self.examples.state_kernel, self.examples.observation_kernel
        traces = [float(kernel.diagonal().sum()) or 1.0 for kernel in kernels]
        kept = [float(np.sum(factor**2)) for factor in (self.states, self.observations)]
        return max(1.0 - kept[0] / traces[0], 0.0), max(1.0 - kept[1] / traces[1], 0.0)

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only nεI + UᵀU is factorised again."""
        return replace(self, prior_factor=_inner(self.states, epsilon), epsilon=epsilon, delta=delta)

    def _expected(self, coefficients: FloatArray) -> float:
        features = coefficients @ self.observations
        return float(features @ features)

    def _prior(self, m_pi: FloatArray) -> FloatArray:
        """Return the diagonal of Λ (Algorithm 5, line 3)."""
        U = self.states
        return (m_pi - U @ self.prior_factor.solve(U.T @ m_pi)) / (self.size * self.epsilon)


def _factor(kernel: ExampleKernel, rank: int | float | None) -> FloatArray:
    limit: dict[str, Any] = {"share": rank} if isinstance(rank, float) else {"rank": rank}
    return pivoted_cholesky(kernel.columns, kernel.diagonal(), tolerance=0.0, **limit).factor


def _inner(U: FloatArray, epsilon: float) -> CholeskyFactor:
    return cholesky(U.T @ U, shift=len(U) * epsilon, name="n epsilon I + UᵀU", remedy="epsilon")
