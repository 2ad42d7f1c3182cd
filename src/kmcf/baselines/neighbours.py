"""The k example observations nearest to a new one, by any metric or by any kernel as similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KDTree

from kmcf.bayes_rule.base import coverage
from kmcf.filter.settings import check_choice, check_count
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, describe, is_numeric

NEIGHBOR_WEIGHTS = ("triangular", "uniform")
MOST_TREE_COLUMNS = 15
"""In more dimensions a tree visits nearly all examples, so comparing with all of them in one go is faster."""
WITH_GAPS = "nan_euclidean"
"""The metric that understands vectors with missing entries."""


def takes_any_columns(metric: Any, parameters: dict[str, Any] | None) -> bool:
    """Say whether a metric compares vectors of any length: one with a name, and without a parameter per column.

    Examples
    --------
    >>> takes_any_columns("minkowski", {"p": 3}), takes_any_columns("seuclidean", {"V": [1.0, 2.0]})
    (True, False)
    """
    named = isinstance(metric, str) and metric not in ("precomputed", WITH_GAPS)
    return named and all(np.ndim(value) == 0 for value in (parameters or {}).values())


class Neighbours(NamedTuple):
    """The nearest examples, nearest first."""

    indices: IntArray
    """Which examples, (k,)."""
    weights: FloatArray
    """Their weights by rank, (k,); they sum to one."""
    coverage: float
    """Similarity to the most similar example relative to the largest diagonal entry; NaN for metrics."""


class NeighbourSearch:
    """Finds the nearest example observations.

    Parameters
    ----------
    observations : array (n, ...) or list of n objects
        The examples.
    kernel : Kernel, optional
        A fitted kernel as similarity: the nearest example is the closest in its feature space, which for kernels with a
        constant diagonal is the most similar one.
    metric : str or callable
        Used if there is no kernel: any name that scikit-learn knows, or a function of two observations.
    metric_params : dict, optional
        Further arguments of a named metric.
    size : int
        Number of neighbours, k; all examples if there are fewer.
    neighbor_weights : {"triangular", "uniform"}
        How neighbours are weighted: in proportion to k, k − 1, …, 1, or equally.
    """

    def __init__(
        self,
        observations: Objects,
        *,
        kernel: Kernel | None,
        metric: str | Callable[[Any, Any], float],
        metric_params: dict[str, Any] | None,
        size: int,
        neighbor_weights: str,
    ) -> None:
        check_count("n_neighbors", size)
        check_choice("neighbor_weights", neighbor_weights, NEIGHBOR_WEIGHTS)
        self._size = min(int(size), len(observations))
        shares = np.arange(self._size, 0.0, -1.0) if neighbor_weights == "triangular" else np.ones(self._size)
        self._shares = shares / shares.sum()
        self._observations = observations
        self._kernel = kernel
        self._metric = metric
        self._metric_params = dict(metric_params or {})
        self._find = self._prepared()

    def nearest(self, observation: Objects) -> Neighbours:
        """Return the neighbours of an observation (a collection of length 1)."""
        indices, similarity = self._find(observation, self._size)
        return Neighbours(indices, self._shares, similarity)

    def _prepared(self) -> _Find:
        """Return the search itself: a function, which cannot be pickled and is made again."""
        if self._kernel is not None:
            return _by_kernel(self._kernel, self._observations)
        if callable(self._metric):
            return _by_function(self._metric, self._observations)
        return _by_name(self._metric, self._metric_params, self._observations)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_find"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._find = self._prepared()


_Find = Callable[[Objects, int], tuple[IntArray, float]]


def _by_kernel(kernel: Kernel, examples: Objects) -> _Find:
    on_examples = kernel.on_examples(examples)
    diagonal = on_examples.diagonal()
    largest = float(diagonal.max())

    def find(observation: Objects, size: int) -> tuple[IntArray, float]:
        similarity = on_examples.against(observation)[:, 0]
        # The squared distance of two features is k(a, a) + k(b, b) − 2 k(a, b); k(b, b) is the same for all examples.
        return _smallest(diagonal - 2.0 * similarity, size), coverage(float(similarity.max()), largest)

    return find


def _by_function(metric: Callable[[Any, Any], float], examples: Objects) -> _Find:
    def find(observation: Objects, size: int) -> tuple[IntArray, float]:
        distances = np.array([float(metric(example, observation[0])) for example in examples])
        if np.isnan(distances).any():
            raise ValueError("the metric returned NaN for some examples; it must return a distance for any two.")
        return _smallest(distances, size), np.nan

    return find


def _by_name(metric: Any, parameters: dict[str, Any], examples: Objects) -> _Find:
    if not isinstance(metric, str):
        raise TypeError(f"metric = {metric!r}; it must be the name of a metric or a function of two observations.")
    if not is_numeric(examples):
        raise TypeError(
            f"the observations are {describe(examples)}: pass an observation_kernel, or a metric that is a function "
            "of two such objects."
        )
    rows = examples.reshape(len(examples), -1).astype(np.float64)
    if metric in KDTree.valid_metrics and rows.shape[1] <= MOST_TREE_COLUMNS:
        tree = KDTree(rows, metric=metric, **parameters)
        return lambda observation, size: (tree.query(observation.reshape(1, -1), k=size)[1][0], np.nan)
    pairwise_distances(rows[:1], rows[:1], metric=metric, **parameters)  # an unknown name is an error now, not later

    def find(observation: Objects, size: int) -> tuple[IntArray, float]:
        distances = pairwise_distances(rows, observation.reshape(1, -1), metric=metric, **parameters)[:, 0]
        return _smallest(np.where(np.isnan(distances), np.inf, distances), size), np.nan

    return find


def _smallest(values: FloatArray, size: int) -> IntArray:
    """Return the indices of the smallest values, in order, ties by index."""
    threshold = np.partition(values, size - 1)[size - 1]
    candidates = np.flatnonzero(values <= threshold)
    return candidates[np.argsort(values[candidates], kind="stable")[:size]]
