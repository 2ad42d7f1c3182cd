"""The points that herding may pick when there are too many examples to try them all."""

from __future__ import annotations

import numpy as np

from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.herding.herding import Herding, herd
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray

FEWEST, PER_FEATURE, MOST = 1000, 20, 4000


class Candidates:
    """Example states that herding chooses from, with their features and kernel matrix.

    With p features there are max(1000, 20 p) candidates, at most 4000: all examples if they are no more than that.
    Otherwise the candidates are the pivots of the state features, which reach into every corner that the examples
    cover, and a random draw of the other examples, which follows their density. Theorem 2 asks for no more: the error
    due to N candidates from a density that covers the posterior is O(N^-1/2).

    Parameters
    ----------
    features : KernelFeatures
        The state features.
    kernel : ExampleKernel
        The state kernel with all examples.
    indices : array of int, optional
        Which examples, if they were chosen before.
    """

    def __init__(self, features: KernelFeatures, kernel: ExampleKernel, indices: IntArray | None = None) -> None:
        self.indices = _choose(features, kernel.size) if indices is None else indices
        self.features = np.ascontiguousarray(features.rows[self.indices])
        self.gram = kernel.subset(self.indices).matrix()

    def herd(self, mean_features: FloatArray, size: int) -> Herding:
        """Apply Algorithm 4 to the embedding with the given features (p,)."""
        picks = herd(self.features @ mean_features, self.gram, size, float(mean_features @ mean_features))
        return Herding(self.indices[picks.indices], picks.loss)


def _choose(features: KernelFeatures, n: int) -> IntArray:
    wanted = min(max(FEWEST, PER_FEATURE * features.rank), MOST)
    if n <= wanted:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), features.pivots)
    drawn = np.random.default_rng(0).choice(others, max(wanted - features.rank, 0), replace=False)
    return np.sort(np.concatenate([features.pivots[:wanted], drawn]))


def features_loss(picked: FloatArray, mean_features: FloatArray) -> float:
    """Return the distance of the mean of the picked points' features (ℓ, p) to an embedding's features (p,)."""
    return float(np.linalg.norm(picked.mean(axis=0) - mean_features))
