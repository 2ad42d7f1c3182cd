"""Resampling schemes: which points of a weighted sample to go on with, at equal weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kmcf.numerics.arrays import FloatArray, IntArray


def multinomial(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw independently from the weights, negative ones truncated to zero: the paper's Res-Trunc (Section 6.1).

    Examples
    --------
    >>> multinomial(np.array([1.5, -0.5]), 3, np.random.default_rng(0))
    array([0, 0, 0])
    """
    truncated = np.maximum(weights, 0.0)
    return rng.choice(len(weights), size=size, p=truncated / truncated.sum())


def stratified(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw one position in each of ``size`` equal parts of the cumulative (non-negative) weights.

    Examples
    --------
    >>> stratified(np.array([0.5, 0.0, 0.5]), 4, np.random.default_rng(0))
    array([0, 0, 2, 2])
    """
    return _at((rng.random(size) + np.arange(size)) / size, weights)


def systematic(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Take evenly spaced positions in the cumulative (non-negative) weights, shifted by one uniform draw.

    Examples
    --------
    >>> systematic(np.array([0.5, 0.0, 0.5]), 4, np.random.default_rng(0))
    array([0, 0, 2, 2])
    """
    return _at((rng.random() + np.arange(size)) / size, weights)


SCHEMES: dict[str, Callable[[FloatArray, int, np.random.Generator], IntArray]] = {
    "systematic": systematic,
    "stratified": stratified,
    "multinomial": multinomial,
}
"""The resampling schemes of particle filters, by name."""


def _at(positions: FloatArray, weights: FloatArray) -> IntArray:
    cumulative = np.cumsum(weights)
    picks: IntArray = np.searchsorted(cumulative / cumulative[-1], positions, side="right")
    return np.minimum(picks, len(weights) - 1)
