"""Linear motion with normal noise; autoregressions as a special case."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.random_numbers import Randomness, normal
from kmcf.transitions.affine import Affine
from kmcf.transitions.base import Transition
from kmcf.transitions.estimation import second_moments
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.states import states_of

_ROUNDS = 10


class LinearGaussian(Transition):
    r"""Linear-Gaussian motion: :math:`x' = A x + b + B u + v`, v normal with covariance Q.

    :meth:`fit` learns Q, and those of A, b and B that are None, by least squares (maximum likelihood). Controls are
    used if ``control_matrix`` is given or was learnt.

    This describes one step, of which there is no half: over a time Δ the states make round(Δ / ``step``) steps, at
    least one, each with the same control. From recordings with times it learns by the moves that took one step.

    Parameters
    ----------
    matrix : array (d, d), optional
        A. None: the identity until learnt.
    covariance : array (d, d), optional
        Q, positive semi-definite. None: the identity until learnt.
    offset : array (d,), optional
        b. None: zero until learnt.
    control_matrix : array (d, c), optional
        B. None: zero until learnt.
    step : float, optional
        Time that a step takes. None: 1 until learnt: the median interval.

    Examples
    --------
    >>> rotation = LinearGaussian(matrix=[[0.0, -1.0], [1.0, 0.0]], covariance=np.zeros((2, 2)))
    >>> rotation(np.array([[1.0, 0.0]]), None, np.random.default_rng(0))
    array([[0., 1.]])
    """

    name = "linear-gaussian"

    def __init__(
        self,
        matrix: Any = None,
        covariance: Any = None,
        offset: Any = None,
        control_matrix: Any = None,
        step: float | None = None,
    ) -> None:
        self.matrix = matrix
        self.covariance = covariance
        self.offset = offset
        self.control_matrix = control_matrix
        self.step = step

    @classmethod
    def autoregressive(cls, coefficients: Any, scale: float = 1.0) -> Self:
        r"""Return the autoregression :math:`x_t = \sum_k a_k x_{t-k} + \sigma v` in companion form.

        Its states are (x_t, x_{t−1}, ..., x_{t−p+1}); :func:`lagged` makes them from a recorded series, and
        ``LinearGaussian().fit(lagged(series, p))`` learns the coefficients.

        Examples
        --------
        >>> LinearGaussian.autoregressive([0.5, 0.2]).matrix.tolist()
        [[0.5, 0.2], [1.0, 0.0]]
        """
        row = np.atleast_1d(np.asarray(coefficients, dtype=np.float64))
        if row.ndim != 1:
            raise ValueError(f"coefficients have the shape {row.shape}; one number per lag is needed.")
        matrix = np.eye(len(row), k=-1)
        matrix[0] = row
        covariance = np.zeros_like(matrix)
        covariance[0, 0] = scale**2
        return cls(matrix=matrix, covariance=covariance)

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Apply A, b and B, and add normal noise."""
        xp = array_namespace(states, rng)
        states = xp.asarray(states)
        width = states.shape[1]
        once = Affine(self._square("matrix", width), self._shift(width, control), self._square("covariance", width))
        if elapsed is None:
            return once.mean(states) + normal(rng, states.shape) @ xp.asarray(_root(once.covariance).T)
        whole = once.repeated(self._steps(elapsed))
        return whole.mean(states) + normal(rng, states.shape) @ _root(whole.covariance).T

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the normal log density; an error if Q is singular (companion form), since there is none then."""
        before, after = states_of(previous, "previous"), states_of(next, "next")
        width = before.shape[1]
        shift = np.broadcast_to(self._shift(width, control), before.shape)
        steps = np.broadcast_to(1 if elapsed is None else self._steps(elapsed), len(before))
        logs = np.empty(len(before))
        for count in np.unique(steps):
            rows = steps == count
            once = Affine(self._square("matrix", width), shift[rows], self._square("covariance", width))
            whole = once.repeated(int(count))
            logs[rows] = _log_normal(after[rows] - whole.mean(before[rows]), whole.covariance)
        return logs

    def _shift(self, width: int, control: Any) -> Array:
        """Return b + B u, as a row for all states or one for each."""
        xp = array_namespace(control)
        offset = self._value("offset")
        shift = xp.zeros((1, width)) if offset is None else xp.asarray(np.ravel(offset))[None]
        effect = self._value("control_matrix")
        if effect is None:
            return shift
        if control is None:
            raise ValueError("LinearGaussian has a control_matrix, but the step has no control.")
        effect = np.asarray(effect, dtype=np.float64).reshape(width, -1)
        given = xp.asarray(control).reshape(-1, effect.shape[1])  # one control for all states, or one for each
        return shift + given @ xp.asarray(effect.T)

    def _steps(self, elapsed: Any) -> Any:
        """Return how many whole steps a time is."""
        xp = array_namespace(elapsed)
        count = xp.maximum(xp.round(self._time(elapsed) / self._usual_step()), 1)
        return count[..., 0].astype(int) if np.ndim(count) else count.astype(int)

    def _square(self, name: str, width: int) -> FloatArray:
        value = self._value(name)
        if value is None:
            return np.eye(width)
        square = np.atleast_2d(np.asarray(value, dtype=np.float64))
        if square.shape != (width, width):
            raise ValueError(f"LinearGaussian has a {name} of shape {square.shape}, but states have {width} columns.")
        return square

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        pairs = self._single_steps(pairs)
        width, count = pairs.previous.shape[1], len(pairs.previous)
        driven = None if pairs.controls is None else pairs.controls.reshape(count, -1)
        parts = {"matrix": pairs.previous, "offset": np.ones((count, 1))}
        if driven is not None:
            parts["control_matrix"] = driven
        target, free = pairs.next, {}
        for name, inputs in parts.items():
            if getattr(self, name) is None:
                free[name] = inputs
            else:
                known = np.asarray(getattr(self, name), dtype=np.float64).reshape(width, -1)
                target = target - inputs @ known.T
        inputs = np.concatenate([*free.values(), np.empty((count, 0))], axis=1)
        if count <= inputs.shape[1]:
            raise ValueError(f"{count} moves are too few to learn {inputs.shape[1]} coefficients per column.")
        coefficients, covariance = _regression(inputs, target, trim)
        learnt: dict[str, Any] = {}
        for name, part in free.items():
            learnt[name], coefficients = coefficients[: part.shape[1]].T, coefficients[part.shape[1] :]
        if "offset" in learnt:
            learnt["offset"] = learnt["offset"][:, 0]
        return learnt | {"covariance": covariance}

    def _single_steps(self, pairs: Pairs) -> Pairs:
        """Return the moves that took one step."""
        if pairs.elapsed is None:
            return pairs
        step = self._learnt_step(pairs).get("step", self.step or 1.0)
        chosen = pairs.chosen(np.maximum(np.round(pairs.elapsed / step), 1) == 1)
        if not len(chosen.previous):
            raise ValueError(f"LinearGaussian learns from moves that take one step, but none took about {step:g}.")
        return chosen


def lagged(series: Any, order: int) -> FloatArray:
    """Return the states (x_t, x_{t−1}, ..., x_{t−p+1}) of an autoregression of order p from a series (T,).

    Parameters
    ----------
    series : array (T,)
        The series, in order of time.
    order : int
        p.

    Examples
    --------
    >>> lagged([1.0, 2.0, 3.0, 4.0], 2).tolist()
    [[2.0, 1.0], [3.0, 2.0], [4.0, 3.0]]
    """
    values = np.ravel(np.asarray(series, dtype=np.float64))
    if not 1 <= order <= len(values):
        raise ValueError(f"order = {order!r}; it must be at least 1 and at most the length {len(values)}.")
    return np.lib.stride_tricks.sliding_window_view(values, order)[:, ::-1].copy()


def _regression(inputs: FloatArray, target: FloatArray, trim: float) -> tuple[FloatArray, FloatArray]:
    """Regress by least squares, repeatedly without the rows that fit worst."""
    kept = np.ones(len(inputs), dtype=bool)
    for _ in range(_ROUNDS):
        coefficients: FloatArray = np.asarray(np.linalg.lstsq(inputs[kept], target[kept])[0], dtype=np.float64)
        covariance, chosen = second_moments(target - inputs @ coefficients, trim)
        if np.array_equal(chosen, kept):
            break
        kept = chosen
    return coefficients, 0.5 * (covariance + covariance.T)


def _log_normal(residuals: FloatArray, covariance: FloatArray) -> FloatArray:
    try:
        factor = np.tril(cho_factor(covariance, lower=True)[0])
    except np.linalg.LinAlgError:
        raise ValueError("the covariance is singular: the next state has no density.") from None
    whitened = solve_triangular(factor, residuals.T, lower=True)
    constant = np.sum(np.log(np.diag(factor))) + 0.5 * residuals.shape[1] * np.log(2.0 * np.pi)
    return np.asarray(-0.5 * np.sum(whitened**2, axis=0) - constant)


def _root(covariance: Array) -> Array:
    """Return L with L Lᵀ = Q for a positive semi-definite Q, which need not be invertible."""
    xp = array_namespace(covariance)
    if xp is not np:  # of a number of steps that is known only when compiled code runs
        values, vectors = xp.linalg.eigh(covariance)
        return vectors * xp.sqrt(xp.maximum(values, 0.0))
    if not np.allclose(covariance, covariance.T):
        raise ValueError("the covariance is not symmetric.")
    values, vectors = np.linalg.eigh(covariance)
    if values[0] < -1e-8 * max(values[-1], 0.0) or values[-1] < 0:
        raise ValueError(f"the covariance has the negative eigenvalue {values[0]:.3g}.")
    return vectors * np.sqrt(np.maximum(values, 0.0))
