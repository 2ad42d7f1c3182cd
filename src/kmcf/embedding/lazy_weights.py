"""Weights that are formed only when someone asks for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from kmcf.numerics.arrays import Array, FloatArray, array_namespace


class WeightSummary(NamedTuple):
    """What a run keeps of the weights of T posteriors."""

    sum_of_squares: Array
    """(T,)"""
    negative_mass: Array
    """(T,)"""
    largest: Array
    """Index of the largest weight, (T,)."""


def summarise_columns(weights: Array) -> WeightSummary:
    """Summarise weight vectors that are the columns of an array (n, T), of any array library.

    Examples
    --------
    >>> import numpy as np
    >>> found = summarise_columns(np.array([[0.5, 1.5], [0.5, -0.5]]))
    >>> found.sum_of_squares, found.negative_mass, found.largest
    (array([0.5, 2.5]), array([0. , 0.5]), array([0, 0]))
    """
    xp = array_namespace(weights)
    negative = 0.0 - xp.sum(xp.minimum(weights, 0.0), axis=0)  # zero without a sign
    return WeightSummary(xp.sum(weights**2, axis=0), negative, xp.argmax(weights, axis=0))


class LazyWeights(ABC):
    """Normalised weights that need not have been formed, and the expectations that are known without them.

    A method other than :meth:`weights` may return None: then the answer takes the weights.
    """

    formed: ClassVar[bool] = False
    """Whether :meth:`weights` costs nothing."""

    @abstractmethod
    def weights(self) -> FloatArray:
        """Form the normalised weights, (n,)."""

    def mean(self) -> FloatArray | None:
        """Return the mean state, flattened, (d,)."""
        return None

    def covariance(self) -> FloatArray | None:
        """Return the centred covariance, (d, d)."""
        return None

    def expectation(self, _function: Callable[[Any], Any]) -> FloatArray | None:
        """Return the expectation of a function."""
        return None

    def sum_of_squares(self) -> float | None:
        """Return Σ w²."""
        return None

    @abstractmethod
    def summarise(self, others: Sequence[Self]) -> WeightSummary:
        """Summarise several of these, made by the same rule, in one go."""
