"""Neighbour regression and the nearest example, against scikit-learn."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

import kmcf
from kmcf.baselines import KNNParticleFilter, KNNRegression, NearestNeighbor
from kmcf.kernels import Gaussian, HistogramIntersection, Spectrum


def test_vectors_with_gaps():
    rows = np.array([[0.0, 0.0], [5.0, 1.0], [9.0, 2.0]])
    flt = NearestNeighbor(metric="nan_euclidean").fit(np.arange(3.0), rows)
    np.testing.assert_array_equal(flt.filter(np.array([[np.nan, 0.9], [8.0, np.nan]])).mean.ravel(), [1.0, 2.0])
    with pytest.raises(ValueError, match="partly NaN"):
        NearestNeighbor(metric=lambda a, b: abs(a - b).max()).fit(np.arange(3.0), rows).filter(
            np.array([[np.nan, 0.9]])
        )


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
