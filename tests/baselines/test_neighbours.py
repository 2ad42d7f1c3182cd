"""Neighbour search against sorting all distances; the two neighbour methods against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor

import kmcf
from kmcf.baselines import KNNParticleFilter, KNNRegression, NearestNeighbor
from kmcf.baselines.neighbours import NeighbourSearch
from kmcf.kernels import Gaussian, HistogramIntersection, Linear, Spectrum


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


def test_vectors_with_gaps():
    rows = np.array([[0.0, 0.0], [5.0, 1.0], [9.0, 2.0]])
    flt = NearestNeighbor(metric="nan_euclidean").fit(np.arange(3.0), rows)
    np.testing.assert_array_equal(flt.filter(np.array([[np.nan, 0.9], [8.0, np.nan]])).mean.ravel(), [1.0, 2.0])
    with pytest.raises(ValueError, match="partly NaN"):
        NearestNeighbor().fit(np.arange(3.0), rows).filter(np.array([[np.nan, 0.9]]))


def test_regression_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, Y, new = rng.normal(size=(80, 2)), rng.normal(size=(80, 3)), rng.normal(size=(15, 3))
    ours = KNNRegression(n_neighbors=7, neighbor_weights="uniform").fit(X, Y).filter(new).mean
    np.testing.assert_allclose(ours, KNeighborsRegressor(7).fit(Y, X).predict(new))
    nearest = NearestNeighbor().fit(X, Y).filter(new)
    np.testing.assert_allclose(nearest.mean, KNeighborsRegressor(1).fit(Y, X).predict(new))
    np.testing.assert_array_equal(nearest.covariance, 0.0)


def test_objects_as_observations_and_as_states():
    words, places = ["aaab", "bbba", "abab"] * 4, ["hall", "yard", "room"] * 4
    flt = NearestNeighbor(observation_kernel=Spectrum(2)).fit(places, words)
    assert flt.filter(["bbbb", None, "aaaa"]).mode == ["yard", "yard", "hall"]

    def differing(a, b):
        return sum(x != y for x, y in zip(a, b, strict=True))

    assert NearestNeighbor(metric=differing).fit(places, words).filter(["abaa"]).mode in (["hall"], ["room"])
    with pytest.raises(TypeError, match="pass an observation_kernel, or a metric that is a function"):
        NearestNeighbor().fit(places, words)

    def same(a, b):
        return np.array([[0.1 + (x == y) for y in b] for x in a], dtype=float)

    stay = KNNParticleFilter(
        lambda states, control, rng: states,
        state_kernel=same,
        observation_kernel=Spectrum(2),
        n_neighbors=4,
        n_particles=100,
        random_state=0,
    ).fit(places, words)
    assert stay.filter(["bbba", "bbba"]).mode == ["yard", "yard"]


def test_images_are_compared_by_a_kernel():
    rng = np.random.default_rng(0)
    images = rng.random((30, 4, 4))
    flt = NearestNeighbor(observation_kernel=HistogramIntersection()).fit(np.arange(30.0), images)
    np.testing.assert_array_equal(flt.filter(images[[4, 17]] + 0.001).mean.ravel(), [4.0, 17.0])


def test_without_a_transition_a_gap_keeps_the_last_belief():
    states = np.array([[0.0], [1.0], [2.0]])
    flt = NearestNeighbor().fit(states, states)
    np.testing.assert_array_equal(flt.filter([1.1, None, None]).mean.ravel(), [1.0, 1.0, 1.0])


def test_an_observation_unlike_all_examples_is_rejected_by_kernels():
    states = np.array([[0.0], [1.0], [2.0]])
    flt = KNNRegression(observation_kernel=Gaussian(0.1), n_neighbors=1).fit(states, states)
    with pytest.warns(kmcf.RejectedStepWarning, match="no example observation resembles it"):
        run = flt.filter([1.1, 50.0])
    np.testing.assert_array_equal(run.rejected, [False, True])
    np.testing.assert_array_equal(run.mean.ravel(), [1.0, 1.0])
    assert run.observation_coverage[0] == pytest.approx(np.exp(-0.5))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "n_neighbors = 0"),
        ({"neighbor_weights": "heavy"}, ValueError, "neighbor_weights = 'heavy'"),
        ({"metric": "no such metric"}, ValueError, "no such metric"),
        ({"metric": 3}, TypeError, "metric = 3"),
        ({"observation_kernel": 3}, TypeError, "observation_kernel"),
        ({"n_particles": -1}, ValueError, "n_particles = -1"),
        ({"state_kernel": "precomputed"}, TypeError, "state_kernel='precomputed'"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        KNNRegression(**settings).fit(np.zeros((5, 1)), np.zeros((5, 1)))


def test_a_metric_that_returns_nan_is_an_error():
    with pytest.raises(ValueError, match="the metric returned NaN"):
        NearestNeighbor(metric=lambda a, b: np.nan).fit(np.zeros((5, 1)), np.zeros((5, 1))).filter([0.0])
