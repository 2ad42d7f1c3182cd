"""What the host knows of a compiled step besides its results: the signals that are not computed on the device."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from kmcf.compiled.checks import is_traced
from kmcf.compiled.records import StepResult
from kmcf.numerics.arrays import FloatArray
from kmcf.trust.alarm import Watch
from kmcf.trust.distances import kernel_distance
from kmcf.trust.signals import Running, shift_sizes


class Seen(NamedTuple):
    """How far the observation was from the examples, and running means along the sequence.

    Beliefs carry it outside compiled code only: those that have passed through ``jit`` or ``vmap`` know no distance.
    """

    distance: float = np.nan
    running: Running = Running()
    shift: float = np.nan
    running_observation: FloatArray | None = None
    residual_shift: float = np.nan

    @classmethod
    def after(cls, belief: Any, observation: Any, result: StepResult, watch: Watch | None) -> Seen:
        """Return what is known after one more step, from the belief before it."""
        if watch is None or is_traced((observation, result)) or np.ndim(result.missing) > 0:
            return cls()
        evidence, missing, covered, corrected, mean = jax.device_get(
            (result.evidence, result.missing, result.observation_coverage, result.corrected, result.mean)
        )
        known = belief.seen if hasattr(belief, "seen") else belief.report
        before = known.running
        if missing:
            return cls(running=before, running_observation=known.running_observation)
        estimate = np.ravel(np.asarray(mean, np.float64)) if corrected else None
        look = watch.look(known.running_observation, np.asarray(observation, np.float64)[None], estimate)
        distance = kernel_distance(float(covered)) if np.isnan(look.distance) else look.distance
        running = before.after(distance, float(evidence.innovation), -float(evidence.spread))
        return cls(distance, running, look.shift, look.running, look.residual_shift)


def distances_of(watch: Watch | None, observations: Any, coverage: FloatArray, missing: Any) -> FloatArray:
    """Return the log distances of a batch of observations (B, T, ...) to the examples, NaN where they are missing.

    Parameters
    ----------
    watch : Watch or None
        What knows the examples.
    observations : array (B, T, ...)
        The observations.
    coverage : array (B, T)
        Their similarities to the closest example, for observations that have no raw distance.
    missing : array (B, T)
        Which are missing.
    """
    found = np.full(missing.shape, np.nan)
    if watch is None or missing.all():
        return found
    if watch.distances is None:
        found[~missing] = [kernel_distance(float(value)) for value in coverage[~missing]]
    else:
        found[~missing] = watch.distances.logs(np.asarray(observations, np.float64)[~missing])
    return found


def shifts_of(watch: Watch | None, observations: Any, missing: Any) -> FloatArray:
    """Return how far the running means of a batch of observations are from the examples' mean, (B, T)."""
    found = np.full(missing.shape, np.nan)
    if watch is None or watch.distances is None or missing.all():
        return found
    points = np.full((*missing.shape, len(watch.distances.columns)), np.nan)
    points[~missing] = watch.distances.coordinates(np.asarray(observations, np.float64)[~missing])
    return shift_sizes(points)


def residual_shifts_of(watch: Watch | None, observations: Any, means: FloatArray, corrected: Any) -> FloatArray:
    """Return the running means of how observations differ from those of the examples around the means, (B, T)."""
    found = np.full(corrected.shape, np.nan)
    if watch is None or watch.distances is None or watch.expected is None or not corrected.any():
        return found
    points = np.full((*corrected.shape, len(watch.distances.columns)), np.nan)
    coordinates = watch.distances.coordinates(np.asarray(observations, np.float64)[corrected])
    points[corrected] = watch.expected.residuals(means[corrected].reshape(len(coordinates), -1), coordinates)
    return shift_sizes(points)
