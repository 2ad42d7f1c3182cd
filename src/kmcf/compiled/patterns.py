"""Observations with missing numbers, on JAX arrays: one compiled filter per pattern of columns.

What a step hands to the next are particles, which do not depend on columns, so steps of different patterns can follow
one another. A batch whose observations all lack the same columns runs as one compiled loop. Where patterns change, the
loop over time is on the host; each step is compiled, for all sequences with one pattern together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.compiled.belief import DeviceBelief
from kmcf.compiled.checks import check_results, is_traced
from kmcf.compiled.compiling import compiled
from kmcf.compiled.engine import CompiledFilter
from kmcf.compiled.fusing import power_of_two
from kmcf.compiled.inputs import Batch, read_one
from kmcf.compiled.records import FilterState, Model
from kmcf.compiled.seen import Seen
from kmcf.compiled.step import advance
from kmcf.filter.fitting.learnt import Learnt
from kmcf.filter.fitting.patterns import Fitted, Patterns, has_patterns
from kmcf.filter.inputs import ObservationReader
from kmcf.filter.rejection import NO_EXAMPLE_RESEMBLES, warn_rejected
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun
from kmcf.filter.results.run import batch as batch_of
from kmcf.filter.results.step_report import StepReport
from kmcf.filter.results.summaries import Summaries
from kmcf.numerics.arrays import IntArray
from kmcf.trust.alarm import Watch
from kmcf.trust.signals import Running

SETTINGS = (
    "transition",
    "initial",
    "angles",
    "seed_",
    "n_particles_",
    "n_resample",
    "rejecting_",
    "state_kernel_",
    "calibration_",
)
"""What a compiled filter takes from a filter besides what was learnt from observations."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnsFilter(CompiledFilter):
    """A compiled filter on some of the columns, or from some of the examples."""

    start_states: Any
    """The example states from which initial ones are drawn, which may be more than those of the rule."""

    @cached_property
    def model(self) -> Model:
        """The fitted numbers on the device."""
        return super().model._replace(examples=jnp.asarray(self.start_states, self.settings.dtype))

    @cached_property
    def together(self) -> Any:
        """The compiled step of several sequences, whose observations lack the same numbers."""
        return compiled(jax.vmap(partial(advance, settings=self.settings), in_axes=(None, 0, 0, 0)))


@dataclass(frozen=True, eq=False, kw_only=True)
class PatternedFilter(ColumnsFilter):
    """The backend of a filter on JAX arrays that uses the numbers which an observation has."""

    patterns: Patterns[ColumnsFilter]
    own: Fitted[ColumnsFilter] | None
    """For observations without gaps, where examples lack numbers; None: this filter itself."""

    def step(self, belief: Belief, y: Any, control: Any = None, time: Any = None) -> DeviceBelief:
        """Return the belief after one more observation.

        In the user's own compiled code nobody knows its pattern yet: it counts as one without gaps.
        """
        self._state_of(belief)  # complain about the belief first
        engine, value = self._chosen(read_one(self.reader, y, self.settings.dtype))
        advance = super().step if engine is self else engine.step
        return advance(belief, value, control, time)

    def _chosen(self, observation: Any) -> tuple[ColumnsFilter, Any]:
        """Return the filter for an observation, and what it sees of it."""
        if not is_traced(observation):
            known = ~np.isnan(observation).ravel()
            if known.any() and not (self.own is None and known.all()):
                columns, engine = self.patterns[known]
                return engine, observation.reshape(-1)[columns]
        if self.own is None:
            return self, observation
        return self.own.rule, observation.reshape(-1)[self.own.columns]

    def _run(
        self, batch: Batch, *, keep: bool, mesh: Any, start: FilterState | None = None, before: Running | None = None
    ) -> FilterRun:
        flat = batch.observations.reshape(*batch.observations.shape[:2], -1)
        absent = jnp.isnan(flat) if isinstance(flat, jax.Array) else np.isnan(flat)
        if self.own is None and not bool((absent.any(axis=-1) & ~absent.all(axis=-1)).any()):
            return super()._run(batch, keep=keep, mesh=mesh, start=start, before=before)
        known = ~np.asarray(absent)
        seen = np.unique(known[known.any(axis=-1)], axis=0)
        if len(seen) > 1:
            return self._by_steps(batch, keep=keep)
        columns, engine = self.patterns[seen[0]] if self.own is None or len(seen) else self.own
        chosen = batch._replace(observations=flat[..., columns])
        return engine._run(chosen, keep=keep, mesh=mesh, start=start, before=before)

    def _by_steps(self, batch: Batch, *, keep: bool) -> FilterRun:
        """Run sequences whose patterns differ, step by step, those with one pattern together."""
        self._warn_unused(batch)
        summaries = [Summaries() for _ in batch.lengths]
        kept: list[list[Belief]] = [[] for _ in batch.lengths]
        for b, belief in self._along(batch):
            summaries[b].add(belief)
            if keep:
                kept[b].append(belief)
        angles = self.settings.angles
        runs = [
            FilterRun(some, angles=angles, beliefs=tuple(beliefs) if keep else None)
            for some, beliefs in zip(summaries, kept, strict=True)
        ]
        rejected = [int(t) for run in runs for t in run.time[run.rejected]]
        if rejected:
            what = f"{len(rejected)} of {int(batch.lengths.sum())} observations were"
            warn_rejected(what, NO_EXAMPLE_RESEMBLES, first=min(rejected))
        return batch_of(runs)

    def _along(self, batch: Batch) -> Iterator[tuple[int, Belief]]:
        """Yield the beliefs of all sequences, with the numbers of the sequences, in order of time."""
        model, _, initial, _, _ = self.runner.compiled_for(None)
        states = initial(model, np.arange(len(batch.lengths), dtype=np.uint32))
        observations = np.asarray(batch.observations)
        last: list[Any] = [SimpleNamespace(report=StepReport())] * len(batch.lengths)
        for t in range(observations.shape[1]):
            for rows in _alike(observations[:, t], np.flatnonzero(batch.lengths > t)):
                engine, _ = self._chosen(observations[rows[0], t])
                seen = np.stack([self._chosen(observations[b, t])[1] for b in rows])
                more = power_of_two(len(rows)) - len(rows)  # few sizes have to be compiled
                padded = np.pad(np.arange(len(rows)), (0, more), mode="edge")
                places = rows[padded]
                drives = jax.tree.map(lambda array, t=t, places=places: array[places, t], batch.drives)
                some = jax.tree.map(lambda array, places=places: array[places], states)
                after, results = engine.together(engine.model, some, seen[padded], drives)
                states = jax.tree.map(lambda whole, new, at=places: whole.at[at].set(new), states, after)
                after, results = jax.device_get((after, results))
                one_step = jax.tree.map(lambda array: array[:, None], results)
                check_results(one_step, size=self.settings.n_particles, before=t)
                for k, b in enumerate(rows):
                    state, result = jax.tree.map(lambda array, k=k: array[k], (after, results))
                    known = Seen.after(last[b], seen[k], result, engine.watch)
                    last[b] = engine.host_belief(state, result, known)
                    yield int(b), last[b]


