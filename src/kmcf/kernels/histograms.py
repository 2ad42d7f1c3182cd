"""Kernels for histograms: intersection, χ², Hellinger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from kmcf.kernels.base import as_rows, positive
from kmcf.kernels.distances import common_columns, median_distance
from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import not_fitted

_BLOCK_ROWS = 128
_BLOCK_NUMBERS = 1 << 16  # temporary numbers per block: about what a processor's cache holds


class Histogram(Kernel):
    """Base of the kernels on histograms: rows of non-negative numbers, one per bin.

    Parameters
    ----------
    normalize : bool
        Divide each histogram by its sum first, so that only proportions count. Histograms of zeros stay zero.
    """

    def __init__(self, normalize: bool = False) -> None:
        self.normalize = normalize

    @property
    def restrictable(self) -> bool:
        """True: the bins that are known are a histogram, too."""
        return True

    def prepare(self, objects: Objects) -> Array:
        """Flatten to rows, check that they are histograms, and normalise them if asked to."""
        if (xp := array_namespace(objects)) is not np:  # compiled code cannot look at values to refuse them
            histograms = as_rows(objects, self)
            sums = histograms.sum(axis=1, keepdims=True)
            return histograms / xp.where(sums > 0, sums, 1.0) if self.normalize else histograms
        rows: FloatArray = np.asarray(as_rows(objects, self), dtype=np.float64)
        bad = ~(np.isfinite(rows) & (rows >= 0))
        if bad.any():
            number, column = np.argwhere(bad)[0]
            raise ValueError(
                f"{type(self).__name__} compares histograms, whose entries are non-negative and finite, but entry "
                f"{column} of object {number} is {rows[number, column]}; use a kernel for vectors, or shift or clip "
                "the data."
            )
        if not self.normalize:
            return rows
        totals = rows.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(rows, totals, out=np.zeros_like(rows), where=totals > 0))


class HistogramIntersection(Histogram):
    r"""Histogram intersection kernel :math:`k(a, b) = \sum_k \min(a_k, b_k)`.

    Positive definite, since min(s, t) is the inner product of the indicator functions of [0, s] and [0, t]. A
    histogram of zeros has similarity 0 with everything. Memory beyond the result does not grow with the number of
    pairs.

    Parameters
    ----------
    normalize : bool
        Divide each histogram by its sum first.

    Examples
    --------
    >>> HistogramIntersection()([[1.0, 2.0, 0.0]], [[3.0, 1.0, 5.0]])
    array([[2.]])
    """

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return the intersections of all rows."""
        return intersection(a, b)

    def evaluate_diagonal(self, a: FloatArray) -> FloatArray:
        """Return the sums of the histograms."""
        return np.asarray(a.sum(axis=1))


class ChiSquared(Histogram):
    r"""Exponential χ² kernel :math:`k(a, b) = \exp(-\gamma \chi^2(a, b))`.

    Here :math:`\chi^2(a, b) = \sum_k (a_k - b_k)^2 / (a_k + b_k)`, with 0/0 = 0. It is positive definite for every
    γ > 0, because −χ² is conditionally positive definite on non-negative numbers. The diagonal is 1, also for
    histograms of zeros.

    Parameters
    ----------
    gamma : float, optional
        γ. None: 1 / median χ² distance of the examples, divided by ``multiplier``.
    multiplier : float
        Factor on the median; used only where ``gamma`` is None.
    normalize : bool
        Divide each histogram by its sum first.

    Attributes
    ----------
    gamma_ : float
        The γ in use.

    Examples
    --------
    >>> ChiSquared(gamma=0.5)([[1.0, 2.0, 0.0]], [[3.0, 2.0, 0.0]]).round(4)
    array([[0.6065]])
    """

    def __init__(self, gamma: float | None = None, multiplier: float = 1.0, normalize: bool = False) -> None:
        super().__init__(normalize)
        self.gamma = gamma
        self.multiplier = multiplier

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn γ from the examples if none was given."""
        rows = self.prepare(as_objects(objects, "the kernel's examples"))
        if self.gamma is None:
            factor = float(positive(self.multiplier, "multiplier", self))
            self.gamma_ = 1.0 / (factor * median_distance(rows, chi_squared))
        else:
            self.gamma_ = float(positive(self.gamma, "gamma", self))
        return self

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return exp(−γ χ²) of all rows."""
        values = chi_squared(a, b)
        values *= -self._gamma()
        return array_namespace(values).exp(values)

    def evaluate_diagonal(self, a: FloatArray) -> FloatArray:
        """Return ones."""
        return np.ones(len(a))

    def _gamma(self) -> float:
        if hasattr(self, "gamma_"):
            return self.gamma_
        if self.gamma is None:
            raise not_fitted(
                "ChiSquared(gamma=None) learns gamma from examples: call fit(examples) first, or give a gamma."
            )
        return float(positive(self.gamma, "gamma", self))


