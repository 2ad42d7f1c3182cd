"""The filter against filters that know the model: Kalman on the linear models, a particle filter on all eight."""

import numpy as np
import pytest
from known_models import bootstrap_particle_filter, kalman, rmse

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian


def deviations_from_kalman(name, n, seeds, length=50, **settings):
    """Average over seeds of the deviations of posterior mean and variance, and the variance's bias."""
    model = paper_model(name)
    mean, variance, bias = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng((seed, 7))
        X = model.initial(n, rng)
        Y = model.observe(X, rng)
        test = model.simulate(length, random_state=(seed, 8))
        flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed, **settings)
        run = flt.fit(X, Y).filter(test.observations, test.controls)
        true_mean, true_variance, _ = kalman(test.observations, test.controls)
        mean.append(rmse(run.mean[:, 0], true_mean))
        variance.append(np.mean(np.abs(run.covariance[:, 0, 0] - true_variance)))
        bias.append(np.mean(run.covariance[:, 0, 0] - true_variance))
    return np.mean(mean), np.mean(variance), np.mean(bias)


@pytest.mark.parametrize("name", ["1a", "1b"])
def test_mean_and_variance_approach_the_kalman_filter(name):
    """With four times the examples the average deviation falls by a good part, down to a small share of the sd."""
    kernels = {"state_kernel": Gaussian(multiplier=0.5), "observation_kernel": Gaussian(multiplier=0.7)}
    results = [
        deviations_from_kalman(name, n, seeds, epsilon=1e-3, delta=9e-6, **kernels)
        for n, seeds in ((50, 8), (200, 8), (800, 4))
    ]
    for k in (0, 1):
        small, medium, large = (result[k] for result in results)
        assert medium < 0.8 * small
        assert large < 0.8 * medium
    mean, variance, bias = results[-1]
    assert mean < 0.18  # the posterior sd is 0.77 (1a) and 0.68 (1b)
    assert variance < 0.18  # the posterior variance is 0.60 and 0.47
    assert abs(bias) < 0.06


@pytest.mark.parametrize("rule", ["kbr", "importance"])
def test_untuned_defaults_are_close_to_the_kalman_filter(rule):
    mean, variance, _ = deviations_from_kalman("1a", 300, 4, rule=rule)
    assert mean < 0.3
    assert variance < 0.35


def test_the_kalman_oracle_solves_its_riccati_equation():
    """The oracle itself against a closed form: the stationary posterior variance of 1a and 1b."""
    for controls, q in ((None, 1.0), (np.zeros(200), 0.5)):
        variances = kalman(np.zeros(200), controls).variances
        # v = p / (p + 1), p = 0.81 v + q  =>  0.81 v² + (0.19 + q) v - q = 0
        a, b = 0.81, 0.19 + q
        closed = (-b + np.sqrt(b * b + 4 * a * q)) / (2 * a)
        assert abs(variances[-1] - closed) < 1e-12


BOUNDS = {"1a": 1.35, "1b": 1.25, "2a": 1.3, "2b": 1.4, "3a": 1.8, "3b": 1.5, "4a": 1.2, "4b": 1.35}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDS)
def test_untuned_defaults_are_decent_on_every_model(name):
    """RMSE relative to a particle filter that knows the likelihood; and clearly better than seeing nothing."""
    model = paper_model(name)
    ours, oracle, blind = [], [], []
    for seed in range(2):
        train = model.simulate(200, random_state=(seed, 0))
        test = model.simulate(150, random_state=(seed, 1))
        flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
        flt.fit(train.states, train.observations)
        ours.append(rmse(flt.filter(test.observations, test.controls).mean, test.states))
        blind.append(rmse(flt.filter([None] * 150, test.controls).mean, test.states))
        oracle.append(rmse(bootstrap_particle_filter(model, test.observations, test.controls, size=800), test.states))
    assert np.mean(ours) < BOUNDS[name] * np.mean(oracle)
    assert np.mean(ours) < 0.95 * np.mean(blind)


@pytest.mark.parametrize("name", ["1a", "1b"])
def test_intervals_hold_nearly_what_they_promise(name):
    """With 800 examples the 95 % intervals hold the true state about 95 % of the time."""
    model = paper_model(name)
    inside = []
    for seed in range(3):
        train, test = model.simulate(800, random_state=(seed, 0)), model.simulate(300, random_state=(seed, 1))
        flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
        run = flt.fit(train.states, train.observations).filter(test.observations, test.controls)
        inside.append((run.interval[:, 0] <= test.states) & (test.states <= run.interval[:, 1]))
        assert (run.interval[:, 1] >= run.interval[:, 0]).all()
    assert 0.91 <= np.mean(inside) <= 0.98
