"""The rule on particles against its formula."""

import numpy as np
import pytest
from bayes_rules import rule_on_particles
from kernels_by_hand import gaussian_matrix

from kmcf.bayes_rule import Sample
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian


def test_weights_are_the_formula_written_out():
    rng = np.random.default_rng(0)
    X, particles = rng.normal(size=(40, 1)), rng.normal(size=(25, 1))
    Y = X + 0.3 * rng.normal(size=X.shape)
    gamma = rng.dirichlet(np.ones(25))
    observations = KernelFeatures.fit(Gaussian(0.7).on_examples(Y), tolerance=1e-12)
    rule = ParticleRule(Gaussian(0.3).on_examples(X), observations, delta=1e-2, resampler=KeepAll())
    y = np.array([[0.4]])
    k_y = gaussian_matrix(Y, y, 0.7)[:, 0]
    expected = rule_on_particles(k_y, gamma, gaussian_matrix(particles, X, 0.3), gaussian_matrix(Y, Y, 0.7), 1e-2)
    posterior = rule.correct(Sample(particles, gamma), y)
    np.testing.assert_allclose(posterior.weights(), expected / expected.sum(), atol=1e-5)


def test_a_particle_far_from_all_examples_uses_the_nearest_one():
    X = np.array([[0.0], [1.0], [2.0]])
    observations = KernelFeatures.fit(Gaussian(0.5).on_examples(X), tolerance=1e-12)
    rule = ParticleRule(Gaussian(0.01).on_examples(X), observations, delta=1e-2, resampler=KeepAll())
    posterior = rule.correct(Sample(np.array([[0.0], [500.0]]), np.array([0.5, 0.5])), np.array([[2.0]]))
    assert posterior.weights()[1] > 0.9


@pytest.mark.parametrize("background", [0.0, 0.3])
def test_an_infinite_delta_takes_the_similarities_themselves(background):
    """The limit of large finite ones, written out."""
    rng = np.random.default_rng(0)
    X, particles = rng.normal(size=(40, 1)), 2.0 * rng.normal(size=(25, 1))
    Y = X + 0.3 * rng.normal(size=X.shape)
    gamma, y = rng.dirichlet(np.ones(25)), np.array([[0.4]])
    on_states, on_observations = Gaussian(0.3).on_examples(X), Gaussian(0.7).on_examples(Y)
    K = np.exp(-0.5 * ((particles - X.T) / 0.3) ** 2)
    likelihood = K @ np.exp(-0.5 * ((Y - 0.4) / 0.7) ** 2)[:, 0] / K.sum(axis=1)
    expected = gamma * (background + K.max(axis=1) * likelihood if background else likelihood)
    rule = ParticleRule(on_states, on_observations, delta=np.inf, resampler=KeepAll(), background=background)
    np.testing.assert_allclose(rule.correct(Sample(particles, gamma), y).unnormalised, expected, rtol=1e-12)
    features = KernelFeatures.fit(on_observations, tolerance=1e-12)
    nearly = ParticleRule(on_states, features, delta=1e6, resampler=KeepAll(), background=background).correct(
        Sample(particles, gamma), y
    )
    np.testing.assert_allclose(nearly.weights(), expected / expected.sum(), rtol=1e-4)


def test_a_background_bounds_what_one_observation_can_do():
    X = np.linspace(-1.0, 1.0, 21)[:, None]
    rule = ParticleRule(
        Gaussian(0.1).on_examples(X), Gaussian(0.1).on_examples(X), delta=np.inf, resampler=KeepAll(), background=0.25
    )
    particles = np.array([[-1.0], [1.0], [50.0]])  # as observed, looks different, not recorded
    weights = rule.correct(Sample(particles, np.full(3, 1 / 3)), np.array([[-1.0]])).weights()
    assert weights[0] / weights[1] <= 1 + 1 / 0.25
    np.testing.assert_allclose(weights[1], weights[2], rtol=1e-6)
    unlike = rule.correct(Sample(particles, np.array([0.5, 0.3, 0.2])), np.array([[30.0]])).weights()
    np.testing.assert_allclose(unlike, [0.5, 0.3, 0.2])


def test_other_regularisers_unless_only_one_is_infinite():
    X = np.linspace(-1.0, 1.0, 21)[:, None]
    prior, y = Sample(X[::2], np.full(11, 1 / 11)), np.array([[0.3]])
    features = KernelFeatures.fit(Gaussian(0.1).on_examples(X), tolerance=1e-12)
    rule = ParticleRule(Gaussian(0.1).on_examples(X), features, delta=1e-2, resampler=KeepAll())
    other = ParticleRule(Gaussian(0.1).on_examples(X), features, delta=0.5, resampler=KeepAll())
    changed = rule.regularised(1.0, 0.5)
    np.testing.assert_array_equal(changed.correct(prior, y).weights(), other.correct(prior, y).weights())
    assert rule.regularised(1.0, np.inf) is None
