"""Slow formulas that the fast engines are compared with."""

import numpy as np

from kmcf.kernels import AsinhScaled, Gaussian


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


def algorithm_1(G_X, G_Y, m_pi, k_y, epsilon, delta):
    """Algorithm 1 with explicit inverses, as printed."""
    n = len(G_X)
    Lambda = np.diag(np.linalg.inv(G_X + n * epsilon * np.eye(n)) @ m_pi)
    LG = Lambda @ G_Y
    return LG @ np.linalg.inv(LG @ LG + delta * np.eye(n)) @ Lambda @ k_y


def feature_rule(U, V, c, psi, epsilon, delta, rule="kbr"):
    """The rule on explicit features: Algorithm 1 for kernels that are inner products of these features."""
    n = len(U)
    prior = np.linalg.inv(U @ U.T + n * epsilon * np.eye(n)) @ (U @ c)
    if rule == "importance":
        prior = np.maximum(prior, 0.0)
        return np.diag(prior) @ V @ np.linalg.inv(V.T @ np.diag(prior) @ V + delta * np.eye(V.shape[1])) @ psi
    LG = np.diag(prior) @ V @ V.T
    return LG @ np.linalg.inv(LG @ LG + delta * np.eye(n)) @ (prior * (V @ psi))
