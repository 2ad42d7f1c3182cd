"""Where time advances by more than a step: gaps are counted, split at, filled or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kmcf.datasets.recording import Recording

GAPS = ("keep", "split", "fill", "error")
LONG = 1.5
"""Steps longer than this multiple of the usual one are gaps."""
MOST_FILLED = 100_000
MOST_MISSED = 10**12
"""No more missed steps are counted in one gap: a clock that was set anew can be any number of them ahead."""


def check_timeless(gaps: str) -> None:
    """Refuse to fill gaps, or to promise that there are none, where no times are known.

    Examples
    --------
    >>> check_timeless("keep")
    """
    if gaps in ("fill", "error"):
        raise ValueError(f"gaps = {str(gaps)!r}, but gaps show in times only: name the column of the time.")


def usual_step(recordings: Sequence[Recording]) -> float:
    """Return the median time from row to row; NaN if there is none."""
    steps = np.concatenate([np.diff(recording.time) for recording in recordings])
    return float(np.median(steps)) if len(steps) else float("nan")


def missed_steps(elapsed: Any, step: float) -> Any:
    """Return how many steps are missing in times from row to row.

    Examples
    --------
    >>> missed_steps(np.array([1.0, 1.4, 1.6, 3.1]), 1.0)
    array([0, 0, 1, 2])
    """
    times = np.asarray(elapsed, dtype=np.float64)
    if not step > 0:
        return np.zeros(times.shape, dtype=int)
    with np.errstate(over="ignore"):
        missed = np.where(times > LONG * step, np.maximum(np.round(times / step) - 1.0, 0.0), 0.0)
    return np.minimum(missed, MOST_MISSED).astype(int)


def with_gaps(recordings: list[Recording], gaps: str, step: float) -> list[Recording]:
    """Count the gaps of recordings, and do about them what ``gaps`` says: keep, split, fill or refuse them.

    Examples
    --------
    >>> recording = Recording("walk", np.array([0.0, 1.0, 4.0]), np.zeros((3, 1)), np.ones((3, 1)))
    >>> [len(part) for part in with_gaps([recording], "split", 1.0)], len(with_gaps([recording], "fill", 1.0)[0])
    ([2, 1], 5)
    """
    found = []
    for recording in recordings:
        missed = missed_steps(np.diff(recording.time), step)
        after = np.flatnonzero(missed) + 1  # the rows after the gaps
        counted = replace(recording, counts={"gaps": len(after), "missed steps": int(missed.sum())})
        if gaps == "keep" or not len(after):
            found.append(counted)
        elif gaps == "error":
            row = after[0]
            advance = recording.time[row] - recording.time[row - 1]
            raise ValueError(
                f"in the sequence {recording.name!r} time advances by {advance:g} to {recording.time[row]:g}, where "
                f"{step:g} is usual ({len(after)} such gaps)."
            )
        elif gaps == "split":
            bounds = [0, *after.tolist(), len(recording)]
            found += [counted[a:b] for a, b in pairwise(bounds)]
        else:
            found.append(_filled(counted, missed))
    return found


def _filled(recording: Recording, missed: Any) -> Recording:
    """Insert rows without an observation into the gaps, evenly spaced in time."""
    if recording.controls is not None:
        raise ValueError("gaps cannot be filled where there are controls: what drove the moves in between is unknown.")
    total = len(recording) + int(missed.sum())
    if total > MOST_FILLED and total > 10 * len(recording):
        raise ValueError(
            f"filling the gaps of {recording.name!r} would turn {len(recording)} rows into {total}; keep them, or "
            "split the sequence there."
        )
    rows = np.concatenate([[0], np.arange(1, len(recording)) + np.cumsum(missed)])
    states = np.full((total, recording.states.shape[1]), np.nan)
    observations = np.full((total, recording.observations.shape[1]), np.nan)
    states[rows], observations[rows] = recording.states, recording.observations
    time = np.interp(np.arange(total), rows, recording.time)
    return replace(recording, time=time, states=states, observations=observations)