def _alike(observations: Any, rows: IntArray) -> list[IntArray]:
    """Return the rows that have numbers in the same columns, together."""
    patterns = np.isnan(observations[rows]).reshape(len(rows), -1)
    _, groups = np.unique(patterns, axis=0, return_inverse=True)
    groups = groups.ravel()
    return [rows[groups == group] for group in range(int(groups.max(initial=-1)) + 1)]


def with_patterns(flt: Any, dtype: Any, watch: Watch | None = None) -> CompiledFilter:
    """Return the backend of a fitted filter, which also takes observations that lack numbers, if its kernel can.

    Parameters
    ----------
    flt : KernelMonteCarloFilter
        Fitted on JAX arrays.
    dtype : dtype
        Precision.
    watch : Watch, optional
        What raises alarms.
    """
    learnt: Learnt = flt.learnt_
    if not has_patterns(learnt.reader):
        if learnt.further is None:
            return CompiledFilter.of(flt, dtype, watch)
        return _moved(flt, dtype, learnt, learnt.reader, watch)

    def on(columns: Any, found: Learnt) -> ColumnsFilter:
        reader = replace(learnt.reader, shape=(len(columns),), filling=None)
        return _moved(flt, dtype, found, reader, None if watch is None else watch.blind())

    patterns = Patterns[ColumnsFilter](
        learnt.examples[1][: learnt.learnt_from],
        lambda served: on(served.columns, flt.learn_columns(served)),
    )
    if learnt.incomplete is None:
        whole = _moved(flt, dtype, learnt, learnt.reader, watch)
        return PatternedFilter(**_fields(whole), patterns=patterns, own=None)
    columns = learnt.incomplete.served.columns
    own = Fitted(columns, on(columns, learnt))
    patterns.adopt(own)
    return PatternedFilter(**{**_fields(own.rule), "reader": learnt.reader}, patterns=patterns, own=own)


def _moved(flt: Any, dtype: Any, learnt: Learnt, reader: ObservationReader, watch: Watch | None) -> ColumnsFilter:
    """Move what was learnt to the device."""
    view = SimpleNamespace(**{name: getattr(flt, name, None) for name in SETTINGS})  # not every filter herds
    view.rule_, view.states_, view.reader_ = learnt.fitted.rule, learnt.states, reader
    moved = CompiledFilter.of(view, dtype, watch)
    return ColumnsFilter(**_fields(moved), start_states=flt.learnt_.start_states)


def _fields(filter_: CompiledFilter) -> dict[str, Any]:
    return {field.name: getattr(filter_, field.name) for field in fields(filter_)}
