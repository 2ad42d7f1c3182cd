"""The numerical core of the backward step, over the array namespace: NumPy and JAX run these same lines.

:mod:`kmcf.bayes_rule.backward` has the formulas. All functions are for one step of one sequence.
"""

from __future__ import annotations

from typing import Any

from kmcf.bayes_rule.core import Algebra
from kmcf.numerics.arrays import Array, array_namespace

MOST_CANCELLING = 2.0
"""Smoothed weights may cancel by no more than this times as much as the filter's: else the ratio is taken in part."""
PARTS = (0.125, 0.25, 0.5, 1.0)
LEAST_SUM = 1e-3
LEAST_PREDICTED, LEAST_LATER = 0.5, 0.6
"""So much of a prediction, and of the belief after it, the features must see: beyond the pivots all ratios are zero."""
MOST_APART, NEAR = 0.5, 1e-4
"""Resampled states may be so far from the belief that they stand for, in units of their spread, or so far at all."""


def features_of(similarities: Array, lower: Array, scale: Any, algebra: Algebra) -> Array:
    """Return features (m, p) from similarities with the pivots, (p, m), and the Cholesky factor of the pivots."""
    return algebra.solve_lower(lower, similarities).T / scale


def second_moment(features: Array, shares: Array, algebra: Algebra) -> Array:
    """Return C = Σ_j γ_j φ_j φ_jᵀ, (p, p); negative shares count as zero, since no state is less than impossible."""
    positive = shares.clip(0.0)
    return algebra.weighted_gram(features, positive / positive.sum())


def seen(features: Array, own: Array, scale: Any) -> Array:
    """Return which share of each state the features see, (m,): ‖φ(x)‖² over what k(x, x) makes of it, ``own``."""
    xp = array_namespace(features)
    positive = xp.maximum(xp.asarray(own, dtype=features.dtype), xp.finfo(features.dtype).tiny)
    return xp.minimum((features**2).sum(axis=1) * scale**2 / positive, 1.0)


def stands_for(rows: Array, shares: Array, mean: Array) -> Array:
    """Say whether states with these features and shares stand for a belief with this mean of features.

    At the edge of the examples negative weights reach beyond them, and states without signs cannot.
    """
    centre = shares @ rows
    spread = shares @ (rows**2).sum(axis=1) - centre @ centre
    return ((mean - centre) ** 2).sum() <= MOST_APART * spread + NEAR


def covered(predicted: Any, later: Any) -> Any:
    """Say whether the features see enough of a prediction and of the belief after it."""
    return (predicted >= LEAST_PREDICTED) & (later >= LEAST_LATER)


def ratio_coefficients(C: Array, mean: Array, delta: Any, algebra: Algebra) -> Array:
    """Return z, (p,), given the smoothed mean of the next step, (p,)."""
    return algebra.solve_regularised_square(C, delta, C @ mean)


def ratios_at(successors: Array, coefficients: Array) -> Array:
    """Return E[r(x') | x_i] for each state, (n,), given z."""
    return (successors @ coefficients).clip(0.0)


def reweighted(weights: Array, ratios: Array) -> Array:
    """Multiply signed weights by ratios and normalise; where they would cancel, take the ratios in part, or not at all.

    Examples
    --------
    >>> import numpy as np
    >>> reweighted(np.array([0.5, 0.5]), np.array([1.0, 3.0]))
    array([0.25, 0.75])
    >>> reweighted(np.array([1.5, -0.5]), np.array([1.0, 3.0]))  # their sum would be zero
    array([ 1.5, -0.5])
    """
    xp = array_namespace(ratios)
    sizes, total = abs(weights), weights @ ratios
    usable = total > LEAST_SUM * (sizes @ ratios)
    normalised = ratios / xp.where(usable, total, 1.0)
    found, most = weights, MOST_CANCELLING * sizes.sum()
    for part in PARTS:  # the largest that will do comes last
        changed = weights * (1.0 - part + part * normalised)
        fits = usable & (abs(changed).sum() <= most)
        found = xp.where(fits, changed / xp.where(fits, changed.sum(), 1.0), found)
    return found
