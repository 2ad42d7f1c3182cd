"""Positions that move at nearly constant velocity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.random_numbers import Randomness, normal
from kmcf.transitions.base import Assumed, Transition
from kmcf.transitions.densities import log_normal
from kmcf.transitions.estimation import second_moments
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.states import states_of

ASSUMED = Assumed(1.0)
FEW_MOVES = 10
"""Fewer moves do not tell whether a column holds velocities."""


class NoVelocityError(ValueError):
    """A column of the states that should be the velocity of another is not."""

    def __init__(self, position: int, column: int, message: str) -> None:
        super().__init__(message)
        self.position, self.column = position, column


class ConstantVelocity(Transition):
    r"""Nearly constant velocity: position and velocity, driven by white-noise acceleration.

    States are rows (positions, velocities): (x, y, v_x, v_y) in the plane. Over a time h each axis moves as

    .. math:: p' = p + h v + a, \quad v' = v + b, \quad
              \mathrm{cov}(a, b) = q^2 \begin{pmatrix} h^3/3 & h^2/2 \\ h^2/2 & h \end{pmatrix} ,

    the exact solution of dv = q dW. :meth:`fit` learns one q per axis by maximum likelihood.

    Parameters
    ----------
    diffusion : float or array (d/2,)
        q: standard deviation of the change of velocity in one unit of time. Left out, it is what :meth:`fit` learns;
        until then 1, and a filter that uses it warns.
    step : float, optional
        h where no times are given; learnt from recordings with times, as the median interval. None: the control is the
        time since the previous step.

    Examples
    --------
    >>> still = ConstantVelocity(diffusion=0.0, step=2.0)
    >>> still(np.array([[1.0, 0.5]]), None, np.random.default_rng(0))
    array([[2. , 0.5]])
    """

    name = "constant-velocity"

    def __init__(self, diffusion: float | FloatArray | Sequence[float] = ASSUMED, step: float | None = 1.0) -> None:
        self.diffusion = diffusion
        self.step = step

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Move each position by its velocity, and both by correlated noise."""
        xp = array_namespace(states, rng)
        states = xp.asarray(states)
        axes = _axes(states.shape[1])
        h = self._duration(control, elapsed)
        noise = normal(rng, states.shape) * xp.concatenate([self._diffusion(axes)] * 2)
        first, second = noise[:, :axes], noise[:, axes:]
        # The Cholesky factor of the covariance, written out.
        position = states[:, :axes] + h * states[:, axes:] + xp.sqrt(h**3 / 3.0) * first
        velocity = states[:, axes:] + 0.5 * xp.sqrt(3.0 * h) * first + 0.5 * xp.sqrt(h) * second
        return xp.concatenate([position, velocity], axis=1)

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log density of the normal distribution above."""
        before, after = states_of(previous, "previous"), states_of(next, "next")
        axes = _axes(before.shape[1])
        diffusion = self._diffusion(axes)
        if not np.all(diffusion > 0):
            raise ValueError(f"ConstantVelocity has diffusion = {diffusion}: without noise there is no density.")
        h = self._duration(control, elapsed)
        whitened = _whitened(before, after, h)
        volume = axes * np.log(np.ravel(h) ** 2 / np.sqrt(12.0))  # determinant of the Cholesky factor
        return np.asarray(np.sum(log_normal(whitened, np.tile(diffusion, 2)), axis=1) - volume)

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        axes = _axes(pairs.previous.shape[1])
        if pairs.elapsed is not None:
            elapsed = pairs.elapsed[:, None]
        elif self.step is None:
            elapsed = pairs.needed_controls("ConstantVelocity(step=None)").reshape(len(pairs.previous), -1)[:, :1]
        else:
            elapsed = np.full((len(pairs.previous), 1), self._usual_step())
        if not np.all(elapsed > 0):
            raise ValueError("some of the time steps are not positive.")
        _check_velocities(pairs, elapsed)
        whitened = _whitened(pairs.previous, pairs.next, elapsed)
        moments = [second_moments(whitened[:, [axis, axes + axis]], trim)[0] for axis in range(axes)]
        return {"diffusion": np.sqrt([np.trace(moment) / 2.0 for moment in moments])}

    def _learnt_step(self, pairs: Pairs) -> dict[str, float]:
        return {} if pairs.elapsed is None or self.step is None else {"step": float(np.median(pairs.elapsed))}

    def _duration(self, control: Any, elapsed: Any) -> Any:
        if elapsed is not None or self.step is not None:
            return self._time(elapsed)
        if control is None:
            raise ValueError("ConstantVelocity(step=None) needs the time since the previous step as control.")
        return array_namespace(control).asarray(control).reshape(-1)[0]

    def _diffusion(self, axes: int) -> FloatArray:
        diffusion = self._noise("diffusion")
        if diffusion.ndim > 1 or (diffusion.ndim == 1 and len(diffusion) != axes):
            raise ValueError(f"ConstantVelocity has {diffusion.size} diffusions, but states have {axes} axes.")
        return np.broadcast_to(diffusion, (axes,))


def with_velocities(positions: Any, step: float = 1.0) -> FloatArray:
    """Append velocities (central differences) to recorded positions (T, k), as :class:`ConstantVelocity` needs them.

    Parameters
    ----------
    positions : array (T,) or (T, k)
        In order of time, evenly spaced.
    step : float
        Time between two of them.

    Examples
    --------
    >>> with_velocities([0.0, 1.0, 4.0], step=0.5)
    array([[0., 2.],
           [1., 4.],
           [4., 6.]])
    """
    track = states_of(positions, "positions")
    if len(track) < 2:
        raise ValueError(f"velocities need at least two positions, but got {len(track)}.")
    return np.concatenate([track, np.gradient(track, step, axis=0)], axis=1)


def _check_velocities(pairs: Pairs, h: FloatArray) -> None:
    """Refuse columns that are not velocities: moving by them misses the next position by more than standing still.

    Taking the mean of both velocities, which the exact solution makes the best guess, every velocity worth the name
    passes: the move misses by q h^1.5/√12, where standing still misses by the move itself.
    """
    axes = pairs.previous.shape[1] // 2
    moves = pairs.next[:, :axes] - pairs.previous[:, :axes]
    missed = moves - h * (pairs.previous[:, axes:] + pairs.next[:, axes:]) / 2.0
    for axis in range(axes) if len(moves) >= FEW_MOVES else ():
        if np.sum(missed[:, axis] ** 2) > np.sum(moves[:, axis] ** 2) > 0:
            raise NoVelocityError(
                axis,
                axes + axis,
                f"column {axes + axis} of the states is not the velocity of column {axis}: moving by it misses the "
                "next state by more than not moving at all. ConstantVelocity takes positions, then as many velocities "
                "(per unit of time); kmcf.transitions.with_velocities derives them from positions.",
            )


def _axes(width: int) -> int:
    if width % 2:
        raise ValueError(f"states have {width} columns; ConstantVelocity needs as many velocities as positions.")
    return width // 2


def _whitened(before: FloatArray, after: FloatArray, h: Any) -> FloatArray:
    """Return the noise of the moves, standard normal up to the factor q."""
    axes = before.shape[1] // 2
    first = (after[:, :axes] - before[:, :axes] - h * before[:, axes:]) / np.sqrt(h**3 / 3.0)
    second = (after[:, axes:] - before[:, axes:] - 0.5 * np.sqrt(3.0 * h) * first) / (0.5 * np.sqrt(h))
    return np.concatenate([first, second], axis=1)
