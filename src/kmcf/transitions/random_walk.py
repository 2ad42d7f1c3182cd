"""States that drift without direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.random_numbers import Randomness, normal
from kmcf.transitions.base import Assumed, Transition
from kmcf.transitions.densities import log_normal, log_wrapped_normal
from kmcf.transitions.estimation import second_moments
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.states import states_of

ASSUMED = Assumed(1.0)


class GaussianRandomWalk(Transition):
    r"""Gaussian random walk: :math:`x' = x + \sqrt{\Delta}\, \sigma \circ v`, v standard normal. Controls are not used.

    Δ is the time that passed. :meth:`fit` learns one σ per column: the root mean square of the differences of
    successive states, each divided by √Δ.

    Parameters
    ----------
    scale : float or array (d,)
        σ, per unit of time. Left out, it is what :meth:`fit` learns; until then 1, and a filter that uses it warns.
    angles : sequence of int
        Columns that are angles in radians; they stay in (−π, π].
    step : float, optional
        Δ where no times are given. None: 1, so that σ is per step, until learnt: the median interval.

    Examples
    --------
    >>> walk = GaussianRandomWalk(scale=[0.1, 0.5])
    >>> walk(np.zeros((4, 2)), None, np.random.default_rng(0)).shape
    (4, 2)
    >>> GaussianRandomWalk().fit([[0.0, 1.0, 0.0, -1.0]])
    GaussianRandomWalk(angles=(), scale=[1.], step=None)
    >>> GaussianRandomWalk().fit([[0.0, 2.0, 1.0, -1.0]], times=[[0.0, 4.0, 5.0, 9.0]])
    GaussianRandomWalk(angles=(), scale=[1.], step=4)
    """

    name = "random-walk"

    def __init__(
        self,
        scale: float | FloatArray | Sequence[float] = ASSUMED,
        angles: Sequence[int] = (),
        step: float | None = None,
    ) -> None:
        self.scale = scale
        self.angles = angles
        self.step = step

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Add independent normal steps."""
        xp = array_namespace(states, rng)
        states = xp.asarray(states)
        scale = self._scale(states.shape[1]) * xp.sqrt(self._time(elapsed))
        return wrapped_columns(states + scale * normal(rng, states.shape), self.angles)

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the sum of the columns' normal log densities."""
        steps = states_of(next, "next") - states_of(previous, "previous")
        return log_steps(steps, self._scale(steps.shape[1]) * np.sqrt(self._time(elapsed)), self.angles)

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        steps = wrapped_columns(pairs.next - pairs.previous, self.angles) / np.sqrt(self._time(pairs.elapsed))
        columns = [second_moments(steps[:, [column]], trim)[0] for column in range(steps.shape[1])]
        return {"scale": np.sqrt(np.concatenate(columns)[:, 0])}

    def _scale(self, width: int) -> FloatArray:
        scale = self._noise("scale")
        if scale.ndim > 1 or (scale.ndim == 1 and len(scale) != width):
            raise ValueError(f"GaussianRandomWalk has {scale.size} scales, but states have {width} columns.")
        return np.broadcast_to(scale, (width,))


def log_steps(steps: FloatArray, scale: FloatArray, angles: Sequence[int]) -> FloatArray:
    """Sum the log densities of independent normal columns, some of them on the circle; scales are (d,) or (m, d)."""
    if not np.all(scale > 0):
        raise ValueError(
            f"the standard deviation of a move's noise is {scale}: without noise there is no density. Give a scale "
            "above zero, for jumps of with_recovery, too, or call fit(sequences)."
        )
    turning = {column % steps.shape[1] for column in angles}
    columns = [
        (log_wrapped_normal if column in turning else log_normal)(steps[:, column], scale[..., column])
        for column in range(steps.shape[1])
    ]
    return np.asarray(np.sum(columns, axis=0))
