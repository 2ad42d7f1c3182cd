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
from kmcf.trust.signals import Running, shift_sizes, size_of


class Seen(NamedTuple):
    """How far the observation was from the examples, and running means along the sequence.

    Beliefs carry it outside compiled code only: those that have passed through ``jit`` or ``vmap`` know no distance.
    """

    distance: float = np.nan
    running: Running = Running()
    shift: float = np.nan
    running_observation: FloatArray | None = None

    @classmethod
    def after(cls, belief: Any, observation: Any, result: StepResult, watch: Watch | None) -> Seen:
        """Return what is known after one more step, from the belief before it."""
        if watch is None or is_traced((observation, result)) or np.ndim(result.missing) > 0:
            return cls()
        evidence, missing, covered = jax.device_get((result.evidence, result.missing, result.observation_coverage))
        known = belief.seen if hasattr(belief, "seen") else belief.report
        before, mean = known.running, known.running_observation
        if missing:
            return cls(running=before, running_observation=mean)
        seen = np.asarray(observation, np.float64)[None]
        distance, mean = watch.look(mean, seen)
        if np.isnan(distance):
            distance = kernel_distance(float(covered))
        running = before.after(distance, float(evidence.innovation), -float(evidence.spread))
        return cls(distance, running, np.nan if mean is None else float(size_of(mean)), mean)


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
