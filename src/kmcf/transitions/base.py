"""What a ready-made transition is: a callable with stored parameters that can be learnt from recorded sequences."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.random_numbers import Randomness
from kmcf.support.estimators import Estimator
from kmcf.transitions.pairs import Pairs, read_pairs


class Assumed(float):
    """The default of a parameter that depends on the user's units, so that it is a guess; filters warn of it."""


class Transition(Estimator, ABC):
    """Base class: ``transition(states, control, rng, elapsed)`` draws where each state goes next.

    ``rng`` is a NumPy Generator, or a JAX key with JAX arrays of states. ``elapsed`` is the time since the last step,
    in the user's units; None, where no times are given, stands for the parameter ``step``, the time that a step takes.
    What varies with time is described per unit of time.

    Parameters given to the constructor are used until :meth:`fit` learns better ones, stored under names ending in
    ``_``. Unlike other estimators a transition keeps
    them when it is cloned, because a filter (and a search over a filter's settings) clones the transition it was given
    without fitting it again; :meth:`set_params` replaces them.

    Examples
    --------
    >>> import numpy as np
    >>> from kmcf.transitions import GaussianRandomWalk
    >>> walk = GaussianRandomWalk(0.5)
    >>> isinstance(walk, Transition), walk(np.zeros((3, 2)), None, np.random.default_rng(0)).shape
    (True, (3, 2))
    """

    name: ClassVar[str]
    """What it is called in files; see :func:`kmcf.transitions.named`."""
    memoryless: ClassVar[bool] = False
    """True where the next state does not depend on the previous one."""

    @abstractmethod
    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Draw the next state of each of m states, (m, d) -> (m, d)."""

    @abstractmethod
    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return log p(next | previous, control) for m pairs of states, each (m, d); times are numbers or (m,)."""

    @abstractmethod
    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        """Return the parameters that explain the pairs, by name."""

    def fit(self, sequences: Any, controls: Any = None, trim: float = 0.0, times: Any = None) -> Self:
        """Learn the parameters from recorded sequences of states; return self.

        Where times are known, moves count by the time that they took, and ``step``, if it was not given, becomes the
        median interval. Otherwise each move took one ``step``.

        Parameters
        ----------
        sequences : array (T, d), recording, or list of them
            States over time. A recording (anything with ``states``, ``controls`` and ``time``) brings its own controls
            and times. Moves from or to a state with NaN are left out, and so are moves with NaN in control or time.
        controls : array (T, ...) or list of them, optional
            ``controls[t]`` drove the move to step t.
        trim : float
            Share of the moves that fit worst and are left out, with the variances of the rest scaled up to what they
            would be in a full normal sample. 0 is maximum likelihood; a few per cent protect against outliers.
        times : array (T,) or list of them, optional
            When the states were recorded, increasing.
        """
        if not 0 <= trim < 0.5:
            raise ValueError(f"trim = {trim!r}; it must be at least 0 and below 0.5.")
        return self._learnt_from(read_pairs(sequences, controls, times), trim)

    def _learnt_from(self, pairs: Pairs, trim: float) -> Self:
        self.__dict__.pop("step_", None)  # of an earlier recording
        for name, value in (self._learn(pairs, trim) | self._learnt_step(pairs)).items():
            setattr(self, f"{name}_", value)
        return self

    def _learnt_step(self, pairs: Pairs) -> dict[str, float]:
        """Return the typical interval, which stands for the time of a step where none is given."""
        if pairs.elapsed is None or getattr(self, "step", 1.0) is not None:
            return {}
        return {"step": float(np.median(pairs.elapsed))}

    def _usual_step(self) -> float:
        """Return the time that a step takes where no times are given."""
        step = self._value("step")
        step = 1.0 if step is None else step
        if not step > 0:
            raise ValueError(f"{type(self).__name__} has step = {step!r}; it must be positive.")
        return float(step)

    def _time(self, elapsed: Any) -> Any:
        """Return the time that passed, as a number or a column (m, 1); without one, that of a step."""
        if elapsed is None:
            return np.float64(self._usual_step())
        passed = array_namespace(elapsed).asarray(elapsed, dtype=float)
        if isinstance(passed, np.ndarray) and not np.all(passed > 0):
            raise ValueError(f"{type(self).__name__} was told that the time {elapsed} passed; it must be positive.")
        return passed[:, None] if passed.ndim else passed[()]

    def check_usable(self) -> None:
        """Raise an error if no states can be moved: before :meth:`fit`, say. By default there is none."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters in use: learnt where they were learnt, otherwise as given."""
        return {name: self._value(name) for name in self.get_params(deep=False)}

    def guessed(self) -> dict[str, float]:
        """Return the parameters that nobody gave or learnt, with the values assumed for them."""
        given = self.get_params(deep=False)
        return {
            name: float(value)
            for name, value in given.items()
            if isinstance(value, Assumed) and not hasattr(self, f"{name}_")
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what was learnt for them is forgotten."""
        super().set_params(**params)
        for name in params:
            self.__dict__.pop(f"{name}_", None)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters in use as plain numbers, lists and strings, ready for JSON.

        Examples
        --------
        >>> from kmcf.transitions import GaussianRandomWalk
        >>> GaussianRandomWalk(scale=0.5).to_dict()
        {'name': 'random-walk', 'angles': [], 'scale': 0.5, 'step': None}
        """
        return {"name": self.name} | {name: _plain(value, name) for name, value in self.parameters().items()}

    def _value(self, name: str) -> Any:
        return getattr(self, f"{name}_", getattr(self, name))

    def _noise(self, name: str) -> FloatArray:
        """Return a parameter that must be finite and not negative."""
        value = np.asarray(self._value(name), dtype=np.float64)
        if not (np.all(np.isfinite(value)) and np.all(value >= 0)):
            raise ValueError(f"{type(self).__name__} has {name} = {value}; it must be finite and not negative.")
        return value

    def __sklearn_clone__(self) -> Self:
        return copy.deepcopy(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({shown})"[:N_CHAR_MAX]


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, Assumed):
        return float(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Transition):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{name} holds {value!r}, which a file cannot store as numbers; use a class of kmcf.transitions.")


def _short(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>" if value.size > 9 else np.array2string(value, precision=4, separator=", ")
    return repr(value)
