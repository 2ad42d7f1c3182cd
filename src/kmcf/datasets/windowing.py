"""Windows: the last few observations as one, in batch and online.

One observation often says too little about a state, and the ones just before it say more. A window puts them side by
side, newest first, as one vector for a filter, which needs no change: engines, JAX, baselines, saving and tuning see
longer vectors. Overlapping windows share numbers, so they are not independent given the states, as filters assume;
docs/how-to.md says what follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.datasets.window_inputs import (
    as_rows,
    check_length,
    check_seconds,
    one_time,
    one_vector,
    read_clock,
    rows_before,
)
from kmcf.numerics.arrays import Array, BoolArray, FloatArray, IntArray, array_namespace

Fill = Literal["nan", "repeat"]
FILLS = ("nan", "repeat")


@dataclass(frozen=True, eq=False)
class Window:
    """The last few observations of one sequence, kept online; it never changes.

    ``window.after(y)`` is the window after one more observation, ``window.stacked`` what a filter is shown. Over a
    sequence these are the rows of :func:`windows`, bit for bit.

    Parameters
    ----------
    length : int
        How many observations, the newest included.
    seconds : float, optional
        Only those less than this old count, in the unit of the times that are then needed.
    fill : {"nan", "repeat"}
        What stands where there is none: at the start of a sequence, where one was missing or is too old. "nan": NaN, so
        that a filter compares what is there, which costs it a fit when such a combination first occurs. "repeat": the
        one after it again, which costs nothing and is somewhat less accurate.

    Examples
    --------
    >>> window = Window(3)
    >>> for y in (5.0, 6.0, 7.0, 8.0):
    ...     window = window.after(y)
    ...     print(window.stacked)
    [ 5. nan nan]
    [ 6.  5. nan]
    [7. 6. 5.]
    [8. 7. 6.]
    """

    length: int
    seconds: float | None = None
    fill: Fill = "nan"
    _recent: tuple[FloatArray | None, ...] = field(default=(), repr=False)
    _times: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_length(self.length)
        check_seconds(self.seconds)
        if self.fill not in FILLS:
            raise ValueError(f"fill = {self.fill!r}; it must be 'nan' or 'repeat'.")

    @classmethod
    def spanning(cls, seconds: float, step: float, fill: Fill = "nan") -> Window:
        """Return the window of so many seconds where observations usually come every ``step``.

        Examples
        --------
        >>> Window.spanning(5.0, 0.5)
        Window(length=10, seconds=5.0, fill='nan')
        """
        check_seconds(seconds)
        if not (isinstance(step, int | float | np.number) and 0 < float(step) < math.inf):
            raise ValueError(f"step = {step!r}; a window in seconds needs to know how often observations come.")
        return cls(max(1, math.ceil(float(seconds) / float(step) - 1e-9)), float(seconds), fill)

    def after(self, observation: Any, time: float | None = None) -> Window:
        """Return the window after one more observation; None or all NaN: it is missing.

        Parameters
        ----------
        observation : number, vector or None
            The new observation, of the same shape as those before.
        time : float, optional
            When it came; needed where the window has ``seconds``.
        """
        seen = one_vector(observation)
        earlier = next((one for one in self._recent if one is not None), None)
        if seen is not None and earlier is not None and seen.shape != earlier.shape:
            raise ValueError(f"an observation has {len(seen)} numbers, but those before it have {len(earlier)}.")
        if self.seconds is None:
            times: tuple[float, ...] = ()
        else:
            times = (one_time(time, self._times), *self._times)[: self.length]
        return replace(self, _recent=(seen, *self._recent)[: self.length], _times=times)

    @property
    def stacked(self) -> FloatArray | None:
        """The last observations side by side, newest first; None if the newest is missing, or there is none yet."""
        if not self._recent or self._recent[0] is None:
            return None
        parts = [self._recent[0]]
        for age in range(1, self.length):
            one = self._recent[age] if age < len(self._recent) and self._young(age) else None
            parts.append(
                one if one is not None else parts[-1] if self.fill == "repeat" else np.full_like(parts[0], np.nan)
            )
        return np.concatenate(parts)

    def described(self) -> dict[str, Any]:
        """Return length, seconds and fill, as notes in a file keep them: ``Window(**described)``."""
        return {"length": int(self.length), "seconds": self.seconds, "fill": self.fill}

    def kept(self) -> tuple[tuple[FloatArray | None, ...], tuple[float, ...]]:
        """Return the observations that it holds, newest first, and their times where it counts seconds."""
        return self._recent, self._times

    def holding(self, recent: Iterable[FloatArray | None], times: Iterable[float] = ()) -> Window:
        """Return the same window holding other observations: what :meth:`kept` returned."""
        return replace(self, _recent=tuple(recent), _times=tuple(times))

    def _young(self, age: int) -> bool:
        return self.seconds is None or self._times[0] - self._times[age] < self.seconds


def windows(
    observations: Any,
    k: int | Window,
    groups: Any = None,
    *,
    times: Any = None,
    seconds: float | None = None,
    fill: Fill = "nan",
) -> Array:
    """Stack each observation with the k − 1 before it, newest first, as one vector.

    Parameters
    ----------
    observations : array (n,) or (n, ...), or list of n vectors
        In order of time. None or all NaN: missing; its own window is then missing, too (all NaN), since it brings
        nothing new.
    k : int or Window
        How many observations make one; a :class:`Window` brings ``seconds`` and ``fill``.
    groups : sequence of n, optional
        Which sequence an observation belongs to: a window never reaches into another. None: all are one sequence.
    times : sequence of n, optional
        When they were made, increasing within each group; needed for ``seconds``.
    seconds : float, optional
        Only observations less than this old count, in the unit of the times.
    fill : {"nan", "repeat"}
        What stands where there is no observation: at the start of a sequence, where one was missing or is too old.
        "nan": NaN, so that a filter compares what is there. "repeat": the one after it again.

    Returns
    -------
    array (n, k · d)
        With d numbers per observation; the first d columns are the observations themselves. JAX arrays stay JAX arrays.

    Examples
    --------
    >>> windows([1.0, 2.0, 3.0, 10.0, 20.0], 2, groups=[0, 0, 0, 1, 1])
    array([[ 1., nan],
           [ 2.,  1.],
           [ 3.,  2.],
           [10., nan],
           [20., 10.]])
    >>> windows([1.0, 2.0, 3.0], 2, times=[0.0, 1.0, 9.0], seconds=5.0, fill="repeat")
    array([[1., 1.],
           [2., 1.],
           [3., 3.]])
    """
    window = k if isinstance(k, Window) else Window(k, seconds, fill)
    rows = as_rows(observations)
    before = rows_before(groups, len(rows))
    clock = None if window.seconds is None else read_clock(times, before)
    missing = np.isnan(np.asarray(rows)).all(axis=1)
    sources = _sources(window, before, missing, clock)
    library = array_namespace(rows)
    stacked = library.where((sources < 0)[:, :, None], np.nan, rows[np.maximum(sources, 0)])
    return stacked.reshape(len(rows), window.length * rows.shape[1])


def windowed(recordings: Recording | Iterable[Recording], k: int | Window) -> Any:
    """Return recordings whose observations are windows; ``seconds`` of a window are those of ``recording.time``.

    Parameters
    ----------
    recordings : Recording or list of Recording
        Each is a sequence of its own. Its observations must be vectors.
    k : int or Window
        As for :func:`windows`.

    Examples
    --------
    >>> walk = Recording("walk", np.arange(3.0), np.zeros((3, 1)), np.array([[5.0], [6.0], [7.0]]))
    >>> windowed(walk, 2).observations
    array([[ 5., nan],
           [ 6.,  5.],
           [ 7.,  6.]])
    """
    if isinstance(recordings, Recording):
        return replace(recordings, observations=windows(recordings.observations, k, times=recordings.time))
    return [windowed(recording, k) for recording in recordings]


def described_window(notes: Any) -> Window | None:
    """Return the window that the notes of a file describe; None if they describe none that makes sense."""
    if not isinstance(notes, Mapping):
        return None
    try:
        return Window(**notes)
    except (TypeError, ValueError):
        return None


def _sources(window: Window, before: IntArray, missing: BoolArray, clock: FloatArray | None) -> IntArray:
    """Return the row that stands in each place of each window, (n, k); −1: none."""
    n = len(before)
    now = np.arange(n)
    sources = np.full((n, window.length), -1, dtype=np.intp)
    sources[:, 0] = np.where(missing, -1, now)
    reached = now
    for age in range(1, window.length):
        reached = np.where(reached < 0, -1, before[reached])
        usable = (reached >= 0) & ~missing[reached]
        if clock is not None and window.seconds is not None:
            usable &= clock - clock[reached] < window.seconds
        otherwise = sources[:, age - 1] if window.fill == "repeat" else -1
        sources[:, age] = np.where(missing, -1, np.where(usable, reached, otherwise))
    return sources
