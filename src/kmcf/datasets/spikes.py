"""Spikes and position as examples: counts of spikes in bins of time, and where the animal was."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmcf.datasets.recording import Recording, kept
from kmcf.numerics.arrays import FloatArray, IntArray

SPEED_BINS = 5
"""Speeds are averaged over so many bins."""


def spikes_to_counts(
    spike_times: ArrayLike,
    spike_units: ArrayLike,
    position_times: ArrayLike,
    positions: ArrayLike,
    bin: float = 0.25,
    least_speed: float | None = None,
    *,
    name: str = "spikes",
    unit_of_length: str = "",
) -> Recording:
    """Count the spikes of every unit in bins of time, and average the position in each.

    The bins begin with the first position and end with the last. A bin without a position has the state NaN, so that
    it is no example; one without spikes is an observation of zeros.

    Parameters
    ----------
    spike_times : array (s,)
        When the spikes were, in seconds, in any order.
    spike_units : array (s,)
        Which unit each spike is of: numbers or names. The columns of counts are the sorted units.
    position_times : array (p,)
        When the positions were measured, on the same clock.
    positions : array (p,) or (p, d)
        The positions; NaN where the tracking failed.
    bin : float
        Length of a bin in seconds.
    least_speed : float, optional
        Keep only bins with at least this speed, averaged over five bins; time then has gaps. None: all.
    name : str
        Name of the recording.
    unit_of_length : str
        The unit of the positions.

    Examples
    --------
    >>> recording = spikes_to_counts([0.1, 0.2, 0.6], ["a", "b", "a"], [0.0, 0.25, 0.5, 0.75, 1.0], np.arange(5.0), 0.5)
    >>> recording.observations, recording.states.ravel()
    (array([[1., 1.],
           [1., 0.]]), array([0.5, 2.5]))
    """
    width = _length(bin)
    times, places = _positions(position_times, positions)
    spikes, units = _spikes(spike_times, spike_units)
    first, count = float(times[0]), int((times[-1] - times[0]) // width)
    if count < 1:
        raise ValueError(f"bin = {bin!r} s, but the positions span only {times[-1] - times[0]:g} s.")
    labels, columns = np.unique(units, return_inverse=True)
    counts = np.zeros((count, len(labels)))
    slots = _slots(spikes, first, width)
    inside = (slots >= 0) & (slots < count)
    np.add.at(counts, (slots[inside], columns[inside]), 1.0)
    recording = Recording(
        name,
        width * np.arange(count, dtype=np.float64),
        _averages(_slots(times, first, width), places, count),
        counts,
        units={"time": "s", "states": unit_of_length, "observations": "spikes"},
        names={"observations": tuple(str(label) for label in labels)},
        counts={"spikes outside the positions": int((~inside).sum())},
    )
    if least_speed is None:
        return recording
    return kept(recording, speeds(recording.states, width) > least_speed)


def speeds(states: FloatArray, step: float) -> FloatArray:
    """Return the speed in every bin, averaged over five; unknown positions are interpolated.

    Parameters
    ----------
    states : array (T, d)
        Positions in successive bins; NaN where they are unknown.
    step : float
        Length of a bin in seconds.

    Examples
    --------
    >>> speeds(np.array([[0.0], [1.0], [np.nan], [3.0]]), 0.5)
    array([2., 2., 2., 2.])
    """
    known = np.flatnonzero(np.isfinite(states).all(axis=1))
    if len(known) < 2:
        raise ValueError(f"the position is known in {len(known)} bins; a speed takes two.")
    filled = np.stack([np.interp(np.arange(len(states)), known, column[known]) for column in states.T], axis=1)
    speed = np.linalg.norm(np.gradient(filled, axis=0), axis=1) / step
    padded = np.pad(speed, SPEED_BINS // 2, mode="edge")
    return np.asarray(np.convolve(padded, np.full(SPEED_BINS, 1.0 / SPEED_BINS), mode="valid"))


def _length(value: Any) -> float:
    if not (isinstance(value, Real) and 0.0 < float(value) < np.inf):
        raise ValueError(f"bin = {value!r}; it must be a positive number of seconds.")
    return float(value)


def _positions(position_times: ArrayLike, positions: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return times and places in order of time, without times that are NaN."""
    times, places = np.asarray(position_times, dtype=np.float64), np.asarray(positions, dtype=np.float64)
    if times.ndim != 1 or places.ndim not in (1, 2) or len(places) != len(times):
        raise ValueError(
            f"position_times has the shape {times.shape} and positions {places.shape}; they must be (p,) and (p, d)."
        )
    order = np.argsort(times, kind="stable")
    order = order[np.isfinite(times[order])]
    if len(order) < 2:
        raise ValueError(f"there are {len(order)} positions; at least two are needed.")
    return times[order], places.reshape(len(times), -1)[order]


def _spikes(spike_times: ArrayLike, spike_units: ArrayLike) -> tuple[FloatArray, Any]:
    times, units = np.asarray(spike_times, dtype=np.float64), np.asarray(spike_units)
    if times.ndim != 1 or units.shape != times.shape:
        raise ValueError(f"spike_times has the shape {times.shape} and spike_units {units.shape}; both must be (s,).")
    if not len(times):
        raise ValueError("there are no spikes.")
    if not np.isfinite(times).all():
        raise ValueError(f"spike {int(np.argmin(np.isfinite(times)))} has no finite time.")
    return times, units


def _slots(times: FloatArray, first: float, width: float) -> IntArray:
    return np.floor((times - first) / width).astype(np.intp)


def _averages(slots: IntArray, places: FloatArray, count: int) -> FloatArray:
    """Return the mean of the known places in every bin; NaN where there are none."""
    usable = np.isfinite(places).all(axis=1) & (slots < count)
    sizes = np.bincount(slots[usable], minlength=count)
    sums = np.stack([np.bincount(slots[usable], column[usable], minlength=count) for column in places.T], axis=1)
    return np.asarray(np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.nan))
