"""Weights that are formed only when someone asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from kmcf.numerics.arrays import FloatArray, IntArray


class WeightSummary(NamedTuple):
    """What can be told about T weight vectors without keeping them."""

    sum_of_squares: FloatArray
    """(T,)"""
    negative_mass: FloatArray
    """(T,)"""
    largest: IntArray
    """Index of the largest weight, (T,)."""


class LazyWeights(Protocol):
    """Weights that are formed only when asked for, by something that knows some expectations without them.

    Each method may return None where the answer takes the weights.
    """

    def weights(self) -> FloatArray:
        """Form the normalised weights, (n,)."""
        ...

    def mean(self) -> FloatArray | None:
        """Return the mean state, flattened, (d,)."""
        ...

    def covariance(self) -> FloatArray | None:
        """Return the centred covariance, (d, d)."""
        ...

    def expectation(self, function: Callable[[Any], Any]) -> FloatArray | None:
        """Return the expectation of a function."""
        ...

    def sum_of_squares(self) -> float | None:
        """Return Σ w²."""
        ...

    def summarise(self, posteriors: Sequence[Any]) -> WeightSummary:
        """Summarise several of these together."""
        ...
