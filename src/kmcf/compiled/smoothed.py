"""Runs of smoothed beliefs from the compiled backward pass: columns and beliefs, made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from kmcf.bayes_rule.backward import StateFeatures
from kmcf.compiled.backward import Smoothed
from kmcf.compiled.fetching import candidates_of
from kmcf.compiled.members import Beliefs, Members, SequenceSummaries, stacked
from kmcf.compiled.records import herded
from kmcf.compiled.results import BatchSummaries
from kmcf.compiled.smoother import BatchSmoother
from kmcf.filter.backward.paths import Paths
from kmcf.filter.backward.smoother import SmoothedBelief, Smoother, Trellis
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun
from kmcf.filter.results.smoothed import SMOOTHED
from kmcf.filter.results.summaries import UNSMOOTHED
from kmcf.numerics.arrays import FloatArray

FROM_BELIEFS = ("interval", "covariance")


def backward_keys(seed: int) -> Any:
    """Return what makes the random keys of the backward pass: those of the filter, for the steps that it made."""

    def key(*place: int) -> Any:
        found = jax.random.key(seed)
        for number in place:
            found = jax.random.fold_in(found, np.uint32(number))
        return found

    return key


def smoothed_together(smoother: Smoother, filtered: Any) -> Any:
    """Smooth runs that were filtered together; None where they must be smoothed on the host.

    Parameters
    ----------
    smoother : Smoother
        Which makes the same backward steps on the host; whole paths are drawn with it.
    filtered : FilterRun or list of FilterRun
        A run, a batch, or the runs of one batch.
    """
    batch = _batch_of(filtered)
    if batch is None or not isinstance(smoother.features, StateFeatures):
        return None  # steps with different columns, or a few states that are simply counted
    found = SmoothedBatch(batch, BatchSmoother(batch, smoother.features).run())
    members = SmoothedMembers(found, smoother)
    if isinstance(filtered, list):
        return list(members)
    if not filtered.is_batch:
        return members[0]
    return FilterRun(found, angles=batch.angles, members=members, filtered=filtered)


def _batch_of(filtered: Any) -> BatchSummaries | None:
    """Return the summaries of the batch that runs belong to; None where each was filtered on its own."""
    runs = filtered if isinstance(filtered, list) else [filtered]
    if not runs or (runs[0].is_batch and not runs[0].has_summaries):
        return None
    columns = runs[0].summaries
    batch = columns.batch if isinstance(columns, SequenceSummaries) else columns
    return batch if isinstance(batch, BatchSummaries) else None


class SmoothedBatch:
    """The columns of B smoothed sequences; those that smoothing does not change are the filter's."""

    def __init__(self, filtered: BatchSummaries, found: Smoothed) -> None:
        self.filtered = filtered
        self.lengths = filtered.lengths
        self.angles = filtered.angles
        self._found = found
        self._columns: dict[str, Any] = {}
        self._sequences: dict[str, dict[int, Any]] = {name: {} for name in FROM_BELIEFS}
        if not np.isfinite(np.asarray(found.mean)[self._later]).all():
            raise ValueError("transition(states, control, key) returned NaN or infinity for states that were smoothed.")

    @property
    def _later(self) -> Any:
        """Which steps have a later one in their sequence, (B, T)."""
        return np.arange(self._found.ess.shape[1])[None, :] < self.lengths[:, None] - 1

    @cached_property
    def _kept(self) -> Any:
        """At which of them the filter's belief was kept, (B, T)."""
        return np.asarray(self._found.kept) & self._later

    def column(self, name: str) -> Any:
        """Return one column for all sequences."""
        if name == UNSMOOTHED:
            return self._kept
        if name not in SMOOTHED:
            return self.filtered.column(name)
        if name not in self._columns:
            self._columns[name] = self._stacked(name) if self._per_sequence(name) else self._made(name)
        return self._columns[name]

    def of_sequence(self, name: str, b: int) -> Any:
        """Return one column for one sequence, as long as it is."""
        if name == UNSMOOTHED:
            return self._kept[b, : self.lengths[b]]
        if name not in SMOOTHED:
            return self.filtered.of_sequence(name, b)
        if name in self._columns or not self._per_sequence(name):
            return self.column(name)[b, : self.lengths[b]]
        cache = self._sequences[name]
        if b not in cache:
            cache[b] = np.array([getattr(belief, name)() for belief in self.beliefs(b)])
        return cache[b]

    def beliefs(self, b: int) -> Iterator[Belief]:
        """Yield the smoothed beliefs of one sequence."""
        for t, belief in enumerate(self.filtered.beliefs(b)):
            yield self._smoothed(b, t, belief)

    def belief(self, b: int, t: int) -> Belief:
        """Return one smoothed belief."""
        return self._smoothed(b, t, self.filtered.belief(b, t))

    def _smoothed(self, b: int, t: int, belief: Belief) -> Belief:
        kept = bool(self._kept[b, t])
        own = None if kept or t == self.lengths[b] - 1 else self.weights(b, t, belief)
        return SmoothedBelief(belief, own, unsmoothed=kept)

    def weights(self, b: int, t: int, belief: Belief) -> FloatArray:
        """Return the smoothed weights of a belief that is not the last."""
        if self._kept[b, t]:
            return belief.weights
        made, found = self.filtered.made, self._found
        if found.on_examples is not None and not self.filtered.on_particles[b, t]:
            picked = candidates_of(made.engine)[np.asarray(herded(made.results.picks)[b, t])]
            own = np.asarray(found.on_examples[b, t], np.float64)
            return np.asarray(np.bincount(picked, weights=own, minlength=len(belief)), np.float64)
        assert found.on_particles is not None
        return np.asarray(found.on_particles[b, t], np.float64)

    def _per_sequence(self, name: str) -> bool:
        return name == "interval" or (name == "covariance" and self._found.covariance is None)

    def _made(self, name: str) -> Any:
        """Return a column of the backward pass; where it was not smoothed, that of the filter."""
        before, changed = np.array(self.filtered.column(name)), self._later & ~self._kept
        if name == "negative_mass":
            before[changed] = 0.0
            return before
        own = np.asarray(getattr(self._found, name), np.float64).reshape(before.shape)
        before[changed] = own[changed]
        return before

    def _stacked(self, name: str) -> Any:
        return stacked([self.of_sequence(name, b) for b in range(len(self.lengths))])

    def __getstate__(self) -> dict[str, Any]:
        """Complete all columns before pickling."""
        for name in SMOOTHED:
            self.column(name)
        return {**self.__dict__, "_found": jax.device_get(self._found)}


