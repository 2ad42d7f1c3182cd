"""How a filter becomes data and comes back: files and pickles."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kmcf.filter.backend import Backend
from kmcf.filter.inputs import read_seed
from kmcf.filter.naming import restored_names
from kmcf.filter.restoring import with_cache
from kmcf.filter.settings import check_restored
from kmcf.numerics.objects import Objects
from kmcf.support.alerts import GuessedMotionWarning
from kmcf.support.estimators import Estimator
from kmcf.support.storable import PassedAgainError
from kmcf.trust.calibration import Calibration
from kmcf.trust.thresholds import Thresholds


class StoredFilter(Estimator, ABC):
    """What :mod:`kmcf.store` and ``pickle`` ask of a filter."""

    seed_: int
    states_: Objects
    backend_: Backend
    calibration_: Calibration | None = None
    state_names_: tuple[str, ...] = ()
    """Names of the state's coordinates, from the data frame that the filter was fitted to or given; empty: none."""
    _stored: dict[str, Any] | None = None
    """What a file holds of a fitted filter, until all of it can be put together."""
    _thresholds: Thresholds | None = None
    """Thresholds of alarms that came from a file or from sequences; None: found when first asked for."""

    @abstractmethod
    def _fitted_state(self) -> dict[str, Any]:
        """Return what a file holds of the fitted filter besides its settings and its seed."""

    @abstractmethod
    def _restore(self, state: dict[str, Any], passed: set[str]) -> None:
        """Restore what was learnt; the settings and the seed are there already.

        Parameters
        ----------
        state : dict
            What the file holds.
        passed : set of str
            Names of what the user passed again.
        """

    def to_store(self) -> dict[str, Any]:
        """Return what a file holds: the settings and, once fitted, what was learnt."""
        settings, known = self._settings(), self.calibration_
        if not self._is_fitted:
            return settings
        calibration = None if known is None else known.stored()
        thresholds = self.alarm_thresholds_ if self._alarms_known() else None
        alarms = {} if thresholds is None else {"alarms_": thresholds.stored()}
        names = {"state_names_": list(self.state_names_)} if self.state_names_ else {}
        return {**settings, **self._fitted_state(), **alarms, **names, "seed_": self.seed_, "calibration_": calibration}

    def from_store(self, state: dict[str, Any]) -> None:
        """Fill a blank filter with its settings; the rest has to wait until the whole file has been read."""
        self.__dict__.update({name: state[name] for name in self._get_param_names()})
        self._stored = with_cache(state) if "seed_" in state else None

    def after_loading(self, passed: set[str]) -> None:
        """Restore what was learnt, and get ready to filter."""
        state, self._stored = self._stored, None
        if state is None:
            return
        self._check_restored(passed, several=bool(state.get("sensors_")))
        self.seed_ = read_seed(_whole(state["seed_"]))
        self._thresholds = Thresholds.restored(state["alarms_"]) if "alarms_" in state else None
        self._restore(state, passed)
        self.state_names_ = restored_names(state.get("state_names_", ()), self.states_)
        stored = state.get("calibration_")
        if stored is not None:
            self.calibration_ = Calibration.restored(stored, int(np.prod(np.shape(self.states_)[1:])))
        self.backend_ = self._make_backend()

    def _check_restored(self, passed: set[str], *, several: bool) -> None:
        """Check the settings as ``fit`` does; those of several sensors are checked one by one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GuessedMotionWarning)  # fit said so
            try:
                check_restored(self)
                if not several:
                    self._check_settings()
            except (TypeError, ValueError) as error:
                if passed & {"transition", "initial"}:
                    raise PassedAgainError(str(error)) from error
                raise

    def _check_settings(self) -> None:
        """Check all settings that do not depend on the examples."""

    @property
    @abstractmethod
    def alarm_thresholds_(self) -> Thresholds:
        """The thresholds beyond which a step raises an alarm."""

    @abstractmethod
    def _make_backend(self) -> Backend:
        """Make what carries the fitted filter through time."""

    @property
    @abstractmethod
    def _is_fitted(self) -> bool:
        """Whether there are examples."""

    @abstractmethod
    def _alarms_known(self) -> bool:
        """Say whether the thresholds of alarms have been found."""

    def _settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, in its order."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the backend, which is made again from the rest."""
        state = {name: value for name, value in vars(self).items() if name != "backend_"}
        return {**state, "_thresholds": self.alarm_thresholds_} if self._alarms_known() else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "seed_" in state:
            self.backend_ = self._make_backend()


def _whole(seed: Any) -> int:
    """Return the seed of a file; nothing but a whole number is one."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"its seed is {seed!r}; it must be a whole number.")
    return seed
