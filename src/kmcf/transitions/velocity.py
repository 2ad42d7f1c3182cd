"""The velocity motion model: a robot commanded to drive along an arc."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace, positive_or_one
from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.poses import STANDING
from kmcf.numerics.random_numbers import Randomness, normal
from kmcf.transitions.base import Transition
from kmcf.transitions.densities import log_normal, log_wrapped_normal
from kmcf.transitions.estimation import variance_weights
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.states import check_poses, states_of


class VelocityMotion(Transition):
    r"""Sampled velocity motion model of Probabilistic Robotics (Thrun, Burgard, Fox), Table 5.3.

    States are poses (x, y, heading). The control is (v, ω), or (v, ω, h) with the time h it lasts; without h it lasts
    for the time that passed. The robot drives

    .. math:: \hat v = v + \varepsilon(\alpha_1 v^2 + \alpha_2 \omega^2 + s^2), \quad
              \hat\omega = \omega + \varepsilon(\alpha_3 v^2 + \alpha_4 \omega^2 + r^2), \quad
              \hat\gamma = \varepsilon(\alpha_5 v^2 + \alpha_6 \omega^2 + r^2)

    on an arc (straight where ω̂ = 0) and turns by a further :math:`\hat\gamma h`; ε is normal with the *variance* in
    brackets. The book has no r and s; they are zero unless given or learnt, and describe how much a robot
    moves that was commanded to stand still.

    :meth:`fit` learns all from recorded poses and controls by maximum likelihood, as :class:`OdometryMotion` does: how
    much the heading varies from its changes alone, and which share of that is ω̂ and which γ̂ from the directions driven.

    Parameters
    ----------
    alpha1, alpha2, alpha3, alpha4, alpha5, alpha6 : float
        The book's noise parameters.
    step : float
        How long a control lasts, where neither it nor times say so; learnt from recordings with times, as the median
        interval.
    rotation_floor, translation_floor : float
        r in radians and s in metres, both per unit of time.

    Examples
    --------
    >>> exact = VelocityMotion(0, 0, 0, 0, 0, 0)
    >>> exact(np.zeros((1, 3)), [np.pi / 2, np.pi / 2], np.random.default_rng(0)).round(2)
    array([[1.  , 1.  , 1.57]])
    """

    name = "velocity"

    def __init__(
        self,
        alpha1: float = 0.1,
        alpha2: float = 0.1,
        alpha3: float = 0.1,
        alpha4: float = 0.1,
        alpha5: float = 0.1,
        alpha6: float = 0.1,
        step: float = 1.0,
        rotation_floor: float = 0.0,
        translation_floor: float = 0.0,
    ) -> None:
        self.alpha1 = alpha1
        self.alpha2 = alpha2
        self.alpha3 = alpha3
        self.alpha4 = alpha4
        self.alpha5 = alpha5
        self.alpha6 = alpha6
        self.step = step
        self.rotation_floor = rotation_floor
        self.translation_floor = translation_floor

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Draw velocities for each pose and drive."""
        xp = array_namespace(states, control, rng)
        states = xp.asarray(states)
        check_poses(states, "VelocityMotion")
        command, h = self._commanded(control, elapsed)
        # Table 5.3, lines 2 to 4.
        driven = command + normal(rng, states.shape) * xp.sqrt(self._variances(command))
        turn = driven[:, 1] * h
        # Lines 5 and 6 written with the chord of the arc, which has no division by ω.
        chord = driven[:, 0] * h * xp.sinc(0.5 * turn / np.pi)
        direction = states[:, 2] + 0.5 * turn
        heading = wrapped_difference(states[:, 2] + turn + driven[:, 2] * h)
        return xp.stack(
            [states[:, 0] + chord * xp.cos(direction), states[:, 1] + chord * xp.sin(direction), heading], axis=1
        )

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log density of poses, summed over arcs driven forwards and backwards, each of at most one turn."""
        before, after = states_of(previous, "previous"), states_of(next, "next")
        check_poses(before, "VelocityMotion")
        command, h = self._commanded(control, elapsed)
        sd = np.sqrt(self._variances(command))
        if not np.all(sd > 0):
            raise ValueError(
                f"VelocityMotion adds no noise to the control {command}, so there is no density; give it floors."
            )
        forms = []
        for driven, volume in _arcs(before, after, h):
            parts = log_normal(driven[:, :2] - command[..., :2], sd[..., :2]).sum(axis=1)
            parts += log_wrapped_normal((driven[:, 2] - command[..., 2]) * h, sd[..., 2] * h)
            forms.append(parts - np.log(volume))
        return np.asarray(np.logaddexp(*forms))

    def _commanded(self, control: Any, elapsed: Any) -> tuple[Array, Any]:
        """Return (v, ω, 0) and the time it lasts."""
        if control is None:
            raise ValueError("VelocityMotion needs a control: (v, ω), or (v, ω, time).")
        xp = array_namespace(control)
        given = xp.asarray(control)
        if given.ndim == 0 or given.shape[-1] not in (2, 3):
            raise ValueError(f"the control has the shape {given.shape}; VelocityMotion needs (v, ω) or (v, ω, time).")
        if xp is np and not np.all(np.isfinite(given)):
            raise ValueError(f"the control {given} is not finite; give zeros where nothing was commanded.")
        passed = self._time(elapsed)
        h = given[..., 2] if given.shape[-1] == 3 else passed[..., 0] if np.ndim(passed) else passed
        if xp is np and not np.all(h > 0):
            raise ValueError(f"the control {given} lasts {h}; times must be positive.")
        return xp.stack([given[..., 0], given[..., 1], xp.zeros_like(given[..., 0])], axis=-1), h

    def _learnt_step(self, pairs: Pairs) -> dict[str, float]:
        return {} if pairs.elapsed is None else {"step": float(np.median(pairs.elapsed))}

    def _variances(self, command: Array) -> Array:
        xp = array_namespace(command)
        v, w = command[..., 0] ** 2, command[..., 1] ** 2
        alpha = [self._noise(f"alpha{number}") for number in range(1, 7)]
        floors = [self._noise(f"{name}_floor") ** 2 for name in ("translation", "rotation", "rotation")]
        return xp.stack([alpha[2 * i] * v + alpha[2 * i + 1] * w + floors[i] for i in range(3)], axis=-1)

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        check_poses(pairs.previous, "VelocityMotion")
        command, h = self._commanded(pairs.needed_controls("VelocityMotion"), pairs.elapsed)
        forms = np.stack([driven for driven, _ in _arcs(pairs.previous, pairs.next, h)])
        closer = np.argmin(np.abs(forms[..., 1] - command[:, 1]), axis=0)
        error = forms[closer, np.arange(len(command))] - command
        v, w, none, ones = command[:, 0] ** 2, command[:, 1] ** 2, np.zeros(len(command)), np.ones(len(command))
        alpha1, alpha2, driving = variance_weights(np.stack([v, w, ones], axis=1), error[:, 0] ** 2, trim)
        headings = wrapped_difference((error[:, 1] + error[:, 2]) * h) / h
        *sums, turning = variance_weights(np.stack([v, w, 2.0 * ones], axis=1), headings**2, trim)
        rows = np.concatenate([np.stack([v, w, none, none, ones], axis=1), np.stack([none, none, v, w, ones], axis=1)])
        each = variance_weights(rows, np.concatenate([error[:, 1], error[:, 2]]) ** 2, trim)[:4].reshape(2, 2)
        whole = each.sum(axis=0)
        shares = np.where(whole > 0, each / positive_or_one(whole), 0.5)
        alpha = (shares * np.array(sums)).ravel()
        learnt = {f"alpha{number}": float(value) for number, value in enumerate((alpha1, alpha2, *alpha), start=1)}
        return learnt | {"rotation_floor": float(np.sqrt(turning)), "translation_floor": float(np.sqrt(driving))}


def _arcs(before: FloatArray, after: FloatArray, h: Any) -> list[tuple[FloatArray, FloatArray]]:
    """Return the velocities (v, ω, γ) that lead from pose to pose, with the volume element of (x, y, heading)."""
    way = after[:, :2] - before[:, :2]
    chord = np.maximum(np.hypot(way[:, 0], way[:, 1]), STANDING)
    bearing = wrapped_difference(np.arctan2(way[:, 1], way[:, 0]) - before[:, 2])
    turned = after[:, 2] - before[:, 2]
    arcs = []
    for half, sign in ((bearing, 1.0), (wrapped_difference(bearing + np.pi), -1.0)):
        bend = np.maximum(np.sinc(half / np.pi), 1e-12)  # a full turn has no chord
        rest = wrapped_difference(turned - 2.0 * half) / h
        driven = np.stack([sign * chord / (h * bend), 2.0 * half / h + 0.0 * rest, rest], axis=1)
        arcs.append((driven, 0.5 * chord * bend * h**3))
    return arcs
