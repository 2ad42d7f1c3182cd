"""The numerical core of the rule on particles, over the array namespace: NumPy and JAX run these same lines.

:mod:`kmcf.bayes_rule.particles` has the formulas. All functions are for one filter; JAX adds the batch by ``vmap``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule.core import Algebra, FeatureMap
from kmcf.bayes_rule.evidence import Evidence, log_evidence
from kmcf.numerics.arrays import Array, array_namespace


class ParticleCore(NamedTuple):
    """All numbers that the rule needs besides its kernels."""

    observations: FeatureMap | None
    """From similarities with the observation pivots to features; None for δ = ∞."""
    rows: Array
    """V, (n, q); for δ = ∞ the kernel matrix G_Y, (n, n)."""
    mean_row: Array
    """The mean of the rows, (q,)."""
    delta: Any
    largest_state: Any
    """The largest similarity of an example state with itself."""
    largest_observation: Any
    """The largest similarity of an example observation with itself."""
    background: Any = None
    """φ; None: particles borrow the likelihood of the nearest example."""


class Surroundings(NamedTuple):
    """The examples around the particles."""

    similarities: Array
    """Of examples and particles, each particle's divided by its largest, (n, m)."""
    totals: Array
    """Their sums, (m,): A_ji = similarities_ij / totals_j."""
    closest: Array
    """Logarithms of the largest similarities, (m,)."""
    coefficients: Array
    """λ, (n,)."""


class Likelihood(NamedTuple):
    """What one observation says."""

    at_examples: Array
    """(n,)"""
    perfect: Any
    """The likelihood of an observation that fits perfectly."""
    coverage: Any
    evidence: Evidence
    features: Array | None
    """ψ(y), (q,); None for δ = ∞."""


def surroundings(logs: Array, weights: Array) -> Surroundings:
    """Return which examples are around particles.

    Parameters
    ----------
    logs : array (n, m)
        Logarithms of the similarities of examples and particles.
    weights : array (m,)
        The particles' weights γ.

    Examples
    --------
    >>> around = surroundings(np.log([[0.3, 0.1], [0.1, 0.1]]), np.array([0.5, 0.5]))
    >>> around.coefficients.round(3)  # the first particle is nearer to the first example
    array([0.625, 0.375])
    """
    closest = logs.max(axis=0)
    similarities = _exponentials(logs - closest)
    totals = similarities.sum(axis=0)
    return Surroundings(similarities, totals, closest, similarities @ (weights / totals))


def likelihood_of(core: ParticleCore, coefficients: Array, similarities: Array, algebra: Algebra) -> Likelihood:
    """Return what an observation says about the examples, for a prior with weights λ on them.

    Parameters
    ----------
    core : ParticleCore
        The fitted numbers.
    coefficients : array (n,)
        λ.
    similarities : array
        Of the observation with the pivots; for δ = ∞ with all example observations, (n,).
    algebra : Algebra
        The operations of the array library.
    """
    largest = core.largest_observation
    if core.observations is None:
        expected = coefficients @ (core.rows @ coefficients)
        evidence = log_evidence(coefficients @ similarities, similarities.mean(), expected)
        covered = (similarities.max() / largest).clip(0.0, 1.0)
        return Likelihood(similarities, largest, covered, evidence, None)
    psi = core.observations.features(similarities, algebra)
    mean = coefficients @ core.rows  # Vᵀλ
    evidence = log_evidence(mean @ psi, core.mean_row @ psi, mean @ mean)
    C = algebra.weighted_gram(core.rows, coefficients.clip(0.0))  # signed weights mean nothing here
    at_examples = core.rows @ algebra.solve_shifted(C, core.delta, psi)
    covered = core.observations.coverage(similarities.max(initial=0.0))
    return Likelihood(at_examples, largest / (largest + core.delta), covered, evidence, psi)


def reweigh(core: ParticleCore, around: Surroundings, seen: Likelihood, weights: Array) -> Array:
    """Return the particles' weights times their likelihoods, (m,), not normalised."""
    if core.background is None:
        return weights * _averages(around, seen)
    return weights * (core.background * seen.perfect + reached_averages(core, around, seen))


def reached_averages(core: ParticleCore, around: Surroundings, seen: Likelihood) -> Array:
    """Return c_j Σ_i A_ji (V z)_i: average likelihoods of the examples around particles, less where none is near."""
    return _exponentials(around.closest + 0.0) / core.largest_state * _averages(around, seen)


def _averages(around: Surroundings, seen: Likelihood) -> Array:
    return (seen.at_examples @ around.similarities).clip(0.0) / around.totals


def state_coverage(core: ParticleCore, closest: Array, weights: Array) -> Array:
    """Average the particles' similarities to their closest example states, given the logarithms of these."""
    share = abs(weights) / abs(weights).sum()
    return ((_exponentials(closest + 0.0) @ share) / core.largest_state).clip(0.0, 1.0)


def _exponentials(values: Array) -> Array:
    """Return eˣ; NumPy overwrites the values, which saves a pass over memory."""
    xp = array_namespace(values)
    return np.exp(values, out=values) if xp is np else xp.exp(values)
