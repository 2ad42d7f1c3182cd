"""Kernel Herding as printed: every pick evaluates the kernel mean anew, O(n²) a pick and O(n²ℓ) in all.

The library's loop updates the scores instead, O(n) a pick, and picks the same points. This one is for timing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.bayes_rule.base import Resampler
from kmcf.filter import KernelMonteCarloFilter
from kmcf.filter.support import OnExamples
from kmcf.herding.herding import Herd
from kmcf.herding.resampling import Resampled
from kmcf.numerics.arrays import FloatArray, IntArray


def herd_as_printed(weights: FloatArray, gram: FloatArray, size: int) -> IntArray:
    """Algorithm 2: the p-th pick maximises Σ_i w_i k(x, X_i) − (1/p) Σ_{j<p} k(x, x_j) over the examples.

    Parameters
    ----------
    weights : array (n,)
        Of the posterior.
    gram : array (n, n)
        Kernel matrix of the example states.
    size : int
        ℓ.

    Examples
    --------
    >>> herd_as_printed(np.array([0.5, 0.0, 0.5]), np.eye(3), 4)
    array([0, 2, 0, 2])
    """
    picks = np.empty(size, dtype=np.intp)
    for p in range(1, size + 1):
        mean = gram @ weights  # Σ_i w_i k(x, X_i) at every candidate x, as the formula is printed
        picks[p - 1] = np.argmax(mean - gram[:, picks[: p - 1]].sum(axis=1) / p)
    return picks


@dataclass(frozen=True)
class HerdAsPrinted(Herd):
    """The resampler of the paper, by :func:`herd_as_printed`."""

    def __call__(self, posterior: Any, size: int, _rng: np.random.Generator) -> Resampled:
        """Pick the points."""
        picks = herd_as_printed(posterior.weights(), posterior.rule.state_gram, min(self.points, size))
        return Resampled(picks, float("nan"))


@dataclass(frozen=True)
class _HerdedAsPrinted(OnExamples):
    def _resampler(self, threshold: float) -> Resampler:
        return HerdAsPrinted(self.n_resample, threshold)


class PrintedFilter(KernelMonteCarloFilter):
    """The paper's filter with herding as printed; for engines that keep the kernel matrix of the example states."""

    def _on_examples(self, kind: type[OnExamples] = _HerdedAsPrinted, **shared: Any) -> Any:
        return super()._on_examples(_HerdedAsPrinted, **shared)
