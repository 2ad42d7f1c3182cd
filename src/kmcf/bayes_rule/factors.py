"""Low-rank features of a kernel on its examples: G ≈ F Fᵀ, and the same features of new objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from kmcf.bayes_rule.base import coverage, mean_coverage
from kmcf.bayes_rule.contrast import Contrast
from kmcf.bayes_rule.core import FeatureMap
from kmcf.bayes_rule.evidence import Evidence, log_evidence
from kmcf.bayes_rule.host_algebra import HostAlgebra
from kmcf.bayes_rule.rotation import informative_directions, leading_directions
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.growing import Growing
from kmcf.numerics.linalg import CholeskyFactor, cholesky, pivoted_cholesky, solve_lower, solve_lower_transposed
from kmcf.numerics.objects import Objects

OVERSAMPLING, FEWEST_PIVOTS = 10, 200


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Features φ with φ(x)·φ(x') ≈ k(x, x'), from the pivots of a pivoted Cholesky factorisation.

    φ(x) = L⁻¹ k(pivots, x), where L Lᵀ is the kernel matrix of the pivots; the examples' features are the rows of the
    factor itself. Only kernel columns are ever computed.
    """

    pivots: IntArray
    """Which examples are the pivots."""
    pivot_kernel: ExampleKernel
    """The kernel with one argument fixed to the pivots."""
    map: FeatureMap
    """From similarities with the pivots to features."""
    growing: Growing
    """The examples' features, to which further examples can be appended."""
    trace_error: float
    """‖G − F Fᵀ‖ in the trace norm: the sum of the residual diagonal, and of the eigenvalues left out."""
    directions: FloatArray | None = None
    """Orthonormal directions (r, p) to which the features are reduced; None: all are kept."""
    outside: float = 0.0
    """Share of the trace, over the objects added last, that the pivots do not reach."""

    @classmethod
    def fit(
        cls, kernel: ExampleKernel, *, tolerance: float, most: int | None = None, share: float | None = None
    ) -> Self:
        """Choose the pivots.

        Parameters
        ----------
        kernel : ExampleKernel
            The kernel with its examples.
        tolerance : float
            Stop when the largest residual diagonal entry is at most this times the largest diagonal entry.
        most : int, optional
            Largest number of pivots.
        share : float, optional
            Stop as well when this share of the kernel matrix's trace is kept.
        """
        diagonal = kernel.diagonal()
        result = pivoted_cholesky(kernel.columns, diagonal, tolerance=tolerance, rank=most, share=share)
        return cls(
            pivots=result.pivots,
            pivot_kernel=kernel.subset(result.pivots),
            map=FeatureMap(np.asfortranarray(result.pivot_factor), None, float(diagonal.max())),
            growing=Growing(result.factor),
            trace_error=float(np.maximum(result.residual, 0.0).sum()),
        )

    def reduced(self, directions: FloatArray) -> Self:
        """Return the features along some orthonormal directions only, one per row, (r, p)."""
        rows = self.rows @ directions.T
        mapped = np.ascontiguousarray(solve_lower_transposed(self.map.lower, directions.T).T)
        return replace(
            self,
            map=self.map._replace(directions=mapped),
            growing=Growing(rows),
            trace_error=self.trace_error + float(np.sum(self.rows**2) - np.sum(rows**2)),
            directions=directions,
        )

    def needed(self, tolerance: float) -> int:
        """Return how many of the features a factorisation with another tolerance would have found, if no more."""
        residuals = np.square(np.diagonal(self.map.lower))  # of each pivot when it was chosen, the largest of all
        below = residuals <= tolerance * self.largest
        return int(np.argmax(below)) if below.any() else len(residuals)

    def truncated(self, count: int) -> Self:
        """Return the features of the first pivots only, as a factorisation that stopped there would have found."""
        first = slice(0, count)
        return replace(
            self,
            pivots=self.pivots[first],
            pivot_kernel=self.pivot_kernel.subset(np.arange(count)),
            map=FeatureMap(np.asfortranarray(self.map.lower[first, first]), None, self.map.largest),
            growing=Growing(np.ascontiguousarray(self.rows[:, first])),
            trace_error=self.trace_error + float(np.sum(self.rows[:, count:] ** 2)),
        )

    @property
    def largest(self) -> float:
        """The largest diagonal entry of the kernel matrix."""
        return float(self.map.largest)

    @property
    def rows(self) -> FloatArray:
        """The examples' features, (n, p)."""
        return self.growing.objects

    @cached_property
    def mean_row(self) -> FloatArray:
        """The examples' mean features, (p,): k(x, ·) against it is the mean similarity of x with the examples."""
        return self.rows.mean(axis=0)

    @property
    def rank(self) -> int:
        """Number of features."""
        return int(self.rows.shape[1])

    def of_many(self, objects: Objects) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the features (m, p) of objects, the diagonal of their kernel matrix and what the pivots miss of it."""
        full = solve_lower(self.map.lower, self.pivot_kernel.against(objects)).T
        diagonal = self.pivot_kernel.kernel.diagonal(objects)
        features = full if self.directions is None else full @ self.directions.T
        return features, diagonal, diagonal - np.sum(full**2, axis=1)

    def without_rows(self) -> Self:
        """Return the same features, without those of the examples."""
        return replace(self, growing=Growing(np.zeros((0, self.rank))))

    def extended(self, objects: Objects) -> Self:
        """Return the features with those of further objects, from the same pivots; this object does not change."""
        added, diagonal, missed = self.of_many(objects)
        known, count = self.mean_row, len(self.rows)
        extended = replace(
            self,
            growing=self.growing.append(added),
            trace_error=self.trace_error + float(diagonal.sum() - np.sum(added**2)),
            outside=float(missed.sum() / max(diagonal.sum(), np.finfo(float).tiny)),
        )
        # Filled in here, since a mean over all rows would make the cost grow with the number of examples.
        extended.__dict__["mean_row"] = (count * known + added.sum(axis=0)) / (count + len(added))
        return extended

    def evidence(self, coefficients: FloatArray, features: FloatArray) -> Evidence:
        """Return the evidence of an observation with these features, for a prior with these weights λ."""
        mean = coefficients @ self.rows
        return log_evidence(mean @ features, self.mean_row @ features, mean @ mean)

    @cached_property
    def _contrast(self) -> Contrast | None:
        return Contrast.of(self.rows.T @ self.rows / len(self.rows), self.mean_row)

    def contrast(self, coefficients: FloatArray, features: FloatArray) -> float:
        """Return how much better than all examples a prior with weights λ predicted an observation, sharply."""
        return np.nan if self._contrast is None else self._contrast(coefficients @ self.rows, features)

    def likely(self, observation: Objects) -> FloatArray | None:
        """Return how probable each example makes one observation, as shares of one; None if that cannot be told."""
        return None if self._contrast is None else self._contrast.likely(self.rows, self.of_one(observation)[0])

    def of_one(self, objects: Objects) -> tuple[FloatArray, float]:
        """Return the features (p,) and the coverage of a collection of length 1."""
        similarities = self.pivot_kernel.against(objects)[:, 0]
        covered = coverage(float(similarities.max(initial=0.0)), self.largest)
        return self.map.features(similarities, HostAlgebra), covered

    def of_mean(self, objects: Objects, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the features (p,) and the coverage of a weighted sample; the mean is taken before the solve."""
        similarities = self.pivot_kernel.against(objects)
        covered = mean_coverage(similarities, weights, self.largest)
        return self.map.features(similarities @ weights, HostAlgebra), covered

    def coverage(self, objects: Objects, weights: FloatArray) -> float:
        """Return how close a weighted sample is to the pivots, in [0, 1]."""
        return mean_coverage(self.pivot_kernel.against(objects), weights, self.largest)


