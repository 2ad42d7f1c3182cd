"""Places in state space that stand for all states, and averages over them."""

from __future__ import annotations

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace

PLACES = 60
"""So many for states of one number; four times as many otherwise."""


def representative(rows: FloatArray) -> IntArray:
    """Choose examples that represent the states: quantiles in one dimension, a fixed random draw otherwise.

    Examples
    --------
    >>> representative(np.arange(600.0)[:, None])[:3]
    array([ 5, 15, 25])
    >>> len(representative(np.zeros((600, 2))))
    240
    """
    count = min(PLACES, len(rows))
    if rows.shape[1] == 1:
        quantiles = ((np.arange(count) + 0.5) / count * len(rows)).astype(np.intp)
        return np.argsort(rows[:, 0], kind="stable")[quantiles]
    order = np.lexsort(rows.T[::-1])
    return order[np.random.default_rng(0).choice(len(rows), min(4 * count, len(rows)), replace=False)]


def weighted(evidence: Array, temper: float) -> Array:
    """Return weights of places in proportion to exp(temper · evidence), one row of them per observation.

    Examples
    --------
    >>> weighted(np.log([[1.0, 3.0]]), 1.0)
    array([[0.25, 0.75]])
    """
    scores = temper * evidence
    weights = array_namespace(scores).exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
