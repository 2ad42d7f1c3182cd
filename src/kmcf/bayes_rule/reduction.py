"""As few observation features as accuracy allows, found by trying (``tolerance="auto"``).

Kernels on high-dimensional or structured observations have kernel matrices of nearly full rank, but what a posterior
over *states* needs of them is little: the directions of the observation features that depend on the state, and a few
others that those interact with. Comparing posteriors shows how many: under priors concentrated around their states,
example observations are corrected with all features and with a growing number of directions, until the posteriors
agree.
"""

from __future__ import annotations

import numpy as np

from kmcf.bayes_rule.base import LEAST_SIMILARITY
from kmcf.bayes_rule.factors import KernelFeatures, prior_factor
from kmcf.bayes_rule.rotation import informative_directions
from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray
from kmcf.numerics.linalg import solve_regularised_square, weighted_gram

PROBES = 8
FEWEST = 32
CHANGE = 0.02
"""Largest change of a probe's posterior mean, in the state's RKHS and in units of the posterior's spread there."""


def reduce_observations(
    states: KernelFeatures, observations: KernelFeatures, *, epsilon: float, delta: float
) -> KernelFeatures:
    """Return the fewest observation features with which posteriors (rule "kbr") hardly change, or all of them."""
    n, q = observations.rows.shape
    if q <= 2 * FEWEST:
        return observations
    spread = np.linspace(0, n - 1, PROBES).astype(np.intp)
    probes = spread[_reached(states, spread) & _reached(observations, spread)]
    if not len(probes):
        return observations
    priors = _priors_around(states, probes, epsilon)
    wanted = _posterior_features(states.rows, observations.rows, priors, probes, delta)
    directions = informative_directions(observations.rows, states.rows)
    size = FEWEST
    while size <= 0.8 * q:
        rows = observations.rows @ directions[:size].T
        found = _posterior_features(states.rows, rows, priors, probes, delta)
        if _largest_change(wanted, found, states) <= CHANGE:
            return observations.reduced(directions[:size])
        size = size * 3 // 2
    return observations


def _reached(features: KernelFeatures, indices: IntArray) -> BoolArray:
    """Say which examples have features at all: with few pivots some may be out of reach."""
    return np.sum(features.rows[indices] ** 2, axis=1) > LEAST_SIMILARITY * features.largest


def _priors_around(states: KernelFeatures, probes: IntArray, epsilon: float) -> list[FloatArray]:
    """Return λ for priors concentrated around some example states: examples weighted by similarity to each."""
    U = states.rows
    factor = prior_factor(U.T @ U, len(U), epsilon)
    priors = []
    for probe in probes:
        weights = np.maximum(U @ U[probe], 0.0)
        priors.append(U @ factor.solve(U.T @ (weights / weights.sum())))
    return priors


def _posterior_features(
    U: FloatArray, V: FloatArray, priors: list[FloatArray], probes: IntArray, delta: float
) -> list[FloatArray]:
    posteriors = []
    for probe, prior in zip(probes, priors, strict=True):
        C = weighted_gram(V, prior)
        weights = prior * (V @ solve_regularised_square(C, delta, C @ V[probe]))
        posteriors.append(U.T @ weights / (weights.sum() or 1.0))  # few directions may leave nothing of an observation
    return posteriors


def _largest_change(wanted: list[FloatArray], found: list[FloatArray], states: KernelFeatures) -> float:
    """Compare embeddings; the spread of a posterior in the RKHS is √(E k(x, x) − ‖m‖²)."""
    changes = []
    for a, b in zip(wanted, found, strict=True):
        spread = float(np.sqrt(max(states.largest - float(a @ a), 1e-2 * states.largest)))
        changes.append(float(np.linalg.norm(a - b)) / spread)
    return max(changes)
