"""One row per step of a run: gathered as beliefs are made; what needs the weights is filled in on demand."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, Protocol

import numpy as np

from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.kept import KeptBeliefs, LentBeliefs
from kmcf.numerics.objects import is_numeric
from kmcf.trust.alarm import Watch
from kmcf.trust.thresholds import LABEL

SCALARS = (
    "ess",
    "weight_sum",
    "negative_mass",
    "herding_loss",
    "coverage",
    "observation_coverage",
    "state_coverage",
    "log_evidence",
    "observation_distance",
    "rejected",
    "missing",
    "relocated",
    "alarm",
    "alarm_reason",
)
DECIDED = ("alarm", "alarm_reason")
"""Decided from the other columns, on demand."""
DERIVED = (*DECIDED, "coverage")
"""Not gathered."""
FROM_WEIGHTS = ("ess", "negative_mass")
FURTHER = ("relative_evidence", "prediction_score", "observation_shift", "residual_shift", "straying", "running")
"""Reported, and no columns of a run's own."""
REPORTED = (
    *(name for name in SCALARS if name not in (*DERIVED, *FROM_WEIGHTS)),
    *FURTHER,
)
"""What a step reports; the others are read off its belief."""
NAMES = ("time", "times", "mean", "covariance", "mode", "interval", *SCALARS)
GATHERED = (
    *(name for name in NAMES if name not in DERIVED),
    *FURTHER,
    "support_size",
)
"""Gathered as beliefs are made."""
COMPACT = {
    "running": np.float32,
    "relative_evidence": np.float32,
    "observation_shift": np.float32,
    "residual_shift": np.float32,
    "support_size": np.int32,
}
"""Columns that only alarms look at take little memory."""
UNSMOOTHED = "unsmoothed"
"""The column that only smoothed runs have."""
FOR_ALARMS = (
    "mean",
    "ess",
    "negative_mass",
    "state_coverage",
    "observation_coverage",
    "observation_distance",
    "observation_shift",
    "residual_shift",
    "straying",
    "relative_evidence",
    "rejected",
    "running",
    "support_size",
)
CHUNK = 512
FEW_STATES = 5000
"""With this many examples or fewer, the weights of a chunk are formed as soon as it is full."""


class SummaryColumns(Protocol):
    """Something that has the summary columns of a run."""

    def column(self, name: str) -> Any:
        """Return a column, one entry per step; None if it is not defined."""
        ...


class Summaries:
    """The summary columns of one sequence, kept in chunks of 512 steps.

    Engines that do not form weights leave some entries open (the mode, say). With few examples, a full chunk is
    completed at once; with many, on the first use of such a column.
    """

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self._arrays: dict[str, Any] = {}
        self._watch: Watch | None = None
        self._kept: KeptBeliefs | None = None

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any]) -> Summaries:
        """Make summaries from complete columns; those not given are not defined."""
        summaries = cls()
        summaries._arrays = {name: columns.get(name) for name in (*NAMES, UNSMOOTHED)} | {
            name: values for name, values in unwatched(np.shape(columns["time"])).items() if columns.get(name) is None
        }
        return summaries

    def add(self, belief: Belief) -> None:
        """Append the summary of one more belief."""
        if not self._chunks or self._chunks[-1].full:
            self._chunks.append(_Chunk())
        self._watch = belief.watch
        self._chunks[-1].add(belief)

    def keep(self, beliefs: KeptBeliefs) -> None:
        """Take note of where the run keeps the beliefs that were added."""
        self._kept = beliefs

    def column(self, name: str) -> Any:
        """Return a column as an array; a list if its entries are objects, None if it is not defined."""
        if name in DECIDED and name not in self._arrays:
            self._arrays.update(decided(self._watch, self.column, np.shape(self.column("time"))))
        if name == "coverage" and name not in self._arrays:
            self._arrays[name] = np.fmin(self.column("observation_coverage"), self.column("state_coverage"))
        if name not in self._arrays:
            parts = [chunk.column(name) for chunk in self._chunks]
            if parts[0] is None:
                self._arrays[name] = None
            elif isinstance(parts[0], list):
                self._arrays[name] = [entry for part in parts for entry in part]
            else:
                self._arrays[name] = np.concatenate(parts)
        return self._arrays[name]

    def __getstate__(self) -> dict[str, Any]:
        """Complete all columns before pickling, so that the examples' features need not be pickled too."""
        for name in (*NAMES, *GATHERED):
            self.column(name)
        return {**self.__dict__, "_chunks": [], "_kept": None}

    def unfinished(self) -> dict[str, Any]:
        """Return what it takes to go on in a process that has the filter: nothing completed, no belief there twice."""
        kept, chunks, sent = self._kept, [], count()
        if kept is None:
            kept = KeptBeliefs([belief for chunk in self._chunks for belief in chunk.unfilled.values()])
        for number, chunk in enumerate(self._chunks):
            first = number * CHUNK
            places = {k: next(sent) if self._kept is None else first + k for k in chunk.unfilled}
            chunks.append(chunk.lent(LentBeliefs(kept, places)))
        return {**self.__dict__, "_chunks": chunks}


