r"""Whether an observation was expected where the prior is, or elsewhere among the examples.

The evidence is blurred by k_Y: where that is wide, a prior at the wrong place hardly shows in it. Here the blur is
undone, as Kernel Bayes' Rule does it. With the examples' observation features V, their mean v̄ and S = VᵀV / n,

    g = (S + κ tr(S) I)⁻¹ ψ(y)

makes V_i · g an estimate of p(y | X_i) / p(y), up to a constant, and the contrast of a prior with weights λ is

    log (Vᵀλ · g) / (v̄ · g),

how much better it predicted the observation than a prior spread over all examples, as a log Bayes factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import CholeskyFactor, cholesky

RIDGE = 0.01
"""κ. Chosen among 0.1, 0.01, 0.001 and 0.0001 on Bluetooth tracks: less makes noise, more hides a wrong place."""
LEAST = 1e-3
"""A ratio counts as at least this: an estimate of a density may come out negative."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """What it takes to compare an observation with what the prior expects."""

    factor: CholeskyFactor
    """Of S + κ tr(S) I."""
    mean: FloatArray
    """v̄."""

    @classmethod
    def of(cls, gram: FloatArray, mean: FloatArray) -> Self | None:
        """Take S and v̄; None where S cannot be factorised.

        Examples
        --------
        >>> contrast = Contrast.of(0.5 * np.eye(2), np.array([0.5, 0.5]))  # two examples that have nothing in common
        >>> round(contrast(np.array([1.0, 0.0]), np.array([1.0, 0.0])), 2)  # the prior knew which: twice as probable
        0.69
        >>> round(contrast(np.array([0.0, 1.0]), np.array([1.0, 0.0])), 2)  # it took the other: log 0.001
        -6.91
        """
        try:
            factor = cholesky(gram, shift=RIDGE * float(np.trace(gram)), name="S", remedy="delta")
        except np.linalg.LinAlgError:
            return None
        return cls(factor, mean)

    def __call__(self, expected: FloatArray, features: FloatArray) -> float:
        """Return the contrast of one observation; NaN where no example resembles it.

        Parameters
        ----------
        expected : array (q,)
            Vᵀλ, the features that the prior expects.
        features : array (q,)
            ψ(y).
        """
        sharp = self._sharp(features)
        anywhere = float(self.mean @ sharp)
        if not anywhere > 0.0:
            return np.nan
        return float(np.log(max(float(expected @ sharp) / anywhere, LEAST)))

    def likely(self, rows: FloatArray, features: FloatArray) -> FloatArray | None:
        """Return p(y | X_i) for all examples, scaled to sum to one; None where none is positive.

        Parameters
        ----------
        rows : array (n, q)
            V.
        features : array (q,)
            ψ(y).

        Examples
        --------
        >>> contrast = Contrast.of(0.5 * np.eye(2), np.array([0.5, 0.5]))
        >>> contrast.likely(np.eye(2), np.array([3.0, 1.0]))
        array([0.75, 0.25])
        """
        return shares(rows @ self._sharp(features))

    def _sharp(self, features: FloatArray) -> FloatArray:
        return self.factor.solve(features)


def shares(estimates: FloatArray) -> FloatArray | None:
    """Return estimates of a density as probabilities: negative ones count as zero; None where none is positive."""
    positive = np.maximum(estimates, 0.0)
    total = float(positive.sum())
    return positive / total if 0.0 < total < np.inf else None
