"""How states move, learnt from the training sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.transitions import GaussianRandomWalk, OdometryMotion, with_recovery
from kmcf.transitions.base import Transition
from kmcf_lab.localize.problem import LocalizationFold, Settings
from kmcf_lab.localize.walking import SteadyWalk

_VARIANCES = ("alpha1", "alpha2", "alpha3", "alpha4")
_DEVIATIONS = ("rotation_floor", "translation_floor")
_WALKING = ("agility", "roughness")
_FACTORS = ("rotation_factor", "translation_factor")


def fitted_motion(settings: Settings, fold: LocalizationFold) -> Transition:
    """Learn the transition of a fold from its training sequences, widen its noise, and let it jump occasionally."""
    motion = clone(settings.transition)
    if settings.learn_transition:
        # One step of a walk is one step of the filter, which is not told times.
        states, controls = ([getattr(part, name) for part in fold.training] for name in ("states", "controls"))
        motion.fit(states, None if controls[0] is None else controls)
    motion = inflated(motion, settings.inflation)
    return with_recovery(motion, fold.states, settings.recovery) if settings.recovery else motion


def inflated(motion: Transition, factor: float) -> Transition:
    """Return the same motion with ``factor`` times the standard deviation of its noise.

    Examples
    --------
    >>> inflated(GaussianRandomWalk(0.5), 3.0).parameters()["scale"]
    1.5
    """
    if factor == 1.0:
        return motion
    values: dict[str, Any] = motion.parameters()
    if isinstance(motion, GaussianRandomWalk):
        scale = np.asarray(values["scale"]) * factor
        return GaussianRandomWalk(**{**values, "scale": float(scale) if scale.ndim == 0 else scale})
    if isinstance(motion, SteadyWalk):
        return SteadyWalk(**{**values, **{name: np.asarray(values[name]) * factor for name in _WALKING}})
    if isinstance(motion, OdometryMotion):
        wider = {name: values[name] * factor**2 for name in _VARIANCES}
        deviations = {name: values[name] * factor for name in _DEVIATIONS}
        return OdometryMotion(**wider, **deviations, **{name: values[name] for name in _FACTORS})
    raise ValueError(f"inflation = {factor}, but the noise of {type(motion).__name__} cannot be widened; set it to 1.")
