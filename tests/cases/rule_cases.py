"""Problems for one application of a Bayes' rule."""

import numpy as np
from bayes_rules import prior_coefficients
from kernels_by_hand import gaussian_matrix

from kmcf.kernels import AsinhScaled, Gaussian


def rule_problem(seed, n=25, observation_columns=1, examples="distinct"):
    """Examples, a weighted prior sample and an observation, with the kernel matrices Algorithm 1 takes."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n, 1))
    observations = np.sin(states) + 0.5 * rng.normal(size=(n, observation_columns))
    if examples == "duplicated":
        states, observations = np.repeat(states[: n // 5], 5, axis=0), np.repeat(observations[: n // 5], 5, axis=0)
    if examples == "constant":
        observations = np.tile(observations[:1], (n, 1))
    particles, weights = rng.normal(0.5, 0.5, size=(12, 1)), rng.dirichlet(np.ones(12))
    y = observations[3:4] + 0.1
    width = np.sqrt(observation_columns)
    return {
        "states": states,
        "observations": observations,
        "particles": particles,
        "particle_weights": weights,
        "y": y,
        "observation_bandwidth": width,
        "G_X": gaussian_matrix(states, states, 0.7),
        "G_Y": gaussian_matrix(observations, observations, width),
        "m_pi": gaussian_matrix(states, particles, 0.7) @ weights,
        "k_y": gaussian_matrix(observations, y, width)[:, 0],
    }


def prior_of(problem, epsilon):
    """Algorithm 1, line 3, for one of these problems."""
    return prior_coefficients(problem["m_pi"], problem["G_X"], epsilon)


def make_examples(n, columns=1, seed=0):
    """States and observations of the stochastic-volatility kind, one or several coordinates."""
    rng = np.random.default_rng(seed)
    states = rng.normal(scale=2.0, size=(n, 1))
    observations = 0.5 * np.exp(states / 2.0) * rng.normal(size=(n, columns))
    return states, observations


def fitted_kernels(states, observations):
    state_kernel = Gaussian(multiplier=0.5).fit(states).on_examples(states)
    observation_kernel = AsinhScaled(Gaussian(multiplier=0.7)).fit(observations).on_examples(observations)
    return state_kernel, observation_kernel
