"""The Gaussian-process filter against predictive densities and the Kalman filter."""

import numpy as np
import pytest
from known_models import kalman
from scipy import stats

from kmcf.baselines import GPParticleFilter
from kmcf.datasets import paper_model

MODEL = paper_model("1a")


def test_the_gaussian_process_likelihood_is_the_predictive_density():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    Y = np.hstack([np.sin(X), X**2]) + 0.2 * rng.normal(size=(60, 2))
    flt = GPParticleFilter(
        lambda states, control, rng: states, n_particles=80, resample_threshold=0.0, random_state=0
    ).fit(X, Y)
    start, y = flt.start(), np.array([0.3, 0.5])
    rows = (start.states - X.mean(axis=0)) / X.std(axis=0)
    logs = np.zeros(80)
    for j in range(2):
        mean, sd = flt.regressors_[j].predict(rows, return_std=True)
        logs += stats.norm.logpdf(y[j], mean, sd)
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(flt.step(start, y).weights, weights / weights.sum(), rtol=1e-3, atol=1e-8)


def test_the_gaussian_process_filter_is_nearly_the_kalman_filter_on_its_own_ground():
    train, test = MODEL.simulate(300, random_state=0), MODEL.simulate(60, random_state=1)
    flt = GPParticleFilter(MODEL.transition, MODEL.initial, random_state=0).fit(train.states, train.observations)
    means = kalman(test.observations).means
    assert np.sqrt(np.mean((flt.filter(test.observations).mean[:, 0] - means) ** 2)) < 0.25


def test_dimensions_that_say_nothing_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    Y = np.hstack([X + 0.1 * rng.normal(size=X.shape), np.full((40, 1), 3.0)])
    Y[5, 0] = np.nan
    flt = GPParticleFilter(MODEL.transition, n_particles=200, random_state=0).fit(X, Y)
    assert list(flt.regressors_) == [0]
    run = flt.filter(np.array([[0.5, 3.0], [0.5, 9.0], [0.5, np.nan], [np.nan, 3.0]]))
    assert (np.abs(run.mean[:3, 0] - 0.5) < 0.3).all()
    assert not run.missing.any()
    assert abs(run.mean[3, 0] - 0.9 * run.mean[2, 0]) < 0.3  # nothing learnt from the constant dimension


def test_subsets_are_what_they_say():
    train = MODEL.simulate(200, random_state=0)
    flt = GPParticleFilter(MODEL.transition, n_examples=50, n_hyperparameter_examples=20, random_state=0)
    flt.fit(train.states, train.observations)
    assert flt.regressors_[0].X_train_.shape == (20, 1)
    test = MODEL.simulate(30, random_state=1)
    assert np.sqrt(np.mean((flt.filter(test.observations).mean - test.states) ** 2)) < 1.3


def test_the_variance_multiplier_widens():
    train = MODEL.simulate(100, random_state=0)
    spread = [
        GPParticleFilter(MODEL.transition, variance_multiplier=m, n_particles=2000, random_state=0)
        .fit(train.states, train.observations)
        .filter([0.0])
        .covariance[0, 0, 0]
        for m in (1.0, 4.0)
    ]
    assert spread[1] > 1.5 * spread[0]


def test_gaussian_processes_need_vectors():
    with pytest.raises(TypeError, match=r"the observations are a list.*need vectors of numbers"):
        GPParticleFilter(MODEL.transition).fit(np.zeros((3, 1)), ["a", "b", "c"])


@pytest.mark.slow
def test_restarts_find_no_worse_hyperparameters_and_all_examples_may_be_used():
    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, size=(600, 1))
    Y = np.sin(6 * X) + 0.3 * rng.normal(size=X.shape)  # a long length scale with much noise is a second optimum
    found = []
    for restarts in (0, 3):
        flt = GPParticleFilter(
            MODEL.transition, n_hyperparameter_examples=None, n_restarts=restarts, n_particles=50, random_state=2**40
        ).fit(X, Y)
        assert flt.regressors_[0].X_train_.shape == (600, 1)
        found.append(flt.regressors_[0].log_marginal_likelihood_value_)
    assert found[1] >= found[0] - 1e-6
    assert GPParticleFilter(MODEL.transition).n_hyperparameter_examples == 500


@pytest.mark.parametrize("restarts", [-1, 1.5, True, None])
def test_restarts_are_counted(restarts):
    train = MODEL.simulate(20, random_state=0)
    with pytest.raises(ValueError, match=r"n_restarts = .*0 or a positive integer"):
        GPParticleFilter(MODEL.transition, n_restarts=restarts).fit(train.states, train.observations)
