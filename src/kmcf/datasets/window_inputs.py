"""Reading what windows are made of: observations that are numbers, the sequences they belong to, their times."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, IntArray
from kmcf.numerics.objects import plain


def rows_before(groups: Any, n: int) -> IntArray:
    """Return the row before each in its sequence; −1: it is the first."""
    if groups is None:
        return np.arange(-1, n - 1)
    labels: Sequence[Hashable] = np.asarray(groups).tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(labels) != n:
        raise ValueError(f"{len(labels)} groups for {n} observations: there must be one label for each.")
    last: dict[Hashable, int] = {}
    before = np.full(n, -1, dtype=np.intp)
    for row, label in enumerate(labels):
        before[row] = last.get(label, -1)
        last[label] = row
    return before


def read_clock(times: Any, before: IntArray) -> FloatArray:
    """Read times as seconds; they must increase from the row before in the same sequence."""
    if times is None:
        raise ValueError("seconds say how old an observation may be, which needs times: pass times=, one per step.")
    clock = _seconds(plain(times))
    if clock.shape != before.shape:
        raise ValueError(f"times have shape {clock.shape} for {len(before)} observations: there must be one for each.")
    later = np.flatnonzero(before >= 0)
    wrong = later[~(clock[later] > clock[before[later]])]
    if len(wrong) or not np.isfinite(clock).all():
        row = int(wrong[0]) if len(wrong) else int(np.flatnonzero(~np.isfinite(clock))[0])
        raise ValueError(f"times must be finite and increase within a sequence, but times[{row}] is {clock[row]:g}.")
    return clock


def as_rows(observations: Any) -> Array:
    """Read observations as rows of numbers, (n, d)."""
    if isinstance(observations, str | bytes | Mapping | set) or not hasattr(observations, "__len__"):
        raise TypeError(f"observations must be an array with one row per step, not {type(observations).__name__}.")
    given = plain(observations)
    if isinstance(given, list | tuple):
        read = [one_vector(observation) for observation in given]
        width = next((len(one) for one in read if one is not None), 1)
        uneven = [len(one) for one in read if one is not None and len(one) != width]
        if uneven:
            raise ValueError(f"observations have {width} and {uneven[0]} numbers; in a window all must have as many.")
        given = np.array([np.full(width, np.nan) if one is None else one for one in read]).reshape(len(read), width)
    if getattr(given, "dtype", np.dtype(object)).kind not in "biuf":
        raise _no_numbers(given)
    rows = given.reshape(len(given), -1)
    return np.asarray(rows, dtype=np.float64) if isinstance(rows, np.ndarray) or rows.dtype.kind != "f" else rows


def one_vector(observation: Any) -> FloatArray | None:
    """Read one observation as a vector; None if it is missing (None or all NaN)."""
    if observation is None:
        return None
    try:
        numbers = np.array(plain(observation), dtype=np.float64).ravel()  # a copy: buffers are reused
    except (TypeError, ValueError):
        raise _no_numbers(observation) from None
    if isinstance(observation, str) or not numbers.size:
        raise _no_numbers(observation)
    return None if np.isnan(numbers).all() else numbers


def _no_numbers(observation: Any) -> TypeError:
    return TypeError(
        f"a window stacks numbers, but an observation is of type {type(observation).__name__}: where observations are "
        "objects, make a list of the last few and give the filter a kernel on such lists."
    )


def one_time(time: Any, before: tuple[float, ...]) -> float:
    """Read the time of an observation, which must come after those before it."""
    if time is None:
        raise ValueError("the window has seconds, so it needs the time of each observation: window.after(y, time).")
    now = float(_seconds(time))
    if not math.isfinite(now) or (before and not now > before[0]):
        raise ValueError(f"time = {now:g}; times must be finite and increase.")
    return now


def _seconds(times: Any) -> Any:
    """Return numbers as they are, dates as seconds since 1970."""
    read = np.asarray(times)
    if read.dtype.kind == "M":
        read = (read - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    return read.astype(np.float64)


def check_length(length: Any) -> None:
    """Refuse what is no positive integer."""
    if not isinstance(length, int | np.integer) or isinstance(length, bool) or length < 1:
        raise ValueError(f"a window of {length!r} observations; it must be a positive integer (1: no window).")


def check_seconds(seconds: Any) -> None:
    """Refuse what is neither None nor a positive number."""
    number = isinstance(seconds, int | float | np.number) and not isinstance(seconds, bool)
    if seconds is not None and not (number and 0 < float(seconds) < math.inf):
        raise ValueError(f"seconds = {seconds!r}; it must be a positive number.")
