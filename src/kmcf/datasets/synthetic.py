"""The eight synthetic state-space models of the paper (Table 2), with their true likelihoods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.random_numbers import normal, uniform

PAPER_MODELS = ("1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b")
_STATIONARY_SD = 1.0 / np.sqrt(1.0 - 0.9**2)
_EDGE = 3.0


class Trajectory(NamedTuple):
    """A simulated sequence.

    Examples
    --------
    >>> states, observations, controls = paper_model("1a").simulate(5, random_state=0)
    >>> states.shape, observations.shape, controls
    ((5, 1), (5, 1), None)
    """

    states: FloatArray
    """(T, 1)"""
    observations: FloatArray
    """(T, 1) or (T, 10)"""
    controls: FloatArray | None
    """(T,), or None where the model has none; ``controls[t]`` drove the move to ``states[t]``"""


@dataclass(frozen=True)
class StateSpaceModel:
    """A state-space model that can be simulated and whose likelihood is known.

    Attributes
    ----------
    name : str
        The paper's name.
    initial : callable
        ``(size, rng) -> states``, p_init.
    transition : callable
        ``(states, control, rng) -> states``. Both also take JAX keys and arrays.
    observe : callable
        ``(states, rng) -> observations``.
    log_likelihood : callable
        ``(states, y) -> (m,)``, log p(y | x) with all constants; for oracles and tests, never for the filter.
    controlled : bool
        Whether the transition uses a control.

    Examples
    --------
    >>> model = paper_model("1b")
    >>> model.controlled, model.log_likelihood(np.zeros((2, 1)), np.zeros(1)).shape
    (True, (2,))
    """

    name: str
    initial: Callable[[int, Any], Array]
    transition: Callable[[Array, Any, Any], Array]
    observe: Callable[[FloatArray, np.random.Generator], FloatArray]
    log_likelihood: Callable[[FloatArray, FloatArray], FloatArray]
    controlled: bool

    def simulate(self, length: int, random_state: Any = None) -> Trajectory:
        """Draw a sequence of states, observations and (standard normal) controls."""
        rng = np.random.default_rng(random_state)
        controls = rng.normal(size=length) if self.controlled else None
        states = np.empty((length, 1))
        state = self.initial(1, rng)
        for t in range(length):
            if t > 0:
                state = self.transition(state, None if controls is None else controls[t], rng)
            states[t] = state[0]
        return Trajectory(states, self.observe(states, rng), controls)


def paper_model(name: str) -> StateSpaceModel:
    """Return one of the paper's models, "1a" to "4b".

    1: linear-Gaussian. 2: stochastic volatility. 3: the same with ten-dimensional observations. 4: jumps at the edges
    of [−3, 3] in both state and observation. The models "b" have a control.

    Parameters
    ----------
    name : str
        "1a", "1b", ..., "4b".

    Examples
    --------
    >>> trajectory = paper_model("3b").simulate(50, random_state=0)
    >>> trajectory.states.shape, trajectory.observations.shape, trajectory.controls.shape
    ((50, 1), (50, 10), (50,))
    """
    if name not in PAPER_MODELS:
        raise ValueError(f"unknown model {name!r}; the paper's models are {', '.join(PAPER_MODELS)}.")
    observe, log_likelihood = _OBSERVATION[name[0]]
    jumps = name[0] == "4"
    return StateSpaceModel(
        name=name,
        initial=_uniform_initial if jumps else _stationary_initial,
        transition={"a": _jump, "b": _jump_controlled}[name[1]]
        if jumps
        else {"a": _autoregress, "b": _autoregress_controlled}[name[1]],
        observe=observe,
        log_likelihood=log_likelihood,
        controlled=name[1] == "b",
    )


def _stationary_initial(size: int, rng: Any) -> Array:
    return _STATIONARY_SD * normal(rng, (size, 1))


def _uniform_initial(size: int, rng: Any) -> Array:
    return uniform(rng, (size, 1), -_EDGE, _EDGE)


def _autoregress(states: Array, control: Any, rng: Any) -> Array:
    return 0.9 * states + normal(rng, states.shape, states.dtype)


def _autoregress_controlled(states: Array, control: Any, rng: Any) -> Array:
    return 0.9 * states + (control + normal(rng, states.shape, states.dtype)) / math.sqrt(2.0)


def _jump(states: Array, control: Any, rng: Any) -> Array:
    return _clip_to_edge(states + math.sqrt(2.0) * normal(rng, states.shape, states.dtype))


def _jump_controlled(states: Array, control: Any, rng: Any) -> Array:
    return _clip_to_edge(states + control + normal(rng, states.shape, states.dtype))


def _clip_to_edge(a: Array) -> Array:
    xp = array_namespace(a)
    return xp.where(xp.abs(a) <= _EDGE, a, -_EDGE)


def _observe_linear(states: FloatArray, rng: np.random.Generator) -> FloatArray:
    return states + rng.normal(size=states.shape)


def _observe_volatility(states: FloatArray, rng: np.random.Generator) -> FloatArray:
    return 0.5 * np.exp(states / 2.0) * rng.normal(size=states.shape)


def _observe_volatilities(states: FloatArray, rng: np.random.Generator) -> FloatArray:
    return 0.5 * np.exp(states / 2.0) * rng.normal(size=(len(states), 10))


def _observe_folded(states: FloatArray, rng: np.random.Generator) -> FloatArray:
    b = states + rng.normal(size=states.shape)
    return np.where(np.abs(b) <= _EDGE, b, b - 2.0 * _EDGE * np.sign(b))


def _log_normal(y: FloatArray | float, mean: FloatArray | float, sd: FloatArray | float) -> FloatArray:
    return np.asarray(-0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi))


def _log_linear(states: FloatArray, y: FloatArray) -> FloatArray:
    return _log_normal(np.ravel(y)[0], states[:, 0], 1.0)


def _log_volatility(states: FloatArray, y: FloatArray) -> FloatArray:
    return _log_normal(np.ravel(y)[None, :], 0.0, 0.5 * np.exp(states / 2.0)).sum(axis=1)


def _log_folded(states: FloatArray, y: FloatArray) -> FloatArray:
    """Sum the densities of all b that fold onto y: y itself, y + 6 (if above the edge), y − 6 (if below)."""
    value = float(np.ravel(y)[0])
    sources = [value] if abs(value) <= _EDGE else []
    sources += [value + 2.0 * _EDGE] if value + 2.0 * _EDGE > _EDGE else []
    sources += [value - 2.0 * _EDGE] if value - 2.0 * _EDGE < -_EDGE else []
    logs = np.stack([_log_normal(b, states[:, 0], 1.0) for b in sources])
    return np.logaddexp.reduce(logs, axis=0)


_OBSERVATION = {
    "1": (_observe_linear, _log_linear),
    "2": (_observe_volatility, _log_volatility),
    "3": (_observe_volatilities, _log_volatility),
    "4": (_observe_folded, _log_folded),
}