def decided(watch: Watch | None, column: Callable[[str], Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Decide about alarms from the other columns; nobody watching, there are none."""
    if watch is None:
        return {name: unwatched(shape)[name] for name in DECIDED}
    alarm, reason = watch.decide({name: column(name) for name in FOR_ALARMS})
    return {"alarm": alarm, "alarm_reason": reason}


def unwatched(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the columns of runs that were not watched, such as those in files of earlier versions."""
    nan = np.full(shape, np.nan)
    return {
        "log_evidence": nan, "observation_distance": nan, "prediction_score": nan,
        "relocated": np.zeros(shape, dtype=bool),
        "alarm": np.zeros(shape, dtype=bool), "alarm_reason": np.full(shape, "", dtype=LABEL),
    }  # fmt: skip


class _Chunk:
    """Some steps' summaries, as lists while they grow and as arrays once they are complete."""

    def __init__(self) -> None:
        self._columns: dict[str, Any] = {name: [] for name in GATHERED}
        self._open: dict[int, Belief] | LentBeliefs = {}
        self._objects = False  # whether states are objects, not numbers
        self.full = False

    def add(self, belief: Belief) -> None:
        position = len(self._columns["time"])
        self._objects = not is_numeric(belief.states)
        if belief.unformed:
            assert isinstance(self._open, dict)
            self._open[position] = copy.copy(belief)  # the user may form the weights of the original
        for name, value in _summary(belief).items():
            self._columns[name].append(value)
        self.full = position + 1 == CHUNK
        if self.full and (not self._open or len(belief.states) <= FEW_STATES):
            self._complete()

    def column(self, name: str) -> Any:
        if self._open and name != "times" and self._has_gaps(name):
            self._complete()
        return self._packed(name)

    def _has_gaps(self, name: str) -> bool:
        values = self._columns[name]
        return isinstance(values, list) and any(value is None for value in values)

    @property
    def unfilled(self) -> Mapping[int, Belief]:
        """The beliefs of entries that are open, by position."""
        return self._open

    def lent(self, beliefs: LentBeliefs) -> _Chunk:
        """Return the same with open entries from elsewhere, and with arrays as far as it is complete."""
        twin, columns = copy.copy(self), self._columns
        twin._columns = {name: columns[name] if self._has_gaps(name) else self._packed(name) for name in columns}
        twin._open = beliefs
        return twin

    def _packed(self, name: str) -> Any:
        values = self._columns[name]
        if isinstance(values, np.ndarray) or values is None:
            return values
        if values[0] is None:
            return None
        return values if name == "mode" and self._objects else np.array(values, dtype=COMPACT.get(name))

    def _complete(self) -> None:
        """Fill the open entries and pack the columns."""
        if self._open:
            rules: dict[int, list[int]] = {}  # one pattern of missing numbers, one rule
            for position, belief in self._open.items():
                rules.setdefault(id(getattr(belief.source, "rule", None)), []).append(position)
            for positions in rules.values():
                self._fill(positions)
            self._open = {}
        self._columns = {name: self._packed(name) for name in GATHERED}

    def _fill(self, positions: list[int]) -> None:
        beliefs = [self._open[position] for position in positions]
        sources = [source for belief in beliefs if (source := belief.source) is not None]
        found = sources[0].summarise(sources)
        for k, (position, belief) in enumerate(zip(positions, beliefs, strict=True)):
            entries = {
                "ess": 1.0 / float(found.sum_of_squares[k]),
                "negative_mass": float(found.negative_mass[k]),
                "mode": belief.states[int(found.largest[k])],
            }
            if not self._objects:
                formed = copy.copy(belief)  # so that its weights are freed after this
                entries["interval"] = formed.interval()
                if self._columns["covariance"][position] is None:
                    entries["covariance"] = formed.covariance()
            for name, value in entries.items():
                if self._columns[name][position] is None:
                    self._columns[name][position] = value


def summarise(beliefs: Iterable[Belief], *, keep: bool) -> tuple[Summaries, KeptBeliefs | None]:
    """Run through beliefs as they are made; return their summaries, and the beliefs themselves if ``keep``."""
    summaries = Summaries()
    kept: list[Belief] = []
    for belief in beliefs:
        summaries.add(belief)
        if keep:
            kept.append(belief)
    if not keep:
        return summaries, None
    summaries.keep(found := KeptBeliefs(kept))
    return summaries, found


def _summary(belief: Belief) -> dict[str, Any]:
    """Return what is known of a belief without forming its weights; None for the rest."""
    source = belief.source if belief.unformed else None
    known = _from_weights(belief) if source is None else _from_source(belief, source)
    report = {name: getattr(belief.report, name) for name in REPORTED}
    return {"time": belief.time, "times": belief.clock, "support_size": len(belief), **known, **report}


def _from_weights(belief: Belief) -> dict[str, Any]:
    numeric = is_numeric(belief.states)
    return {
        "mean": belief.mean() if numeric else None,
        "covariance": belief.covariance() if numeric else None,
        "interval": belief.interval() if numeric else None,
        "mode": belief.mode(),
        "ess": belief.ess,
        "negative_mass": belief.negative_mass,
    }


def _from_source(belief: Belief, source: LazyWeights) -> dict[str, Any]:
    mean, squares = source.mean(), source.sum_of_squares()
    return {
        "mean": None if mean is None else mean.reshape(belief.states.shape[1:]),
        "covariance": source.covariance(),
        "interval": None,
        "mode": None,
        "ess": None if squares is None else 1.0 / squares,
        "negative_mass": None,
    }