class SmoothedMembers(Members):
    """The runs of a batch's sequences, made when asked for."""

    def __init__(self, summaries: SmoothedBatch, smoother: Smoother | None) -> None:
        super().__init__(summaries, keep=True)
        self._before = Members(summaries.filtered, keep=True)
        self._batch = summaries
        self._smoother = smoother

    def _run(self, b: int) -> FilterRun:
        return FilterRun(
            SequenceSummaries(self._batch, b),
            angles=self._batch.angles,
            beliefs=Beliefs(self._batch, b),
            filtered=self._before[b],
            paths=None if self._smoother is None else partial(self._paths, b, self._smoother),
        )

    def _paths(self, b: int, smoother: Smoother) -> Paths:
        """Return what whole paths are drawn from, on the host."""
        beliefs = list(self._batch.filtered.beliefs(b))
        weights = [self._batch.weights(b, t, belief) for t, belief in enumerate(beliefs[:-1])]
        return Paths(Trellis.of(smoother, beliefs, self._controls(b, len(beliefs))), [*weights, beliefs[-1].weights])

    def _controls(self, b: int, length: int) -> Sequence[Any] | None:
        controls = self._batch.filtered.made.drives.control
        if controls is None:
            return None
        return [jax.tree.map(lambda array, t=t: array[b, t], controls) for t in range(length)]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what draws paths: it holds the user's transition."""
        return {**self.__dict__, "_smoother": None}
