"""The user's clock: reading times, how much of it passed between two steps, and who can make use of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter.results.belief import Belief
from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import UnusedTimesWarning, warn_user

EVEN = 1e-6
"""Intervals that differ by no more than this share are equal."""


class Drive(NamedTuple):
    """What moves a belief on to the next step."""

    control: Any = None
    """The user's control."""
    elapsed: Any = None
    """Time since the last step, in the user's units; None if no times are given, and at the first step."""
    clock: Any = None
    """Time of the next step; None if no times are given."""


class Clock(NamedTuple):
    """What the next step of a belief needs to know about time."""

    clock: float | None
    time: int

    @classmethod
    def of(cls, state: Any) -> Clock:
        """Read it from numbers on a device, where NaN stands for an unknown time."""
        clock = float(state.clock)
        return cls(None if np.isnan(clock) else clock, int(state.time))


def read_times(times: Any, steps: int) -> FloatArray | None:
    """Check that there is one time per step, and that they increase; dates become seconds since 1970.

    Examples
    --------
    >>> read_times(np.array(["1970-01-01T00:00:01", "1970-01-01T00:01"], dtype="datetime64[s]"), 2)
    array([ 1., 60.])
    """
    if times is None:
        return None
    if isinstance(times, str | bytes | dict | set) or not hasattr(times, "__len__"):
        raise TypeError(f"times must have one entry per step, not be a single {type(times).__name__}.")
    if len(times) != steps:
        raise ValueError(f"{len(times)} times for {steps} steps: there must be one per observation.")
    read = _numbers(times)
    if read.shape != (steps,):
        raise ValueError(f"the times have shape {read.shape}; they must be {steps} numbers.")
    unknown = np.flatnonzero(~np.isfinite(read))
    if len(unknown):
        raise ValueError(f"the time of step {unknown[0] + 1} is {read[unknown[0]]}; every step needs a finite time.")
    back = np.flatnonzero(np.diff(read) <= 0)
    if len(back):
        early, late = read[back[0] + 1], read[back[0]]
        raise ValueError(f"times must increase, but step {back[0] + 2} is at {early:g}, after one at {late:g}.")
    return read


def read_time(time: Any) -> float | None:
    """Read the time of one step."""
    if time is None:
        return None
    read = read_times([time], 1) if np.ndim(time) == 0 else None
    if read is None:
        raise ValueError(f"the time of a step is one number, not {time!r}.")
    return float(read[0])


def times_of_each(times: Any, count: int) -> list[Any]:
    """Return the times of each of several sequences; one list of numbers is for all of them."""
    if times is None:
        return [None] * count
    if count and isinstance(times, np.ndarray) and times.ndim == 1 and times.dtype.kind in "biufM":
        return [times] * count
    if len(times) != count:
        raise ValueError(f"{len(times)} sequences of times for {count} sequences of observations.")
    return list(times)


def intervals(clocks: Sequence[FloatArray | None]) -> FloatArray:
    """Return all times from step to step, of several sequences."""
    return np.concatenate([np.empty(0), *(np.diff(clock) for clock in clocks if clock is not None)])


def drive_from(belief: Belief | Clock, control: Any, time: float | None) -> Drive:
    """Return what drives the step that follows a belief."""
    before = belief.clock
    if time is None:
        if before is not None:
            raise ValueError(f"the belief is of the time {before:g}, so its next step needs a time, too: time=...")
        return Drive(control)
    if before is None:
        if belief.time > 0:
            raise ValueError(
                f"the steps before had no times, so nobody knows what passed until {time:g}: give times from the first "
                "step on."
            )
        return Drive(control, None, time)
    if not time > before:
        raise ValueError(
            f"the time {time:g} does not come after that of the belief, {before:g}. A late observation continues "
            "from an earlier belief: run.at(time)."
        )
    return Drive(control, time - before, time)


def warn_unused(intervals: Any, why: str) -> None:
    """Warn that a filter makes nothing of times, unless they are evenly spaced and there is nothing to be made."""
    if why and len(intervals) > 1 and np.ptp(intervals) > EVEN * np.max(intervals):
        warn_user(
            f"the times are not evenly spaced, but {why}, so every step counts alike. Give the transition a parameter "
            "elapsed, (states, control, rng, elapsed), or use one of kmcf.transitions.",
            UnusedTimesWarning,
        )


def belief_at(run: Any, time: Any, ahead: Any = None) -> Belief:
    """Return the last belief of a run that is not after a time; with a filter, predicted to that time."""
    wanted = read_time(time)
    if wanted is None or run.is_batch:
        raise TypeError("run.at takes a time, of one sequence: in a batch, run[b].at(time).")
    clock = run.times
    if np.isnan(clock).any():
        raise LookupError("this run was filtered without times; filter with times=..., or use run[t].")
    step = int(np.searchsorted(clock, wanted, side="right")) - 1
    if step < 0:
        raise LookupError(f"the run begins at the time {clock[0]:g}, after {wanted:g}.")
    belief: Belief = run[step]
    if ahead is None or wanted == clock[step]:
        return belief
    predicted: Belief = ahead.step(belief, None, time=wanted)
    return predicted


def _numbers(times: Any) -> FloatArray:
    array = np.asarray(times)
    if array.dtype.kind == "M":
        stamps = array.astype("datetime64[us]")
        return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) * 1e-6)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"times must be numbers or datetime64, not {str(array.flat[0])!r}.") from None
