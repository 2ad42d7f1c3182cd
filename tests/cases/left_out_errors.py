"""Errors of made-up beliefs on left-out steps."""

import numpy as np
from scipy.stats import norm

from kmcf.trust.conformal import LEVELS, LeftOutErrors

ARMS = norm.ppf(0.5 + 0.5 * LEVELS)


def overconfident(count, d, rng, shrink=0.4, correlation=0.0):
    """Return errors of beliefs that know their relative, but not their absolute, uncertainty."""
    sd = np.exp(0.5 * rng.normal(size=(count, 1))) * np.linspace(1.0, 3.0, d)
    mixing = np.linalg.cholesky(np.full((d, d), correlation) + (1 - correlation) * np.eye(d))
    errors = sd * (rng.normal(size=(count, d)) @ mixing.T)
    arms = shrink * sd[:, None] * ARMS[:, None]
    scatter = shrink**2 * sd[:, :, None] * sd[:, None] * (mixing @ mixing.T)
    return LeftOutErrors(arms, arms, errors, scatter, errors, np.zeros(count))
