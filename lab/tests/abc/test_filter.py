"""The ABC particle filter against weights by hand and, for a small bandwidth, against the exact filter."""

import numpy as np
import pytest

import kmcf
from kmcf.baselines import ParticleFilter
from kmcf.filter.results.belief import Belief
from kmcf.herding.resampling import KeepAll
from kmcf_lab.abc.filter import AbcParticleFilter, AbcRule, MoveAndSimulate, SimulatedSample
from kmcf_lab.kalman import kalman

MODEL = kmcf.datasets.paper_model("1a")


def fitted(**settings):
    train = MODEL.simulate(30, random_state=0)
    flt = AbcParticleFilter(MODEL.transition, MODEL.observe, MODEL.initial, random_state=0, **settings)
    return flt.fit(train.states, train.observations)


def test_weights_by_hand():
    prior = SimulatedSample(np.zeros((3, 1)), np.array([0.5, 0.25, 0.25]), np.array([[1.0], [2.0], [4.0]]))
    posterior = AbcRule(2.0, KeepAll()).correct(prior, np.array([[1.0]]))
    expected = np.array([0.5, 0.25 * np.exp(-1 / 8), 0.25 * np.exp(-9 / 8)])
    np.testing.assert_allclose(posterior.weights(), expected / expected.sum(), rtol=1e-12)
    assert posterior.weight_sum == pytest.approx(expected.sum())


def test_summaries_are_compared_instead():
    prior = SimulatedSample(np.zeros((2, 1)), np.array([0.5, 0.5]), np.array([[1.0, 5.0], [-2.0, 0.0]]))
    posterior = AbcRule(1.0, KeepAll(), lambda y: y[:, :1] ** 2).correct(prior, np.array([[-1.0, 9.0]]))
    expected = np.array([1.0, np.exp(-0.5 * 9.0)])
    np.testing.assert_allclose(posterior.weights(), expected / expected.sum(), rtol=1e-12)


def test_every_particle_simulates_an_observation_of_where_it_moved():
    def move(belief, control, rng):
        return SimulatedSample(belief.states + 1.0, belief.weights, None)

    predict = MoveAndSimulate(move, lambda states, rng: 10.0 * states)
    belief = Belief(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    sample = predict(belief, None, np.random.default_rng(0))
    np.testing.assert_array_equal(sample.observations, [[10.0], [20.0]])


def test_a_step_simulates_once_per_particle():
    asked = []

    def observe(states, rng):
        asked.append(len(states))
        return MODEL.observe(states, rng)

    flt = fitted(n_particles=70).set_params(observe=observe)
    flt.fit(np.zeros((2, 1)), np.zeros((2, 1))).filter(np.zeros((5, 1)))
    assert asked == [70] * 5


def test_a_small_bandwidth_and_many_simulations_approach_the_exact_filter():
    observations = MODEL.simulate(20, random_state=3).observations
    exact = kalman(observations).means
    close = fitted(bandwidth=0.1, n_particles=20_000).filter(observations).mean[:, 0]
    wide = fitted(bandwidth=3.0, n_particles=20_000).filter(observations).mean[:, 0]
    assert np.sqrt(np.mean((close - exact) ** 2)) < 0.06
    assert np.sqrt(np.mean((wide - exact) ** 2)) > 0.3


def test_a_bandwidth_is_further_noise_on_the_observation():
    """The average of the closeness over simulations is the likelihood of an observation with variance 1 + h²."""
    observations = MODEL.simulate(10, random_state=4).observations

    def noisier(states, y):
        return -0.5 * (y[0] - states[:, 0]) ** 2 / (1.0 + 0.8**2)

    oracle = ParticleFilter(MODEL.transition, noisier, MODEL.initial, n_particles=20_000, random_state=1)
    abc = fitted(bandwidth=0.8, n_particles=20_000)
    np.testing.assert_allclose(abc.filter(observations).mean, oracle.filter(observations).mean, atol=0.08)


@pytest.mark.parametrize(("name", "value"), [("bandwidth", 0.0), ("n_particles", 0), ("resample_threshold", -1.0)])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        fitted(**{name: value})
