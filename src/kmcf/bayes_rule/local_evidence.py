"""The evidence of a step that solves for some of the examples only.

Where all examples near the prior take part it is the formula of :mod:`kmcf.bayes_rule.evidence`: examples far from the
prior have λ ≈ 0. Where the observation chose among them, their λ says nothing about how probable it was; then

    λ_i ∝ m_π(X_i)        the smoothed prior itself, over all examples near it,

takes the place of λ, and what it expects is taken from a sample of them. The mean similarity to all examples is always
that to an evenly spaced sample, so that a step's cost does not depend on their number.
"""

from __future__ import annotations

import numpy as np

from kmcf.bayes_rule.evidence import Evidence, log_evidence
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import evenly_spaced

SAMPLED = 256
"""So many examples stand for all."""


def sample_of(count: int) -> IntArray:
    """Return at most 256 evenly spaced indices below ``count``.

    Examples
    --------
    >>> sample_of(3), len(sample_of(10_000))
    (array([0, 1, 2]), 256)
    """
    return evenly_spaced(count, SAMPLED)


def solved_evidence(coefficients: FloatArray, k_y: FloatArray, gram: FloatArray, spread: float) -> Evidence:
    """Return the evidence where λ of all examples that matter is known.

    Parameters
    ----------
    coefficients : array (m,)
        λ.
    k_y : array (m,)
        Similarities of these examples with the observation.
    gram : array (m, m)
        Their G_Y.
    spread : float
        Mean similarity of all examples with the observation.
    """
    return log_evidence(coefficients @ k_y, np.float64(spread), coefficients @ (gram @ coefficients))


def sampled_evidence(favoured: float, means: FloatArray, count: int, gram: FloatArray, spread: float) -> Evidence:
    """Return the evidence where the observation chose among the examples near the prior.

    Parameters
    ----------
    favoured : float
        Σ_i m_π(X_i) k_Y(y, Y_i) over the examples near the prior.
    means : array (s,)
        m_π at a sample of all that are near.
    count : int
        How many are near.
    gram : array (s, s)
        G_Y of the sample.
    spread : float
        Mean similarity of all examples with the observation.
    """
    shares = means / means.sum()
    own = shares**2
    expected = (shares @ (gram @ shares) - own @ np.diagonal(gram)) / max(1.0 - own.sum(), np.finfo(float).tiny)
    return log_evidence(np.float64(favoured / (means.mean() * count)), np.float64(spread), expected)
