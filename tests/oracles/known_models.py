"""Filters that know the model: the paper's models 1a and 1b solved exactly, any model by its likelihood."""

import math
from typing import NamedTuple

import numpy as np


class Kalman(NamedTuple):
    """What the Kalman filter says, one entry per step."""

    means: np.ndarray
    variances: np.ndarray
    evidence: np.ndarray
    """Density of each observation given those before; NaN where it is missing."""


def kalman(observations, controls=None):
    """Solve x' = 0.9 x + (u +) noise, y = x + noise, started in the stationary law; NaN is missing."""
    drift, noise = (0.0, 1.0) if controls is None else (1.0 / math.sqrt(2.0), 0.5)
    mean, variance = 0.0, 1.0 / (1.0 - 0.81)
    steps = []
    for t, y in enumerate(np.ravel(observations)):
        if t > 0:
            mean = 0.9 * mean + (0.0 if controls is None else drift * controls[t])
            variance = 0.81 * variance + noise
        evidence = math.nan
        if not math.isnan(y):
            total = variance + 1.0
            evidence = math.exp(-((y - mean) ** 2) / (2.0 * total)) / math.sqrt(2.0 * math.pi * total)
            gain = variance / total
            mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
        steps.append((mean, variance, evidence))
    return Kalman(*np.array(steps).T)


def bootstrap_particle_filter(model, observations, controls, size=3000, seed=0):
    """Posterior means by sequential importance resampling with the true likelihood, multinomial at every step."""
    rng = np.random.default_rng(seed)
    particles = model.initial(size, rng)
    means = []
    for t, y in enumerate(observations):
        if t > 0:
            particles = model.transition(particles, None if controls is None else controls[t], rng)
        logs = model.log_likelihood(particles, y)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        means.append(weights @ particles)
        particles = particles[rng.choice(size, size=size, p=weights)]
    return np.array(means)


def rmse(estimates, truth):
    """Root mean squared error."""
    return float(np.sqrt(np.mean((np.asarray(estimates) - np.asarray(truth)) ** 2)))


def walk_filtered(observations, times, scale, noise, start):
    """Return the means of the Kalman filter of a random walk of variance scale² per unit of time, seen with noise."""
    mean, variance, before, means = 0.0, start**2, times[0], []
    for y, time in zip(observations, times, strict=True):
        variance += scale**2 * (time - before)
        gain = variance / (variance + noise**2)
        mean, variance, before = mean + gain * (y - mean), (1.0 - gain) * variance, time
        means.append(mean)
    return np.array(means)


def two_sensors_filtered(first, second, noises, coefficient=0.9, scale=0.6, start=1.2):
    """Means and variances of the Kalman filter of x' = coefficient x + scale · noise, seen by two sensors.

    ``first`` and ``second`` are observations x + noise, independent given x, with standard deviations ``noises``; NaN
    where a sensor was silent. The first step makes no move; x₁ has standard deviation ``start``.
    """
    mean, variance, steps = 0.0, start**2, []
    for t, said in enumerate(zip(first, second, strict=True)):
        if t > 0:
            mean, variance = coefficient * mean, coefficient**2 * variance + scale**2
        for y, noise in zip(said, noises, strict=True):
            if not math.isnan(y):
                gain = variance / (variance + noise**2)
                mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
        steps.append((mean, variance))
    means, variances = np.array(steps).T
    return means, variances


def autoregressive_likelihood(observations, drift, scale, noise=1.0, start=1.0 / (1.0 - 0.9**2)):
    """Return the log likelihood of x' = drift x + scale ε, y = x + noise ε by the Kalman filter; NaN is missing."""
    mean, variance, total = 0.0, start, 0.0
    for t, y in enumerate(np.ravel(observations)):
        if t > 0:
            mean, variance = drift * mean, drift**2 * variance + scale**2
        if not math.isnan(y):
            spread = variance + noise**2
            total -= 0.5 * (math.log(2.0 * math.pi * spread) + (y - mean) ** 2 / spread)
            mean, variance = mean + variance / spread * (y - mean), variance * noise**2 / spread
    return total