def features_of_rank(
    kernel: ExampleKernel,
    *,
    tolerance: float,
    rank: int | float | None = None,
    targets: FloatArray | None = None,
    most: int | None = None,
) -> KernelFeatures:
    """Return at most ``rank`` features of a kernel on its examples, from at most ``most`` pivots.

    Where the rank binds, more pivots are taken than that (ten times as many, at least 200), and of their features the
    best directions are kept: those that tell most about the ``targets`` (n, r), or about the objects themselves if
    there are none. A rank below 1 is the share of the trace to keep (the paper's choice of the rank by a matrix norm);
    then the pivots' features are taken as they are.
    """
    if isinstance(rank, float):
        return KernelFeatures.fit(kernel, tolerance=tolerance, most=most, share=rank)
    if rank is not None:
        most = min(max(OVERSAMPLING * rank, FEWEST_PIVOTS), kernel.size if most is None else most)
    features = KernelFeatures.fit(kernel, tolerance=tolerance, most=most)
    if rank is None or rank >= features.rank:
        return features
    if targets is None:
        return features.reduced(leading_directions(features.rows, rank))
    return features.reduced(informative_directions(features.rows, targets)[:rank])


def prior_factor(gram: FloatArray, n: int, epsilon: float) -> CholeskyFactor:
    """Factorise UᵀU + nεI, which turns a prior's mean features c into the coefficients a of λ = U a.

    (U Uᵀ + nεI)⁻¹ U c = U (UᵀU + nεI)⁻¹ c: no division by nε, hence no cancellation as in the Woodbury form of
    Algorithm 5, line 3.
    """
    return cholesky(gram, shift=n * epsilon, name="UᵀU + n epsilon I", remedy="epsilon")
