"""How people walk: a velocity that persists for a while, and positions that follow it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray
from kmcf.numerics.random_numbers import Randomness, normal
from kmcf.transitions.base import Transition
from kmcf.transitions.densities import log_normal
from kmcf.transitions.pairs import Pairs


class SteadyWalk(Transition):
    r"""Positions and velocities (x, y, z, v_x, v_y, v_z); h is the time since the step before, told or the control.

    .. math:: v' = e^{-h / \tau} v + s \sqrt{h}\, \eta, \quad p' = p + h v' + r \sqrt{h}\, \xi

    The new velocity is the mean one since the step before, as in recordings whose velocities are differences to the
    step before. :meth:`fit` learns s per axis, and τ; r is a roughness that recorded positions do not show.

    Parameters
    ----------
    memory : float
        τ in seconds.
    agility : float or array (k,)
        s per axis.
    roughness : float
        r.
    """

    name = "steady-walk"

    def __init__(self, memory: float = 30.0, agility: Any = 0.05, roughness: float = 0.13) -> None:
        self.memory = memory
        self.agility = agility
        self.roughness = roughness

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Draw the next velocity, then the position."""
        before = np.asarray(states, dtype=np.float64)
        axes, h = before.shape[1] // 2, _seconds(control, elapsed)
        noise = np.sqrt(h) * np.asarray(normal(rng, before.shape))
        velocity = np.exp(-h / self._value("memory")) * before[:, axes:] + self._noise("agility") * noise[:, axes:]
        position = before[:, :axes] + h * velocity + self._noise("roughness") * noise[:, :axes]
        return np.concatenate([position, velocity], axis=1)

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log density of both normal draws."""
        before, after = np.asarray(previous, dtype=np.float64), np.asarray(next, dtype=np.float64)
        axes, h = before.shape[1] // 2, _seconds(control, elapsed)
        turned = after[:, axes:] - np.exp(-h / self._value("memory")) * before[:, axes:]
        strayed = after[:, :axes] - before[:, :axes] - h * after[:, axes:]
        scales = np.sqrt(h) * self._noise("agility"), np.sqrt(h) * self._noise("roughness")
        return np.asarray(log_normal(turned, scales[0]).sum(axis=1) + log_normal(strayed, scales[1]).sum(axis=1))

    def _learn(self, pairs: Pairs, _trim: float) -> dict[str, Any]:
        axes = pairs.previous.shape[1] // 2
        elapsed = pairs.needed_controls("SteadyWalk").reshape(len(pairs.previous), -1)[:, :1]
        before, after = pairs.previous[:, axes:], pairs.next[:, axes:]
        kept = float(np.sum(before * after) / np.sum(before * before))
        memory = float(np.mean(elapsed)) / -np.log(np.clip(kept, 0.05, 0.99))
        noise = (after - np.exp(-elapsed / memory) * before) / np.sqrt(elapsed)
        return {"memory": memory, "agility": np.sqrt(np.mean(noise**2, axis=0))}


def _seconds(control: Any, elapsed: Any) -> float:
    return float(np.ravel(control)[0]) if elapsed is None else float(elapsed)
