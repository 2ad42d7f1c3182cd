"""Kernels that a filter uses if the user chose none.

The constants come from a study on the paper's eight synthetic models (200 examples, no tuning per model): robust
scaling of the observations and these values came within a few per cent of per-data-set tuning, and the landscape
around them is flat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.kernels.circular import Circular
from kmcf.kernels.columns import AsinhScaled, Columns
from kmcf.kernels.kernel import Kernel
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.objects import Objects, describe, is_numeric

STATE_MULTIPLIER = 0.5
PARTICLE_STATE_MULTIPLIER = 0.15
OBSERVATION_MULTIPLIER = 0.7


def default_state_kernel(states: Objects, angles: Sequence[int] = (), multiplier: float = STATE_MULTIPLIER) -> Kernel:
    """Gaussian at half the median distance; angle columns get a circular kernel of their own."""
    if not is_numeric(states):
        raise TypeError(f"the states are {describe(states)}: pass a state_kernel for such objects.")
    if len(angles) == 0:
        return Gaussian(multiplier=multiplier)
    circular = Columns(Circular(multiplier=multiplier), list(angles))
    straight = [j for j in range(int(np.prod(states.shape[1:]))) if j not in angles]
    if not straight:
        return circular
    return Columns(Gaussian(multiplier=multiplier), straight) * circular


def default_observation_kernel(observations: Objects) -> Kernel:
    """Gaussian on asinh-scaled columns at 0.7 of the median distance."""
    if not is_numeric(observations):
        text = " (Numbers that are text must be turned into numbers first.)" if _has_text(observations) else ""
        raise TypeError(
            f"the observations are {describe(observations)}: pass an observation_kernel for such objects.{text}"
        )
    return AsinhScaled(Gaussian(multiplier=OBSERVATION_MULTIPLIER))


def _has_text(objects: Objects) -> bool:
    """Say whether the first object is a row with text in it, as tables with a wrong column have."""
    first = objects[0] if len(objects) else None
    return isinstance(first, list | tuple | np.ndarray) and any(isinstance(value, str) for value in first)
