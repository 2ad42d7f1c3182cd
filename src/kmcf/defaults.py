"""What a filter uses where the user chose nothing.

The constants come from a study on the paper's eight synthetic models (200 examples, no tuning per model): robust
scaling of the observations and these values came within a few per cent of per-data-set tuning, and the landscape
around them is flat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.kernels import AsinhScaled, Circular, Columns, Gaussian, Kernel
from kmcf.objects import Objects, describe, is_numeric

STATE_MULTIPLIER = 0.5
PARTICLE_STATE_MULTIPLIER = 0.15
PARTICLE_DELTA = 1e-2
OBSERVATION_MULTIPLIER = 0.7
EPSILON = 1e-3
DELTA_PLAIN = {"kbr": 9e-6, "importance": 1e-3}
DELTA_OTHER = {"kbr": 1e-4, "importance": 1e-2}


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
        raise TypeError(f"the observations are {describe(observations)}: pass an observation_kernel for such objects.")
    return AsinhScaled(Gaussian(multiplier=OBSERVATION_MULTIPLIER))


def default_epsilon(mean_diagonal: float) -> float:
    """ε in units of the state kernel's mean diagonal, so that rescaling the kernel changes nothing."""
    return EPSILON * (mean_diagonal or 1.0)


def default_delta(rule: str, *, plain: bool, mean_diagonal: float) -> float:
    """δ for the default observation kernel (``plain``) or any other, in units of the kernel's mean diagonal.

    The regularised operator is C² for "kbr" and C for "importance", hence the square.
    """
    delta = DELTA_PLAIN[rule] if plain else DELTA_OTHER[rule]
    return delta * (mean_diagonal or 1.0) ** (2 if rule == "kbr" else 1)
