"""A kernel for sets of elements, such as the landmarks in view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np

from kmcf.kernels.base import positive
from kmcf.kernels.distances import squared_euclidean
from kmcf.kernels.kernel import Kernel
from kmcf.kernels.sets import ElementSets, merge_duplicates, read_sets, squared_differences
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import not_fitted

_BLOCK_NUMBERS = 1 << 18  # of temporary kernel values


PreparedSets: TypeAlias = tuple[ElementSets, FloatArray]
"""Sets whose elements are divided by the bandwidths, and the factor each set's similarities are multiplied by."""


class LandmarkSet(Kernel):
    r"""Kernel on sets of elements, for instance rows (landmark, range, bearing) of the landmarks in view.

    Elements are compared by a Gaussian kernel :math:`g` with one bandwidth per column, angles on the circle. There are
    two ways from elements to sets.

    ``method="match"`` pairs elements by identity:

    .. math:: k(S, S') = \prod_{\ell \in S \cap S'} \bigl(\rho^2 + (1 - \rho^2)\, g(s_\ell, s'_\ell)\bigr)
              \prod_{\ell \in S \triangle S'} \rho ,

    where ρ is ``absent``. It is positive definite by construction: per identity an element has the feature
    :math:`(\rho, \sqrt{1 - \rho^2}\,\phi(s))` and its absence the feature (1, 0). The diagonal is 1.

    ``method="mean"`` is the inner product of the sets' kernel means,

    .. math:: k(S, S') = \frac{1}{|S|\,|S'|} \sum_{s \in S} \sum_{s' \in S'} 1[\ell_s = \ell_{s'}]\, g(s, s') ,

    divided by :math:`\sqrt{k(S, S)\,k(S', S')}` if ``normalize``; without identities the indicator is 1.

    Special cases:

    - *Empty sets* are allowed. "match": the absence of every landmark is information, so k(∅, S) = ρ^\|S\|. "mean": the
      empty set resembles only the empty set, k(∅, ∅) = 1, k(∅, S) = 0. Where seeing nothing should count as a missing
      observation, give a filter ``None`` instead of an empty set.
    - *Unseen identities* need no special care: an identity that no example has is absent from all of them ("match"
      multiplies all similarities by ρ, "mean" adds zeros).
    - *Duplicates* (an identity twice in one set): "match" averages them first, "mean" counts each.

    Parameters
    ----------
    identity : int or None
        Column of the identity (any hashable value). None: elements have none; needs ``method="mean"``.
    angles : sequence of int
        Columns that are angles in radians, counted as in the given rows.
    method : {"match", "mean"}
        How sets are compared.
    absent : float
        ρ in [0, 1): similarity between seeing a landmark and not seeing it ("match" only).
    bandwidth : float or array, optional
        σ of each column other than the identity, in the order of the columns (chord length for angles). None: see
        ``multiplier``.
    multiplier : float
        Where ``bandwidth`` is None, every column is scaled by the median difference of elements (of the same identity,
        if there are any), and σ is this times the median distance of scaled elements.
    normalize : bool
        Make the diagonal 1 ("mean" only; with "match" it always is).

    Attributes
    ----------
    bandwidth_ : array
        σ of each column other than the identity.

    Examples
    --------
    >>> near = [(7, 1.0, 0.0), (9, 2.0, 0.5)]
    >>> far = [(7, 1.0, 0.0)]
    >>> LandmarkSet(angles=[2], bandwidth=1.0, absent=0.5)([near, far, []], [near]).round(3)
    array([[1.  ],
           [0.5 ],
           [0.25]])
    """

    def __init__(
        self,
        identity: int | None = 0,
        angles: Sequence[int] = (),
        method: str = "match",
        absent: float = 0.5,
        bandwidth: float | FloatArray | None = None,
        multiplier: float = 0.5,
        normalize: bool = True,
    ) -> None:
        self.identity = identity
        self.angles = angles
        self.method = method
        self.absent = absent
        self.bandwidth = bandwidth
        self.multiplier = multiplier
        self.normalize = normalize

    @property
    def structured(self) -> bool:
        """True: a list of sets stays a list."""
        return True

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the bandwidths from the elements of the example sets if none were given."""
        sets = self._read(as_objects(objects, "the kernel's examples", structured=True), columns=None)
        self._check(sets.rows.shape[1])
        if len(sets.rows) == 0 and self.bandwidth is None:
            raise ValueError(f"all example sets are empty: {type(self).__name__} cannot learn bandwidths from them.")
        if self.bandwidth is not None:
            self.bandwidth_ = self._given_bandwidth(sets.rows.shape[1])
        else:
            squares = squared_differences(sets, self._angles(sets.rows.shape[1]))
            scale = np.array([_median(np.sqrt(column)) for column in squares.T])
            distance = _median(np.sqrt(np.sum(squares / scale**2, axis=1)))
            self.bandwidth_ = float(positive(self.multiplier, "multiplier", self)) * distance * scale
        return self

    def prepare(self, objects: Objects) -> PreparedSets:
        """Read the sets, divide their elements by the bandwidths, and compute the normalisation."""
        learnt = getattr(self, "bandwidth_", None)
        sets = self._read(objects, None if learnt is None else len(learnt) + (self.identity is not None))
        width = sets.rows.shape[1]
        self._check(width)
        if len(sets.rows):
            sets = sets.with_rows(self._embed(sets.rows, self._bandwidth(width)))
        factors = np.ones(len(sets))
        if self.method == "mean":
            totals = _self_similarities(sets)
            factors = 1.0 / np.sqrt(totals) if self.normalize else 1.0 / np.maximum(sets.sizes, 1)
        return sets, factors

    def evaluate(self, a: PreparedSets, b: PreparedSets) -> FloatArray:
        """Return the similarities of all sets."""
        (sets_a, factors_a), (sets_b, factors_b) = a, b
        if len(sets_a.rows) and len(sets_b.rows) and sets_a.rows.shape[1] != sets_b.rows.shape[1]:
            raise ValueError("the elements of the sets to compare have different numbers of columns.")
        if self.method == "match":
            return _match(sets_a, sets_b, self.absent)
        return _pair_sums(sets_a, sets_b) * factors_a[:, None] * factors_b[None, :]

    def evaluate_diagonal(self, a: PreparedSets) -> FloatArray:
        """Return ones, or for unnormalised means their squared norms."""
        sets, factors = a
        if self.method == "match" or self.normalize:
            return np.ones(len(sets))
        return _self_similarities(sets) * factors**2

    def _read(self, objects: Objects, columns: int | None) -> ElementSets:
        sets = read_sets(objects, self.identity, columns, type(self).__name__)
        return merge_duplicates(sets, self._angles(sets.rows.shape[1])) if self.method == "match" else sets

    def _check(self, width: int) -> None:
        if self.method not in ("match", "mean"):
            raise ValueError(f"{type(self).__name__} has method = {self.method!r}; it must be 'match' or 'mean'.")
        if self.method == "match" and self.identity is None:
            raise ValueError(
                f"{type(self).__name__}(method='match') pairs elements by identity: name its column, or use 'mean'."
            )
        if not 0 <= self.absent < 1:
            raise ValueError(f"{type(self).__name__} has absent = {self.absent!r}; it must be at least 0 and below 1.")
        self._angles(width)

    def _angles(self, width: int) -> IntArray:
        """Return the positions of the angles among the columns other than the identity."""
        columns = list(range(width + (self.identity is not None)))
        if width == 0:
            return np.empty(0, dtype=np.intp)
        try:
            chosen = [columns[column] for column in self.angles]
            if self.identity is not None:
                columns.remove(columns[self.identity])
            return np.asarray([columns.index(column) for column in chosen], dtype=np.intp)
        except (IndexError, ValueError) as error:
            raise ValueError(
                f"{type(self).__name__} has angles = {self.angles!r} and identity = {self.identity!r}, but elements "
                f"have {width + (self.identity is not None)} columns; the identity cannot be an angle."
            ) from error

    def _bandwidth(self, width: int) -> FloatArray:
        if hasattr(self, "bandwidth_"):
            return self.bandwidth_
        if self.bandwidth is None:
            raise not_fitted(
                f"{type(self).__name__}(bandwidth=None) learns its bandwidths from examples: call fit(examples) first."
            )
        return self._given_bandwidth(width)

    def _given_bandwidth(self, width: int) -> FloatArray:
        given = np.asarray(positive(self.bandwidth, "bandwidth", self))
        if given.ndim == 1 and len(given) != width:
            raise ValueError(
                f"{type(self).__name__} has {len(given)} bandwidths, but elements have {width} columns of numbers."
            )
        return np.broadcast_to(given, (width,)).copy()

    def _embed(self, rows: FloatArray, bandwidth: FloatArray) -> FloatArray:
        """Divide the columns by their bandwidths, after mapping angles to points on the circle."""
        angles = self._angles(rows.shape[1])
        straight = np.setdiff1d(np.arange(rows.shape[1]), angles)
        parts = [rows[:, straight] / bandwidth[straight]]
        parts += [function(rows[:, angles]) / bandwidth[angles] for function in (np.cos, np.sin)]
        return np.concatenate(parts, axis=1)


def _match(a: ElementSets, b: ElementSets, absent: float) -> FloatArray:
    product, common = np.ones((len(a), len(b))), np.zeros((len(a), len(b)))
    for key in _common_keys(a, b):
        of_a, of_b = a.groups[key], b.groups[key]
        block = np.ix_(a.owners[of_a], b.owners[of_b])
        similar = np.exp(-0.5 * squared_euclidean(a.rows[of_a], b.rows[of_b]))
        product[block] *= absent**2 + (1.0 - absent**2) * similar
        common[block] += 1.0
    alone = a.sizes[:, None] + b.sizes[None, :] - 2.0 * common
    return product * absent**alone


def _pair_sums(a: ElementSets, b: ElementSets) -> FloatArray:
    """Sum the elements' similarities over all pairs with the same identity, for all sets; k(∅, ∅) = 1."""
    total = np.outer(a.sizes == 0, b.sizes == 0).astype(np.float64)
    for key in _common_keys(a, b):
        of_a, of_b = a.groups[key], b.groups[key]
        owners_b, starts_b = np.unique(b.owners[of_b], return_index=True)
        owners_a, starts_a = np.unique(a.owners[of_a], return_index=True)
        ends_a = np.append(starts_a[1:], len(of_a))
        step = max(1, _BLOCK_NUMBERS * len(owners_a) // (len(of_a) * len(of_b)))
        for i in range(0, len(owners_a), step):
            chosen = slice(i, i + step)
            part = of_a[starts_a[i] : ends_a[chosen][-1]]
            similar = np.exp(-0.5 * squared_euclidean(a.rows[part], b.rows[of_b]))
            by_set = np.add.reduceat(np.add.reduceat(similar, starts_b, axis=1), starts_a[chosen] - starts_a[i], axis=0)
            total[np.ix_(owners_a[chosen], owners_b)] += by_set
    return total


def _self_similarities(sets: ElementSets) -> FloatArray:
    """Sum the elements' similarities over all pairs of the same identity within each set; 1 for empty sets."""
    totals = np.ones(len(sets))
    ends = np.cumsum(sets.sizes)
    for i in np.flatnonzero(sets.sizes):
        rows, codes = sets.rows[ends[i] - sets.sizes[i] : ends[i]], sets.codes[ends[i] - sets.sizes[i] : ends[i]]
        similar = np.exp(-0.5 * squared_euclidean(rows, rows))
        totals[i] = np.sum(similar[codes[:, None] == codes[None, :]])
    return totals


def _common_keys(a: ElementSets, b: ElementSets) -> list[Any]:
    fewer, more = sorted((a.groups, b.groups), key=len)
    return [key for key in fewer if key in more]


def _median(values: FloatArray) -> float:
    """Return the median of the values; of the positive ones if that is zero; 1 if there are none."""
    positive = values[values > 0]
    median = float(np.median(values)) if len(values) else 0.0
    return median or (float(np.median(positive)) if len(positive) else 1.0)
