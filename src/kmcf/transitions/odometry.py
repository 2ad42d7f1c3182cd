"""The odometry motion model: turn, drive, turn, each with noise around what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.poses import STANDING, moved, relative_motion
from kmcf.numerics.random_numbers import Randomness, normal
from kmcf.transitions.base import Transition
from kmcf.transitions.densities import log_normal, log_wrapped_normal
from kmcf.transitions.estimation import factor, variance_weights
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.states import check_poses, states_of


class OdometryMotion(Transition):
    r"""Sampled odometry motion model of Probabilistic Robotics (Thrun, Burgard, Fox), Table 5.6.

    States are poses (x, y, heading). The control is the motion that the odometry measured, as (rotation δ₁, translation
    τ, rotation δ₂), or as the odometry's poses before and after: an array (2, 3) or six numbers. The true motion of
    each state is

    .. math:: \hat\delta_1 &= \delta_1 - \varepsilon(\alpha_1 \delta_1^2 + \alpha_2 \tau^2 + r^2) \\
              \hat\tau &= \tau - \varepsilon(\alpha_3 \tau^2 + \alpha_4 (\delta_1^2 + \delta_2^2) + s^2) \\
              \hat\delta_2 &= \delta_2 - \varepsilon(\alpha_1 \delta_2^2 + \alpha_2 \tau^2 + r^2)

    with independent zero-mean normal ε of the *variance* in brackets. The book has no r and s; they are zero unless
    given or learnt, and describe how much a robot moves while its odometry reports no motion.

    That is for a move that takes one unit of time. Over a time Δ, the squares of the motion are divided by Δ and r² and
    s² multiplied with it, so that variances grow in proportion to the time driven at a speed, and a long move is as
    uncertain as the short ones that it consists of.

    Odometry may also be wrong by a factor: wheels that are smaller than assumed, or commands that a robot carries out
    only in part. Measured rotations and translations are first multiplied with a factor each, 1 unless given or learnt.

    :meth:`fit` learns all of them from recorded poses and controls: the factors by least squares, where they differ
    from 1 by more than their error, and the other six by maximum likelihood: successive poses give the true motion, and
    the squared differences to the measured one are explained by the variances above. Of the rotations only
    the sum is used, the change of heading. Over short distances real robots slip sideways, and reading that as two
    opposite turns (as the model would have to) makes the heading much too uncertain.

    Parameters
    ----------
    alpha1, alpha2 : float
        Variance of the rotations per squared rotation, and per squared metre.
    alpha3, alpha4 : float
        Variance of the translation per squared metre, and per squared rotation.
    rotation_floor, translation_floor : float
        r in radians and s in metres.
    step : float, optional
        Δ where no times are given. None: 1, which is the book's model, until learnt: the median interval.
    rotation_factor, translation_factor : float
        By how much the true motion is larger than the measured one.

    Examples
    --------
    >>> exact = OdometryMotion(alpha1=0, alpha2=0, alpha3=0, alpha4=0)
    >>> exact(np.zeros((1, 3)), [np.pi / 2, 2.0, 0.0], np.random.default_rng(0)).round(2)
    array([[0.  , 2.  , 1.57]])
    >>> exact(np.zeros((1, 3)), [[5.0, 5.0, 0.0], [6.0, 5.0, 0.1]], np.random.default_rng(0)).round(2)
    array([[1. , 0. , 0.1]])
    """

    name = "odometry"

    def __init__(
        self,
        alpha1: float = 0.1,
        alpha2: float = 0.1,
        alpha3: float = 0.1,
        alpha4: float = 0.1,
        rotation_floor: float = 0.0,
        translation_floor: float = 0.0,
        step: float | None = None,
        rotation_factor: float = 1.0,
        translation_factor: float = 1.0,
    ) -> None:
        self.alpha1 = alpha1
        self.alpha2 = alpha2
        self.alpha3 = alpha3
        self.alpha4 = alpha4
        self.rotation_floor = rotation_floor
        self.translation_floor = translation_floor
        self.step = step
        self.rotation_factor = rotation_factor
        self.translation_factor = translation_factor

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Draw a motion for each pose and make it."""
        xp = array_namespace(states, control, rng)
        states = xp.asarray(states)
        check_poses(states, "OdometryMotion")
        motion = self._corrected(measured_motion(control))
        # Table 5.6, lines 5 to 7: independent noise on the three parts of the motion.
        noise = normal(rng, states.shape) * xp.sqrt(self._variances(motion, self._time(elapsed)))
        return moved(states, motion - noise)

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log density of poses, summed over driving forwards and backwards and over full turns."""
        before, after = states_of(previous, "previous"), states_of(next, "next")
        check_poses(before, "OdometryMotion")
        motion = self._corrected(measured_motion(control))
        sd = np.sqrt(self._variances(motion, self._time(elapsed)))
        if not np.all(sd > 0):
            raise ValueError(
                f"OdometryMotion adds no noise to the motion {motion}, so there is no density; give it floors."
            )
        forms = []
        for made in both_motions(before, after):
            turns = log_wrapped_normal(made[:, [0, 2]] - motion[..., [0, 2]], sd[..., [0, 2]]).sum(axis=1)
            # dx dy = |translation| d(translation) d(rotation)
            area = np.log(np.maximum(np.abs(made[:, 1]), STANDING))
            forms.append(turns + log_normal(made[:, 1] - motion[..., 1], sd[..., 1]) - area)
        return np.asarray(np.logaddexp(*forms))

    def _corrected(self, motion: Array) -> Array:
        xp = array_namespace(motion)
        turning, driving = self._noise("rotation_factor"), self._noise("translation_factor")
        return motion * xp.asarray([turning, driving, turning])

    def _variances(self, motion: Array, time: Any) -> Array:
        xp = array_namespace(motion, time)
        squares = motion**2 / time
        first, way, second = squares[..., 0], squares[..., 1], squares[..., 2]
        alpha = [self._noise(f"alpha{number}") for number in range(1, 5)]
        passed = time[..., 0] if np.ndim(time) else time
        turning, driving = (self._noise(f"{name}_floor") ** 2 * passed for name in ("rotation", "translation"))
        return xp.stack(
            [
                alpha[0] * first + alpha[1] * way + turning,
                alpha[2] * way + alpha[3] * (first + second) + driving,
                alpha[0] * second + alpha[1] * way + turning,
            ],
            axis=-1,
        )

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        check_poses(pairs.previous, "OdometryMotion")
        given = pairs.needed_controls("OdometryMotion")
        motion = measured_motion(given)
        forms = np.stack(both_motions(pairs.previous, pairs.next))
        closer = np.argmin(np.abs(wrapped_difference(forms[..., 0] - motion[:, 0])), axis=0)
        made = forms[closer, np.arange(len(motion))]
        time = self._time(pairs.elapsed)
        turned = motion[:, 0] + motion[:, 2]
        headings = wrapped_difference(pairs.next[:, 2] - pairs.previous[:, 2] - turned)
        turning, driving = factor(turned, turned + headings, trim), factor(motion[:, 1], made[:, 1], trim)
        motion = motion * [turning, driving, turning]
        squares, ones = motion**2 / time, np.ones(len(motion)) * np.ravel(time)
        turns = squares[:, 0] + squares[:, 2]
        headings = wrapped_difference(headings + turned - motion[:, 0] - motion[:, 2])
        design = np.stack([turns, 2.0 * squares[:, 1], 2.0 * ones], axis=1)
        alpha1, alpha2, still = variance_weights(design, headings**2, trim)
        design = np.stack([squares[:, 1], turns, ones], axis=1)
        alpha3, alpha4, slip = variance_weights(design, (made[:, 1] - motion[:, 1]) ** 2, trim)
        names = [f"alpha{number}" for number in range(1, 5)]
        names += ["rotation_floor", "translation_floor", "rotation_factor", "translation_factor"]
        values = (alpha1, alpha2, alpha3, alpha4, np.sqrt(still), np.sqrt(slip), turning, driving)
        return {name: float(value) for name, value in zip(names, values, strict=True)}


def measured_motion(control: Any) -> Array:
    """Read a control as motions (..., 3): as they are, or from poses before and after (..., 2, 3) or (..., 6).

    Examples
    --------
    >>> measured_motion([0.0, 0.0, 0.0, 1.0, 0.0, 0.2]).round(2)
    array([0. , 1. , 0.2])
    """
    if control is None:
        raise ValueError("OdometryMotion needs a control: (rotation, translation, rotation), or two poses.")
    xp = array_namespace(control)
    given = xp.asarray(control)
    if given.ndim and given.shape[-1] == 6:
        given = given.reshape((*given.shape[:-1], 2, 3))
    if given.ndim >= 2 and given.shape[-2:] == (2, 3):
        given = relative_motion(given[..., 0, :], given[..., 1, :])
    elif given.ndim == 0 or given.shape[-1] != 3:
        raise ValueError(
            f"the control has the shape {given.shape}; OdometryMotion needs (rotation, translation, rotation), or the "
            "odometry's poses before and after, (2, 3)."
        )
    if xp is np and not np.all(np.isfinite(given)):
        raise ValueError(f"the control {np.asarray(control)} is not finite; give zeros where odometry is missing.")
    return given


def both_motions(before: FloatArray, after: FloatArray) -> list[FloatArray]:
    """Return the two motions that lead from each pose to the next: one forwards and one backwards."""
    one = relative_motion(before, after)
    return [one, np.stack([one[:, 0] + np.pi, -one[:, 1], one[:, 2] - np.pi], axis=1)]
