"""What a run of smoothed beliefs offers besides: the run that was smoothed, paths, pairs of successive states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.filter.results.summaries import UNSMOOTHED, Summaries, SummaryColumns
from kmcf.numerics.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from kmcf.filter.backward.paths import Paths
    from kmcf.filter.results.run import FilterRun

SMOOTHED = ("mean", "covariance", "mode", "interval", "ess", "negative_mass")
"""Columns that smoothing changes; all others are those of the filter."""


class SmoothedColumns:
    """The columns of a smoothed run: its own where smoothing changes them, otherwise those of the filter."""

    def __init__(self, own: Summaries, filtered: SummaryColumns, unsmoothed: Sequence[bool]) -> None:
        self._own = own
        self._filtered = filtered
        self._unsmoothed = np.array(unsmoothed, dtype=bool)

    def column(self, name: str) -> Any:
        """Return a column."""
        if name == UNSMOOTHED:
            return self._unsmoothed
        return (self._own if name in SMOOTHED else self._filtered).column(name)


def filtered_table(filtered: FilterRun | None) -> dict[str, Any]:
    """Return the columns of a table that show the filter's estimates beside the smoothed ones."""
    if filtered is None or "mean" not in filtered.columns():
        return {}
    steps = len(filtered.time)
    mean, interval = filtered.mean.reshape(steps, -1), filtered.interval
    table: dict[str, Any] = {}
    for j in range(mean.shape[1]):
        table[f"filtered_mean_{j}"] = mean[:, j]
        table[f"filtered_lower_{j}"], table[f"filtered_upper_{j}"] = interval[:, 0, j], interval[:, 1, j]
    return table


class SmoothedResults:
    """The part of a run that only smoothed ones have."""

    _members: Any
    _filtered: FilterRun | None = None
    _paths: Paths | Callable[[], Paths] | None = None

    @property
    def is_smoothed(self) -> bool:
        """Whether the estimates know later observations, too."""
        return self._filtered is not None

    @property
    def filtered(self) -> FilterRun | None:
        """The run of the filter that was smoothed; None if this is one itself."""
        return self._filtered

    @property
    def unsmoothed(self) -> BoolArray:
        """Steps whose beliefs are the filter's, because the way back to them could not be trusted.

        So it is where states are far from all examples, or at their edge (docs/smoothing.md).
        """
        if self._filtered is None:
            raise LookupError("this run was filtered: no step was smoothed. Use flt.smooth(...).")
        found = self._column(UNSMOOTHED)
        return np.zeros(self._column("time").shape, dtype=bool) if found is None else found  # a file from before

    def sample_paths(self, size: int, random_state: Any = 0) -> Any:
        """Draw whole paths of states given all observations, (size, T, d); (B, size, T, d) for a batch.

        States of successive steps belong together, unlike those drawn from each belief alone. Where the transition has
        a ``log_density``, it tells which do; otherwise moves simulated by the transition. Negative weights count as
        zero.

        Parameters
        ----------
        size : int
            How many paths.
        random_state : int or Generator
            Seed.
        """
        if not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(f"size = {size!r}; it must be a positive integer.")
        rng = np.random.default_rng(random_state)
        if self._members is not None:
            return np.stack([member.sample_paths(size, rng) for member in self._members])
        paths = self._known_paths()
        steps = [paths.states(t, picks) for t, picks in enumerate(paths.sample(int(size), rng))]
        return np.stack(steps, axis=1) if paths.numeric else [list(path) for path in zip(*steps, strict=True)]

    def best_path(self) -> Any:
        """Return the most probable path of states, (T, d), where there are few different ones; a list of objects.

        In a continuum every single path has probability zero: there this is an error.
        """
        if self._members is not None:
            return np.stack([member.best_path() for member in self._members])
        paths = self._known_paths()
        best = [paths.states(t, np.array([place]))[0] for t, place in enumerate(paths.best())]
        return np.stack(best) if paths.numeric else best

    def pairwise(self, t: int) -> FloatArray:
        """Return the joint weights of the states of steps t and t + 1 (from 0), (n, m): not negative, with sum one.

        Parameters
        ----------
        t : int
            The first of the two steps.
        """
        if self._members is not None:
            raise TypeError("this is a batch of runs: index a sequence first, run[b].pairwise(t).")
        paths = self._known_paths()
        if not isinstance(t, int | np.integer) or not 0 <= t < len(paths.weights) - 1:
            raise IndexError(f"t = {t!r}; pairs of steps begin at 0 to {len(paths.weights) - 2}.")
        return paths.pairwise(int(t))

    def _column(self, name: str) -> Any:
        raise NotImplementedError

    def _filtered_columns(self) -> dict[str, Any]:
        """Return the filter's columns where smoothing changed them; nothing if this is the filter's run."""
        columns = {} if self._filtered is None else self._filtered.columns()
        return {name: columns[name] for name in SMOOTHED if name in columns}

    def _known_paths(self) -> Paths:
        if callable(self._paths):
            self._paths = self._paths()
        if self._paths is not None:
            return self._paths
        if self._filtered is None:
            raise LookupError(
                "this run was filtered: its beliefs say nothing about successive states together. Use flt.smooth(...)."
            )
        raise LookupError(
            "this run came from a file or kept a fixed lag: paths need flt.smooth(...) over the sequence."
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what paths are drawn from: it holds the user's transition."""
        return {**self.__dict__, "_paths": None}
