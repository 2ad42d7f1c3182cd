"""Kernel Bayes' Rule exactly as printed (Algorithm 1): the reference everything else is tested against.

Two dense matrices, one product and one non-symmetric solve per observation, O(n³).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcf.bayes_rule.gram import Formula, GramRule
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray


def kernel_bayes_rule(prior: FloatArray, G_Y: FloatArray, k_y: FloatArray, delta: float) -> FloatArray:
    r"""Algorithm 1, line 4: :math:`w = \Lambda G_Y ((\Lambda G_Y)^2 + \delta I)^{-1} \Lambda k_Y`.

    Parameters
    ----------
    prior : array (n,)
        The diagonal of Λ = diag((G_X + nεI)⁻¹ m_π).
    G_Y : array (n, n)
        Kernel matrix of the example observations.
    k_y : array (n,)
        Similarities of the observation with the examples.
    delta : float
        δ.

    Examples
    --------
    >>> kernel_bayes_rule(np.array([1.0, 1.0]), np.eye(2), np.array([1.0, 0.0]), 1.0)
    array([0.5, 0. ])
    """
    LG = prior[:, None] * G_Y
    regularised = LG @ LG + delta * np.eye(len(prior))
    return LG @ np.linalg.solve(regularised, prior * k_y)


def importance_weighted_rule(prior: FloatArray, G_Y: FloatArray, k_y: FloatArray, delta: float) -> FloatArray:
    r"""Importance-weighted rule (Xu et al. 2022): :math:`w = \Lambda_+ (G_Y \Lambda_+ + \delta I)^{-1} k_Y`.

    Negative prior coefficients are set to zero, so the prior is a non-negative re-weighting of the examples and the
    operator to invert is positive.

    Examples
    --------
    >>> importance_weighted_rule(np.array([1.0, -1.0]), np.eye(2), np.array([1.0, 0.0]), 1.0)
    array([0.5, 0. ])
    """
    positive = np.maximum(prior, 0.0)
    regularised = G_Y * positive[None, :] + delta * np.eye(len(prior))
    return positive * np.linalg.solve(regularised, k_y)


@dataclass(frozen=True, eq=False)
class LiteralRule(GramRule):
    """The literal engine, for both rules."""

    formulas: ClassVar[dict[str, Formula]] = {"kbr": kernel_bayes_rule, "importance": importance_weighted_rule}

    @staticmethod
    def represented(observation_kernel: ExampleKernel) -> FloatArray:
        """Return the matrix itself."""
        return observation_kernel.matrix()

    def _expected(self, coefficients: FloatArray) -> float:
        return float(coefficients @ (self.observations @ coefficients))
