"""Kernel means of normal distributions in closed form, and weighted samples."""

import numpy as np


def gaussian_inner(mean_p, var_p, mean_q, var_q, bandwidth):
    """⟨m_P, m_Q⟩ for one-dimensional normal distributions P, Q and a Gaussian kernel; a point has variance zero."""
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