class Hellinger(Histogram):
    r"""Hellinger (Bhattacharyya) kernel :math:`k(a, b) = \sum_k \sqrt{a_k b_k}`.

    The linear kernel on square roots: the cheapest of the three, one matrix product. For normalised histograms it is
    one minus half the squared Hellinger distance, and its diagonal is 1. A histogram of zeros has similarity 0 with
    everything, even with itself, so that a filter rejects it as something that no example resembles; an ``offset``
    changes that. For counts, of which many are zero, :class:`Counts` is made.

    Parameters
    ----------
    normalize : bool
        Divide each histogram by its sum first.
    offset : float
        Added to every bin, before normalising. With 3/8 or 1, empty histograms resemble each other.

    Examples
    --------
    >>> Hellinger()([[1.0, 4.0]], [[4.0, 9.0]])
    array([[8.]])
    >>> Hellinger(normalize=True, offset=1.0)([[0.0, 0.0]])
    array([[1.]])
    """

    offset: float = 0.0  # for kernels from files written before there was one

    def __init__(self, normalize: bool = False, offset: float = 0.0) -> None:
        super().__init__(normalize)
        self.offset = offset

    def prepare(self, objects: Objects) -> Array:
        """Return the square roots of the histograms."""
        offset = self.offset
        if isinstance(offset, str) or not 0.0 <= offset < np.inf:
            raise ValueError(f"Hellinger has offset = {offset!r}; it must be a number, zero or more.")
        histograms = super().prepare(objects if offset == 0.0 else as_rows(objects, self) + offset)
        return array_namespace(histograms).sqrt(histograms)

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return the inner products of the square roots."""
        common_columns(a, b)
        return a @ b.T

    def evaluate_diagonal(self, a: FloatArray) -> FloatArray:
        """Return the sums of the histograms."""
        return np.asarray(np.einsum("ij,ij->i", a, a))


def intersection(a: Array, b: Array) -> Array:
    r"""Return :math:`\sum_k \min(a_{ik}, b_{jk})` for all rows of two non-negative arrays, (n, m).

    min(s, t) = (s + t − \|s − t\|) / 2 turns it into a city-block distance, for which SciPy has a compiled loop.

    Examples
    --------
    >>> intersection(np.array([[1.0, 2.0]]), np.array([[2.0, 0.0], [0.0, 5.0]]))
    array([[1., 2.]])
    """
    common_columns(a, b)
    if (xp := array_namespace(a, b)) is not np:
        return xp.minimum(a[:, None, :], b[None, :, :]).sum(axis=2)
    totals_a, totals_b = a.sum(axis=1), b.sum(axis=1)

    def rows(start: int, stop: int, first: int) -> FloatArray:
        values = totals_a[start:stop, None] + totals_b[None, first:]
        values -= cdist(a[start:stop], b[first:], "cityblock")
        return np.asarray(np.maximum(0.5 * values, 0.0))

    return _by_rows(rows, a, b)


def chi_squared(a: Array, b: Array) -> Array:
    r"""Return :math:`\sum_k (a_{ik} - b_{jk})^2 / (a_{ik} + b_{jk})` for all rows of two non-negative arrays, (n, m).

    With (s − t)² / (s + t) = t − 3s + 4s² / (s + t) only the bins filled in the row of ``a`` need a division.

    Examples
    --------
    >>> chi_squared(np.array([[1.0, 0.0]]), np.array([[3.0, 0.0], [0.0, 2.0]]))
    array([[1., 3.]])
    """
    common_columns(a, b)
    if (xp := array_namespace(a, b)) is not np:
        sums = a[:, None, :] + b[None, :, :]
        return ((a[:, None, :] - b[None, :, :]) ** 2 / xp.where(sums > 0, sums, 1.0)).sum(axis=2)
    if len(b) < len(a):
        return chi_squared(b, a).T
    totals_a, totals_b = a.sum(axis=1), b.sum(axis=1)
    bins_of_b = np.ascontiguousarray(b.T)

    def rows(start: int, stop: int, first: int) -> FloatArray:
        values = np.empty((stop - start, len(b) - first))
        for i in range(start, stop):
            values[i - start] = totals_b[first:] - 3.0 * totals_a[i] + 4.0 * _ratios(a[i], bins_of_b[:, first:])
        return np.asarray(np.maximum(values, 0.0))

    return _by_rows(rows, a, b)


def _ratios(row: FloatArray, bins: FloatArray) -> FloatArray:
    """Return Σ_k s_k² / (s_k + t_kj) over the filled bins of one row s, for every column t_j."""
    filled = np.flatnonzero(row)
    values = row[filled]
    total = np.zeros(bins.shape[1])
    step = max(1, _BLOCK_NUMBERS // max(1, bins.shape[1]))
    for start in range(0, len(filled), step):
        part = slice(start, start + step)
        sums = bins[filled[part]]
        sums += values[part, None]
        np.reciprocal(sums, out=sums)
        total += (values[part] ** 2) @ sums
    return total


def _by_rows(rows: Callable[[int, int, int], FloatArray], a: FloatArray, b: FloatArray) -> FloatArray:
    """Fill an (n, m) matrix in blocks of rows; of a symmetric one compute half and mirror it.

    ``rows(start, stop, first)`` returns the entries of rows start to stop, from column ``first`` on.
    """
    matrix = np.empty((len(a), len(b)))
    for start in range(0, len(a), _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, len(a))
        first = start if a is b else 0
        matrix[start:stop, first:] = rows(start, stop, first)
        if a is b:
            matrix[first:, start:stop] = matrix[start:stop, first:].T
    return matrix
