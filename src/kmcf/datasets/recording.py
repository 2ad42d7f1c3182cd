"""One recorded sequence: what every loader returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray
from kmcf.numerics.poses import chained

MOTION = ("rotation", "translation", "rotation")
"""Names of controls that are motions of a robot; see :mod:`kmcf.numerics.poses`."""


@dataclass(frozen=True)
class Recording:
    """States, observations and controls over time.

    Attributes
    ----------
    name : str
        Name of the recording.
    time : array (T,)
        Seconds from the start.
    states : array (T, d)
        The true states; NaN where they are unknown.
    observations : array (T, ...) or list of T objects
        What was observed. Missing observations are None in a list, all NaN in an array.
    controls : array (T, ...) or None
        ``controls[t]`` drove the move to step t.
    units : dict
        Units of "time", "states", "observations", "controls".
    names : dict
        Names of the columns of "states", "observations", "controls", where they have any.
    angles : tuple of int
        Columns of the states that are angles, as ``KernelMonteCarloFilter(angles=...)`` needs them.
    counts : dict
        What the loader left out or found odd: how many "malformed lines", "unknown barcodes", "clock gaps" and so on.
    sensors : dict
        Where there are several sensors: which columns of the observations are whose.

    Examples
    --------
    >>> recording = Recording("walk", np.arange(3.0), np.zeros((3, 1)), ["a", None, "b"])
    >>> recording
    Recording('walk', 3 steps, 1 missing observation)
    >>> recording[1:].observations
    [None, 'b']
    """

    name: str
    time: FloatArray
    states: FloatArray
    observations: Any
    controls: Any = None
    units: dict[str, str] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    angles: tuple[int, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    sensors: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, steps: slice) -> Recording:
        """Return successive steps; any other choice would separate controls from the moves they drove."""
        if not isinstance(steps, slice) or steps.step not in (None, 1):
            raise TypeError(f"recording[{steps!r}]: take successive steps, recording[first:last], or use thinned().")
        driven = None if self.controls is None else self.controls[steps]
        return replace(
            self,
            time=self.time[steps],
            states=self.states[steps],
            observations=self.observations[steps],
            controls=driven,
        )

    def __repr__(self) -> str:
        missing, unknown = int(self.missing.sum()), int((~self.known).sum())
        parts = [f"{len(self)} steps"]
        parts += [f"{missing} missing observation{'s' * (missing != 1)}"] if missing else []
        parts += [f"{unknown} unknown state{'s' * (unknown != 1)}"] if unknown else []
        return f"Recording({self.name!r}, {', '.join(parts)})"

    def by_sensor(self) -> dict[str, FloatArray]:
        """Return what each of several sensors said, (T, ...), as a filter with these sensors takes it; NaN: nothing."""
        return {name: self.observations[:, list(columns)] for name, columns in self.sensors.items()}

    @property
    def positions(self) -> FloatArray:
        """The states without the velocities that were derived from them, by which estimates are judged.

        Examples
        --------
        >>> from kmcf.datasets import with_velocity_columns
        >>> walk = with_velocity_columns(Recording("walk", np.arange(3.0), np.zeros((3, 2)), np.zeros((3, 1))))
        >>> walk.states.shape, walk.positions.shape
        ((3, 4), (3, 2))
        """
        named = self.names.get("positions")
        return self.states if named is None else self.states[:, : len(named)]

    @property
    def missing(self) -> BoolArray:
        """(T,) True where nothing was observed."""
        if isinstance(self.observations, np.ndarray) and self.observations.dtype.kind == "f":
            flat = self.observations.reshape(len(self.observations), -1)
            return np.asarray(np.isnan(flat).all(axis=1))
        return np.array([observation is None for observation in self.observations], dtype=bool)

    @property
    def known(self) -> BoolArray:
        """(T,) True where the state is known."""
        return np.asarray(np.isfinite(self.states).all(axis=1))


def examples(recordings: Recording | Iterable[Recording]) -> tuple[FloatArray, Any]:
    """Return the steps with a known state and an observation, of one or several recordings, as examples for a filter.

    Parameters
    ----------
    recordings : Recording or several
        Where to take them from.

    Returns
    -------
    states : array (n, d)
    observations : array (n, ...) or list
        An array if all recordings have arrays.

    Examples
    --------
    >>> recording = Recording("walk", np.arange(3.0), np.array([[0.0], [1.0], [np.nan]]), ["a", None, "b"])
    >>> examples(recording)
    (array([[0.]]), ['a'])
    """
    several = [recordings] if isinstance(recordings, Recording) else list(recordings)
    if not several:
        raise ValueError("there are no recordings to take examples from.")
    chosen = [recording.known & ~recording.missing for recording in several]
    states = np.concatenate([recording.states[rows] for recording, rows in zip(several, chosen, strict=True)])
    if all(isinstance(recording.observations, np.ndarray) for recording in several):
        kept = [recording.observations[rows] for recording, rows in zip(several, chosen, strict=True)]
        return states, np.concatenate(kept)
    listed = [
        recording.observations[t] for recording, rows in zip(several, chosen, strict=True) for t in np.flatnonzero(rows)
    ]
    return states, listed


def thinned(recording: Recording, every: int) -> Recording:
    """Keep every k-th step; motions in between are chained, which other controls cannot be.

    Parameters
    ----------
    recording : Recording
        What to thin.
    every : int
        k; 1 keeps all.

    Examples
    --------
    >>> controls = np.tile([0.0, 1.0, 0.0], (5, 1))
    >>> recording = Recording("drive", np.arange(5.0), np.zeros((5, 3)), np.zeros((5, 1)), controls,
    ...                       names={"controls": MOTION})
    >>> thinned(recording, 2).controls[:, 1]
    array([0., 2., 2.])
    """
    if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
        raise ValueError(f"every = {every!r}; it must be a positive integer.")
    return kept(recording, np.arange(0, len(recording), every))


def kept(recording: Recording, steps: Any) -> Recording:
    """Keep some steps, in order; motions in between are chained, which other controls cannot be.

    Parameters
    ----------
    recording : Recording
        If steps are left out, its controls (if any) must be motions.
    steps : array of int, or of bool (T,)
        Which steps.

    Examples
    --------
    >>> recording = Recording("walk", np.arange(4.0), np.zeros((4, 1)), ["a", "b", None, "d"])
    >>> kept(recording, ~recording.missing).observations
    ['a', 'b', 'd']
    """
    chosen = np.arange(len(recording))[np.asarray(steps)]
    if np.any(np.diff(chosen) < 1):
        raise ValueError(f"the steps to keep of {recording.name!r} must increase.")
    if isinstance(recording.observations, np.ndarray):
        observations = recording.observations[chosen]
    else:
        observations = [recording.observations[t] for t in chosen]
    return replace(
        recording,
        time=recording.time[chosen],
        states=recording.states[chosen],
        observations=observations,
        controls=_joined(recording, chosen),
    )


def _joined(recording: Recording, chosen: IntArray) -> Any:
    """Return the controls that lead from each chosen step to the next; the first, which drives nothing, is zero."""
    if recording.controls is None or len(chosen) == len(recording):
        return recording.controls
    if recording.names.get("controls") != MOTION:
        raise ValueError(f"the controls of {recording.name!r} are not motions, so they cannot be chained.")
    motions = [chained(recording.controls[before + 1 : now + 1]) for before, now in pairwise(chosen)]
    return np.array([np.zeros(3), *motions])[: len(chosen)]


def hold_out(recording: Recording, first: int, last: int, buffer: int = 0) -> tuple[list[Recording], Recording]:
    """Split off the steps first..last−1 for testing; the rest, without a buffer on both sides, is for training.

    Parameters
    ----------
    recording : Recording
        What to split.
    first, last : int
        The steps to hold out, the last one excluded.
    buffer : int
        How many steps on either side are used for neither.

    Returns
    -------
    training : list of Recording
        What lies before and after.
    test : Recording

    Examples
    --------
    >>> recording = Recording("walk", np.arange(10.0), np.zeros((10, 1)), np.zeros((10, 1)))
    >>> training, test = hold_out(recording, 4, 6, buffer=1)
    >>> [len(part) for part in training], test.time
    ([3, 3], array([4., 5.]))
    """
    if not 0 <= first < last <= len(recording) or buffer < 0:
        raise ValueError(
            f"steps {first} to {last} with a buffer of {buffer} cannot be held out of the {len(recording)} steps of "
            f"{recording.name!r}."
        )
    parts: Sequence[Recording] = recording[: max(0, first - buffer)], recording[last + buffer :]
    return [part for part in parts if len(part)], recording[first:last]
