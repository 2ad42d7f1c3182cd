"""Which points of a weighted sample to carry on with equal weights: schemes, and when to use them.

A resampler takes a posterior, the number of particles and random numbers. It is made once, when a filter is fitted.
Kernel Herding, in :mod:`kmcf.herding.herding`, is one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace


def multinomial(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw independently from the weights, negative ones truncated to zero: the paper's Res-Trunc (Section 6.1).

    Parameters
    ----------
    weights : array (n,)
        Of any sign; some must be positive.
    size : int
        How many to draw.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Examples
    --------
    >>> multinomial(np.array([1.5, -0.5]), 3, np.random.default_rng(0))
    array([0, 0, 0])
    """
    truncated = np.maximum(weights, 0.0)
    return rng.choice(len(weights), size=size, p=truncated / truncated.sum())


def stratified(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw one position in each of ``size`` equal parts of the cumulative (non-negative) weights.

    Parameters
    ----------
    weights : array (n,)
        None negative.
    size : int
        How many to draw.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Examples
    --------
    >>> stratified(np.array([0.5, 0.0, 0.5]), 4, np.random.default_rng(0))
    array([0, 0, 2, 2])
    """
    return np.asarray(at_positions((rng.random(size) + np.arange(size)) / size, weights))


def systematic(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Take evenly spaced positions in the cumulative (non-negative) weights, shifted by one uniform draw.

    Parameters
    ----------
    weights : array (n,)
        None negative.
    size : int
        How many to draw.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Examples
    --------
    >>> systematic(np.array([0.5, 0.0, 0.5]), 4, np.random.default_rng(0))
    array([0, 0, 2, 2])
    """
    return np.asarray(at_positions((rng.random() + np.arange(size)) / size, weights))


SCHEMES: dict[str, Callable[[FloatArray, int, np.random.Generator], IntArray]] = {
    "systematic": systematic,
    "stratified": stratified,
    "multinomial": multinomial,
}
"""The resampling schemes of particle filters, by name."""


def at_positions(positions: Array, weights: Array) -> Array:
    """Return the points found at some positions, from 0 to 1, of the cumulative (non-negative) weights.

    Parameters
    ----------
    positions : array (m,)
        Where to look.
    weights : array (n,)
        Of any array library.

    Examples
    --------
    >>> at_positions(np.array([0.2, 0.7]), np.array([0.5, 0.0, 0.5]))
    array([0, 2])
    """
    xp = array_namespace(weights)
    cumulative = xp.cumsum(weights)
    picks = xp.searchsorted(cumulative / cumulative[-1], positions, side="right")
    return xp.minimum(picks, len(weights) - 1)


class Resampled(NamedTuple):
    """What the next step moves."""

    indices: IntArray | None
    """Indices of the posterior's states, to be moved with equal weights; None: all of them, with their weights."""
    loss: float = np.nan
    """RKHS distance of the resampled points to the posterior; NaN where it is not known."""


class Weighted(Protocol):
    """What drawing asks of a posterior."""

    def weights(self) -> FloatArray:
        """Return its normalised weights."""
        ...


class Comparable(Weighted, Protocol):
    """A posterior that can tell how far points are from it."""

    def resampling_loss(self, indices: IntArray) -> float:
        """Return the RKHS distance of the uniform mean of some of its states."""
        ...


@dataclass(frozen=True)
class KeepAll:
    """Never resample: all states move with their (signed) weights."""

    def __call__(self, _posterior: Weighted, _size: int, _rng: np.random.Generator) -> Resampled:
        """Return no indices."""
        return Resampled(None)


@dataclass(frozen=True)
class Draw:
    """Draw as many points as there are particles, by one of the usual schemes."""

    scheme: str
    """A key of ``SCHEMES``."""
    threshold: float = 0.0
    """Resample where Σw² exceeds this over the number of states (0: always, inf: never)."""

    def __call__(self, posterior: Weighted, size: int, rng: np.random.Generator) -> Resampled:
        """Draw the points."""
        if not uneven(posterior, self.threshold):
            return Resampled(None)
        return Resampled(SCHEMES[self.scheme](posterior.weights(), size, rng))


@dataclass(frozen=True)
class DrawTruncated:
    """Draw from the truncated weights, and say how far the points are from the posterior (the paper's Res-Trunc)."""

    threshold: float = 0.0
    """As for :class:`Draw`."""

    def __call__(self, posterior: Comparable, size: int, rng: np.random.Generator) -> Resampled:
        """Draw the points."""
        if not uneven(posterior, self.threshold):
            return Resampled(None)
        drawn = multinomial(posterior.weights(), size, rng)
        return Resampled(drawn, posterior.resampling_loss(drawn))


def uneven(posterior: Weighted, threshold: float) -> bool:
    """Say whether resampling is worth its loss: Σw² > threshold / n (Section 5.2)."""
    if threshold == 0.0:
        return True
    weights = posterior.weights()
    return float(np.sum(weights**2)) > threshold / len(weights)
