"""Formulas written out a second time, slowly and literally, for the tests to compare with."""

from __future__ import annotations

import numpy as np


def gaussian_matrix(a, b, bandwidth):
    """exp(−‖a − b‖² / 2σ²), entry by entry."""
    return np.array([[np.exp(-np.sum((x - y) ** 2) / (2.0 * bandwidth**2)) for y in b] for x in a])


def gaussian_inner(mean_p, var_p, mean_q, var_q, bandwidth):
    """Closed form of ⟨m_P, m_Q⟩ for one-dimensional Gaussians P, Q and a Gaussian kernel."""
    total = bandwidth**2 + var_p + var_q
    return bandwidth / np.sqrt(total) * np.exp(-((mean_p - mean_q) ** 2) / (2.0 * total))


def gaussian_quadrature(mean, sd, size=40):
    """Points and positive weights that represent N(mean, sd²): Gauss–Hermite, exact for smooth functions."""
    points, weights = np.polynomial.hermite_e.hermegauss(size)
    return (mean + sd * points)[:, None], weights / weights.sum()


def signed_weights(size, rng):
    """Random weights of both signs that sum to one."""
    weights = rng.normal(size=size)
    return (weights - weights.mean()) * 0.5 + 1.0 / size


def algorithm_1(k_y, m_pi, G_X, G_Y, epsilon, delta):
    """Kernel Bayes' Rule, line by line, with explicit inverses."""
    n = len(k_y)
    Lambda = np.diag(np.linalg.inv(G_X + n * epsilon * np.eye(n)) @ m_pi)
    LG = Lambda @ G_Y
    return LG @ np.linalg.inv(LG @ LG + delta * np.eye(n)) @ Lambda @ k_y


def importance_rule(k_y, m_pi, G_X, G_Y, epsilon, delta):
    """Importance-weighted rule in its symmetric form: w = √Λ₊ (√Λ₊ G_Y √Λ₊ + δI)⁻¹ √Λ₊ k_Y."""
    n = len(k_y)
    prior = np.linalg.inv(G_X + n * epsilon * np.eye(n)) @ m_pi
    root = np.diag(np.sqrt(np.where(prior > 0, prior, 0.0)))
    return root @ np.linalg.inv(root @ G_Y @ root + delta * np.eye(n)) @ root @ k_y


def algorithm_4(mean, kernel, candidates, size):
    """Kernel herding, line by line: ``mean`` and ``kernel`` are functions of single points."""
    picks = []
    for p in range(1, size + 1):
        values = [mean(z) - sum(kernel(z, candidates[j]) for j in picks) / p for z in candidates]
        picks.append(int(np.argmax(values)))
    return picks


class DiscreteProblem:
    """A finite state and observation space where Bayes' rule is a table.

    The examples are all pairs (x, y), repeated ``COUNTS[x, y]`` times, so that p(y | x) is known exactly; the prior
    differs from the frequencies of the states among the examples. The kernels are 1[x = x'] and 1[y = y'].
    """

    COUNTS = np.array([[6, 3, 1], [2, 5, 5], [1, 0, 7]])
    PRIOR = np.array([0.2, 0.7, 0.1])

    def __init__(self):
        pairs = [(x, y) for x in range(3) for y in range(3) for _ in range(self.COUNTS[x, y])]
        self.states = np.array([[float(x)] for x, _ in pairs])
        self.observations = np.array([[float(y)] for _, y in pairs])
        self.size = len(pairs)
        self.likelihood = self.COUNTS / self.COUNTS.sum(axis=1, keepdims=True)

    @staticmethod
    def same(a, b):
        """1[a = b]."""
        return (a == b.T).astype(float)

    def posterior(self, y):
        """Bayes' rule."""
        joint = self.PRIOR * self.likelihood[:, y]
        return joint / joint.sum()

    def regularised(self, y, epsilon, delta, rule):
        """What the kernel rules give in closed form at finite ε and δ, summed over the examples of each state."""
        counts = self.COUNTS.sum(axis=1)
        prior = self.PRIOR * counts / (counts + self.size * epsilon)
        joint = prior * self.likelihood[:, y]
        evidence = float(np.sum(joint))
        return joint * (evidence / (evidence**2 + delta) if rule == "kbr" else 1.0 / (evidence + delta))

    def mass(self, weights):
        """Total weight of each state."""
        return np.array([weights[self.states[:, 0] == x].sum() for x in range(3)])


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


def literal_prior(problem, epsilon):
    """Algorithm 1, line 3: the diagonal of Λ."""
    n = len(problem["k_y"])
    return np.linalg.inv(problem["G_X"] + n * epsilon * np.eye(n)) @ problem["m_pi"]
