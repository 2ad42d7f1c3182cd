"""Neighbour search against sorting all distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from kmcf.baselines import NearestNeighbor
from kmcf.baselines.neighbours import NeighbourSearch
from kmcf.kernels import Gaussian, Linear


def search(observations, **settings):
    chosen = {
        "kernel": None,
        "metric": "euclidean",
        "metric_params": None,
        "size": 4,
        "neighbor_weights": "triangular",
    } | settings
    if chosen["kernel"] is not None:
        chosen["kernel"] = clone(chosen["kernel"]).fit(observations)
    return NeighbourSearch(observations, **chosen)


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize(
    ("metric", "parameters", "distance"),
    [
        ("euclidean", None, lambda a, b: np.sqrt(np.sum((a - b) ** 2))),
        ("manhattan", None, lambda a, b: np.sum(np.abs(a - b))),
        ("minkowski", {"p": 3}, lambda a, b: np.sum(np.abs(a - b) ** 3) ** (1 / 3)),
        ("cosine", None, lambda a, b: 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)),
    ],
)
def test_named_metrics_are_their_formulas(columns, metric, parameters, distance):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(50, columns)) + 2.0, rng.normal(size=columns) + 2.0
    found = search(rows, metric=metric, metric_params=parameters).nearest(y[None]).indices
    distances = np.array([distance(row, y) for row in rows])
    np.testing.assert_allclose(distances[found], np.sort(distances)[:4], atol=1e-12)
    function = search(rows, metric=distance).nearest(y[None]).indices
    np.testing.assert_allclose(distances[function], np.sort(distances)[:4], atol=1e-12)


@given(seed=st.integers(0, 1000), k=st.integers(1, 30))
def test_a_gaussian_kernel_finds_the_euclidean_neighbours(seed, k):
    rows = np.random.default_rng(seed).normal(size=(20, 2))
    by_kernel, by_metric = (search(rows, size=k, **s).nearest(rows[:1] + 0.1) for s in ({"kernel": Gaussian()}, {}))
    np.testing.assert_array_equal(by_kernel.indices, by_metric.indices)
    assert len(by_kernel.indices) == min(k, 20)
    assert by_metric.weights.sum() == pytest.approx(1.0)


def test_a_kernel_without_constant_diagonal_means_its_distance():
    """For the linear kernel that is the Euclidean distance, not the largest inner product."""
    rows = np.array([[1.0], [2.0], [50.0]])
    assert search(rows, size=1, kernel=Linear()).nearest(np.array([[1.9]])).indices.tolist() == [1]


def test_shares_by_rank():
    rows = np.arange(10.0)[:, None]
    np.testing.assert_allclose(search(rows, size=3).nearest(rows[:1]).weights, [3 / 6, 2 / 6, 1 / 6])
    np.testing.assert_allclose(search(rows, size=3, neighbor_weights="uniform").nearest(rows[:1]).weights, 1 / 3)


def test_ties_go_to_the_first_example():
    rows = np.zeros((6, 2))
    assert search(rows, kernel=Gaussian(1.0)).nearest(rows[:1]).indices.tolist() == [0, 1, 2, 3]


def test_a_metric_that_returns_nan_is_an_error():
    with pytest.raises(ValueError, match="the metric returned NaN"):
        NearestNeighbor(metric=lambda a, b: np.nan).fit(np.zeros((5, 1)), np.zeros((5, 1))).filter([0.0])
