"""The result of filtering a sequence or a batch of them: summaries per step, and the beliefs if they were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.filter.clock import belief_at
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.columns import ColumnsByName
from kmcf.filter.results.run_files import RunColumns, labelled, read_columns, write_run
from kmcf.filter.results.run_views import ViewedRun
from kmcf.filter.results.smoothed import SmoothedResults, filtered_table
from kmcf.filter.results.summaries import NAMES, SCALARS, UNSMOOTHED, Summaries, SummaryColumns, summarise
from kmcf.store.container import Container, open_container
from kmcf.support.extras import require
from kmcf.support.notebooks import html_table, spread_of

if TYPE_CHECKING:
    from kmcf.filter.backward.paths import Paths


class FilterRun(ColumnsByName, ViewedRun, SmoothedResults):
    """What a filter estimated along a sequence of T observations.

    Every summary has one entry per step, first axis T; for a batch of B sequences there is a leading axis B.
    ``run[t]`` is the belief at step t (``run[b][t]`` in a batch), if beliefs were kept.

    Parameters
    ----------
    summaries : SummaryColumns, optional
        The columns of the run. None: those of a batch's members are put together.
    angles : sequence of int
        State columns that are angles in radians.
    beliefs : sequence of Belief, optional
        One per step, if they were kept.
    members : sequence of FilterRun, optional
        The runs of a batch.
    filtered : FilterRun, optional
        The run that was smoothed, if this is a smoothed one.
    paths : Paths or callable, optional
        What whole paths of states are drawn from, or what makes it when it is asked for.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(20, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    >>> run = flt.fit(train.states, train.observations).filter(test.observations)
    >>> run.mean.shape, run.covariance.shape, run.ess.shape
    ((20, 1), (20, 1, 1), (20,))
    """

    def __init__(
        self,
        summaries: SummaryColumns | None,
        *,
        angles: Sequence[int] = (),
        beliefs: Sequence[Belief] | None = None,
        members: Sequence[FilterRun] | None = None,
        filtered: FilterRun | None = None,
        paths: Paths | Callable[[], Paths] | None = None,
    ) -> None:
        self._filtered = filtered
        self._paths = paths
        self._summaries = summaries
        self._angles = tuple(angles)
        self._beliefs = beliefs
        self._members = members

    @property
    def angles(self) -> tuple[int, ...]:
        """State columns that are angles in radians."""
        return self._angles

    @property
    def beliefs(self) -> Sequence[Belief]:
        """All beliefs of the sequence, if they were kept."""
        if self._members is not None:
            raise TypeError("this is a batch of runs: index a sequence first, run[b].beliefs.")
        if self._beliefs is None:
            raise LookupError(
                "this run kept its summaries only, to save memory; filter with keep_beliefs=True to get run[t]."
            )
        return self._beliefs

    @property
    def is_batch(self) -> bool:
        """Whether this holds several sequences, with a leading axis B."""
        return self._members is not None

    @property
    def has_summaries(self) -> bool:
        """Whether the columns were made together, rather than by the members of a batch."""
        return self._summaries is not None

    @property
    def summaries(self) -> SummaryColumns:
        """The columns of a run of one sequence."""
        if self._summaries is None:
            raise TypeError("this is a batch of runs: index a sequence first, run[b].")
        return self._summaries

    def at(self, time: Any, ahead: Any = None) -> Belief:
        """Return the belief at a time: that of the last step not after it, if beliefs were kept.

        Parameters
        ----------
        time : float
            On the clock of :attr:`times`.
        ahead : filter, optional
            The filter that made the run: predicts from that step to the time asked for.
        """
        return belief_at(self, time, ahead)

    def columns(self) -> dict[str, Any]:
        """Return all summaries that are defined, by name: arrays with one entry per step."""
        found = {name: self._column(name) for name in (*NAMES, *([UNSMOOTHED] if self.is_smoothed else []))}
        return {name: values for name, values in found.items() if values is not None}

    @classmethod
    def of_columns(
        cls,
        columns: Mapping[str, Any],
        *,
        angles: Sequence[int] = (),
        batch: bool = False,
        filtered: FilterRun | None = None,
    ) -> FilterRun:
        """Make a run from its summaries, as :meth:`columns` returns them; ``filtered`` is the run that was smoothed."""
        if not batch:
            return cls(Summaries.of_columns(columns), angles=angles, filtered=filtered)
        sequences = range(len(columns["time"]))
        members = tuple(
            cls.of_columns(
                {name: values[b] for name, values in columns.items()},
                angles=angles,
                filtered=None if filtered is None else filtered[b],
            )
            for b in sequences
        )
        return cls(None, angles=angles, members=members, filtered=filtered)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> FilterRun:
        """Read a run that was saved as NPZ: the summaries as they were; beliefs are not in the file."""
        with open_container(path) as container:
            return cls.read(container)

    @classmethod
    def read(cls, container: Container) -> FilterRun:
        """Read a run from an open file."""
        columns, angles, several, before = read_columns(container)
        filtered = cls.of_columns({**columns, **before}, angles=angles, batch=several) if before else None
        return cls.of_columns(columns, angles=angles, batch=several, filtered=filtered)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the summaries (not the beliefs) to a file: NPZ, CSV or Parquet, by the ending of ``path``.

        :func:`kmcf.load` and ``np.load`` read NPZ; CSV and Parquet (which need the extra ``kmcf[tables]``) have the
        columns of :meth:`to_dataframe`, with time (and sequence) first. An existing file stays until the new one is
        complete.
        """
        before = self._filtered_columns()
        write_run(path, RunColumns(self.columns(), self.angles, self.is_batch, before), self.to_dataframe)

    def to_dataframe(self) -> Any:
        """Return one row per step as a pandas DataFrame (needs the extra ``kmcf[tables]``)."""
        pandas = require("pandas", "tables")
        if self._members is not None:
            frames = {b: member.to_dataframe() for b, member in enumerate(self._members)}
            return pandas.concat(frames, names=["sequence"])
        table = {"mode": self.mode} if self._column("mean") is None else self._moments_by_column()
        table.update(filtered_table(self._filtered))
        table.update({name: self._column(name) for name in ("times", *SCALARS) if self._column(name) is not None})
        table.update({UNSMOOTHED: self.unsmoothed} if self.is_smoothed else {})
        return pandas.DataFrame(table, index=pandas.Index(self.time, name="time"))

    def _moments_by_column(self) -> dict[str, Any]:
        table: dict[str, Any] = {}
        flat_mean = self.mean.reshape(len(self.time), -1)
        flat_mode = np.asarray(self.mode).reshape(len(self.time), -1)
        variances = np.diagonal(self.covariance, axis1=1, axis2=2)
        for j in range(flat_mean.shape[1]):
            table[f"mean_{j}"] = flat_mean[:, j]
            table[f"sd_{j}"] = np.sqrt(np.where(variances[:, j] >= 0, variances[:, j], np.nan))
            table[f"lower_{j}"], table[f"upper_{j}"] = self.interval[:, 0, j], self.interval[:, 1, j]
            table[f"mode_{j}"] = flat_mode[:, j]
        return table

    def to_xarray(self) -> Any:
        """Return a labelled xarray Dataset (needs the extra ``kmcf[tables]``)."""
        return labelled(self.columns(), batch=self.is_batch, filtered=self._filtered_columns())

    def _column(self, name: str) -> Any:
        if self._summaries is not None:
            return self._summaries.column(name)
        parts = [member._column(name) for member in self._members or ()]
        if parts[0] is None:
            return None
        return parts if isinstance(parts[0], list) else np.stack(parts)

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, int | np.integer):
            raise TypeError(f"a run is indexed by one step number, not {index!r}.")
        if not -len(self) <= index < len(self):
            if self._members is not None:
                raise IndexError(f"sequence {index} of a batch of {len(self)} (they count from 0).")
            raise IndexError(f"step {index} of a run with {len(self)} steps (they count from 0).")
        return self.beliefs[index] if self._members is None else self._members[index].named(self._names, self._examples)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.beliefs if self._members is None else self._members)

    def __repr__(self) -> str:
        shape = " × ".join(str(size) for size in self.time.shape)
        kind = "smoothed, " if self.is_smoothed else ""
        return f"FilterRun({kind}{shape} steps, {int(self.missing.sum())} missing, {int(self.rejected.sum())} rejected)"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        shape = " × ".join(str(size) for size in self.time.shape)
        rows: dict[str, Any] = {"steps": shape}
        if self._column("mean") is not None:
            rows["state dimension"] = int(np.prod(self.mean.shape[self.time.ndim :]))
        rows["effective sample size"] = spread_of(self.ess)
        rows["coverage"] = spread_of(self.coverage)
        rows["observations missing"] = int(self.missing.sum())
        rows["observations rejected"] = int(self.rejected.sum())
        rows["relocated"] = int(self.relocated.sum())
        rows |= {"left as filtered": int(self.unsmoothed.sum())} if self.is_smoothed else {}
        rows["alarms"] = int(self.alarm.sum())
        rows["beliefs kept"] = "no" if self._beliefs is None and self._members is None else "yes"
        return html_table("FilterRun", rows, "smoothed" if self.is_smoothed else "")


def collect(beliefs: Iterable[Belief], *, angles: Sequence[int], keep: bool) -> FilterRun:
    """Make a run from beliefs as they are made; keep them only if ``keep``."""
    summaries, kept = summarise(beliefs, keep=keep)
    return FilterRun(summaries, angles=angles, beliefs=kept)


def batch(runs: Sequence[FilterRun], filtered: FilterRun | None = None) -> FilterRun:
    """Combine runs of equal length into one whose summaries have a leading axis."""
    return FilterRun(None, angles=runs[0].angles, members=tuple(runs), filtered=filtered)
