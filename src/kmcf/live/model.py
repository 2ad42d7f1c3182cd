"""A fitted filter as the live rooms see it: with names, its window, and what it expects of an observation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kmcf.datasets.windowing import Window
from kmcf.transitions.elapsed import takes_elapsed


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A fitted filter and the names of what goes in and comes out.

    Parameters
    ----------
    filter : filter
        Fitted, with states that are vectors.
    name : str
        What to call it.
    states : sequence of str
        Names of the state's coordinates; none: ``state_0``, ``state_1``, ...
    observations : sequence of str
        Names of the observation's numbers, if they have any.
    controls : sequence of str
        Names of the control's numbers, if there is a control.
    window : Window, optional
        The window of which its observations consist; None: they are taken one by one.
    timed : bool, optional
        Whether the filter is told the times of observations. None: if its transition makes something of them.

    Examples
    --------
    >>> import kmcf
    >>> X = np.linspace(0.0, 1.0, 20)
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    >>> LiveModel(flt, "line").describe()["observation"]
    {'shape': [1], 'names': []}
    """

    filter: Any
    name: str = "model"
    states: Sequence[str] = ()
    observations: Sequence[str] = ()
    controls: Sequence[str] = ()
    window: Window | None = None
    timed: bool | None = None
    sensors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the numbers of each of several sensors."""

    def __post_init__(self) -> None:
        states = getattr(self.filter, "states_", None)
        if states is None:
            raise ValueError(f"{self.name} has not been fitted: call fit(states, observations) first.")
        if not isinstance(states, np.ndarray) or states.ndim != 2:
            raise ValueError(f"the states of {self.name} are not vectors, so there is no interval to answer with.")
        width = states.shape[1]
        if len(self.states) != width:
            object.__setattr__(self, "states", tuple(f"state_{j}" for j in range(width)))
        if self.timed is None:
            object.__setattr__(self, "timed", takes_elapsed(self.filter.transition))

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of one observation as it is posted; None if observations are objects or come from several sensors."""
        if self.several:
            return None
        shape = self.filter.reader_.shape
        if shape is None or self.window is None:
            return None if shape is None else tuple(shape)
        return (shape[0] // self.window.length,)

    @property
    def several(self) -> dict[str, Any]:
        """The filters of several sensors by name; empty if there is one sensor."""
        return dict(getattr(self.filter, "sensors_", None) or {})

    @property
    def fingerprint(self) -> str:
        """What tells this model from others: a digest of its examples and seed."""
        digest = hashlib.sha256(f"{type(self.filter).__name__} {self.filter.seed_}".encode())
        digest.update(np.ascontiguousarray(self.filter.states_).tobytes())
        return digest.hexdigest()[:16]

    def warm(self) -> None:
        """Do what the first step would otherwise wait for: compile, and find the thresholds of alarms."""
        belief = self.filter.step(self.filter.start(), None)
        _ = belief.alarm_reason, belief.interval()

    def describe(self) -> dict[str, Any]:
        """Return what a client should know, as plain values."""
        shape = self.shape
        told: dict[str, Any] = {
            "name": self.name,
            "filter": type(self.filter).__name__,
            "examples": len(self.filter.states_),
            "state": {"names": list(self.states), "angles": [int(j) for j in self.filter.angles]},
            "observation": {"shape": None if shape is None else list(shape), "names": list(self.observations)},
            "control": {"names": list(self.controls)},
            "window": None if self.window is None else self.window.length,
            "timed": bool(self.timed),
            "calibrated": getattr(self.filter, "calibration_", None) is not None,
        }
        if self.several:
            told["sensors"] = {name: list(self.sensors.get(name, ())) for name in self.several}
        return told
