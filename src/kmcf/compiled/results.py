"""The results of a batch: what the compiled loop returned, and what is computed from it on demand."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from kmcf.compiled.contract import Engine
from kmcf.compiled.fetching import belief_of
from kmcf.compiled.held import HeldResults
from kmcf.compiled.inputs import Batch
from kmcf.compiled.members import stacked
from kmcf.compiled.records import FilterState, lives_on_particles
from kmcf.compiled.seen import Seen, distances_of, residual_shifts_of, shifts_of
from kmcf.compiled.weights import summarise_weights
from kmcf.filter.clock import Drive
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.summaries import DECIDED, NAMES, decided
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.trust.signals import Running, running_means

WATCHED = ("log_evidence", "relative_evidence", "prediction_score", "support_size", "observation_distance",
           "observation_shift", "residual_shift", "running")  # fmt: skip
REPLAYED_AT_ONCE = 2**24
"""How many numbers of particles are held at a time when predictions are repeated (128 MB)."""


class Made(NamedTuple):
    """What a batch of runs was made from."""

    engine: Engine
    results: HeldResults
    drives: Drive


class BatchSummaries:
    """The summary columns of B sequences, (B, T, ...); those that need the weights are computed on first use."""

    def __init__(
        self,
        engine: Engine,
        results: HeldResults,
        batch: Batch,
        *,
        mesh: Mesh | None = None,
        start: FilterState | None = None,
        before: Running | None = None,
    ) -> None:
        self._before = Running() if before is None else before
        self._made_by: Engine | None = engine
        self.angles = tuple(engine.settings.angles)
        self._results = results
        self._observations = batch.observations
        self._drives = batch.drives
        self._mesh = mesh
        self._start = None if start is None else jax.device_get(start)
        self.lengths = batch.lengths
        self._columns: dict[str, Any] = {}
        self._replayed: tuple[int, list[Any]] = (-1, [])
        self._sequences: dict[str, dict[int, Any]] = {"interval": {}, "covariance": {}}

    @property
    def _engine(self) -> Engine:
        if self._made_by is None:
            raise LookupError("this run was pickled as a batch, which keeps its summaries only; pickle run[b] instead.")
        return self._made_by

    @property
    def made(self) -> Made:
        """What the batch was made from."""
        return Made(self._engine, self._results, self._drives)

    def column(self, name: str) -> Any:
        """Return one column for all sequences."""
        if name not in self._columns:
            self._columns[name] = self._make(name)
        return self._columns[name]

    def of_sequence(self, name: str, b: int) -> Any:
        """Return one column for one sequence, as long as it is."""
        if name in self._columns or not self._per_sequence(name):
            whole = self.column(name)
            return None if whole is None else whole[b, : self.lengths[b]]
        cache = self._sequences[name]
        if b not in cache:
            cache[b] = np.array([getattr(belief, name)() for belief in self.beliefs(b)])
        return cache[b]

    def beliefs(self, b: int) -> Iterator[Belief]:
        """Yield the beliefs of one sequence."""
        for t, particles in enumerate(self._particles(b)):
            yield self._belief(b, t, particles)

    def belief(self, b: int, t: int) -> Belief:
        """Return one belief."""
        if not self.on_particles[b, t]:
            return self._belief(b, t, None)
        if not self._engine.settings.support.on_particles:  # a missing observation here and there
            return next(belief for k, belief in enumerate(self.beliefs(b)) if k == t)
        if self._replayed[0] != b:
            self._replayed = b, list(self._particles(b))
        return self._belief(b, t, self._replayed[1][t])

    @cached_property
    def on_particles(self) -> BoolArray:
        """Which beliefs live on the particles, (B, T), which are replayed when they are asked for."""
        return np.asarray(lives_on_particles(self._results))

    def _belief(self, b: int, t: int, particles: FloatArray | None) -> Belief:
        begin, stream, before = (0, b, 0)
        if self._start is not None:
            begin, stream, before = (int(part) for part in self._start[1:4])
        running = Running(*self.column("running")[b, t].tolist())
        names = ("observation_distance", "observation_shift", "residual_shift")
        distance, shift, residual = (float(self.column(name)[b, t]) for name in names)
        return belief_of(
            self._engine,
            self._results.at(b, t),
            Seen(distance, running, shift, residual_shift=residual),
            time=begin + t + 1,
            stream=stream,
            rejections=before + int(self._results.rejected[b, : t + 1].sum()),
            particles=lambda: particles,  # type: ignore[arg-type, return-value]
            clocks=self._clocks(b, t),
        )

    def _clocks(self, b: int, t: int) -> tuple[float, float]:
        """Return the time of a step, and how much passed since the one before; NaN where they are not known."""
        if self._drives.clock is None:
            return np.nan, np.nan
        before = np.nan if self._start is None else float(self._start.clock)
        now = float(self._drives.clock[b][t])
        return now, now - (float(self._drives.clock[b][t - 1]) if t else before)

    def _particles(self, b: int) -> Iterator[FloatArray | None]:
        """Yield the predicted particles where the belief lives on them, by repeating the predictions."""
        needed = self.on_particles[b, : self.lengths[b]]
        corrected = self._results.corrected[b, : self.lengths[b]]
        state = self._start if self._start is not None else self._engine.initial_of(b)
        piece = max(1, REPLAYED_AT_ONCE // max(state.particles.size, 1))
        for first in range(0, len(corrected), piece):
            some = slice(first, min(first + piece, len(corrected)))
            if not needed[first:].any():
                yield from [None] * (len(corrected) - first)
                return
            drives = jax.tree.map(lambda array, some=some: array[b, some], self._drives)
            picks = jax.tree.map(lambda array, some=some: array[b, some], self._results.picks)
            state, particles = self._engine.replay_steps(state, corrected[some], picks, drives)
            yield from (sample if need else None for need, sample in zip(needed[some], particles, strict=True))

    def _make(self, name: str) -> Any:
        results = self._results
        if name == "time":
            begin = 0 if self._start is None else int(self._start.time)
            return np.tile(begin + 1 + np.arange(results.mean.shape[1]), (len(self.lengths), 1))
        if name == "times":
            return self._drives.clock
        if name == "coverage":
            return np.fmin(self.column("observation_coverage"), self.column("state_coverage"))
        if name == "mean":
            return _double(results.mean).reshape(*results.mean.shape[:2], *self._engine.state_shape)
        if name in ("ess", "negative_mass", "mode"):
            self._columns.update(self._from_weights())
            return self._columns[name]
        if self._per_sequence(name):
            return self._stacked(name)
        if name in DECIDED:
            self._columns.update(decided(self._engine.watch, self.column, results.missing.shape))
            return self._columns[name]
        if name in ("relocated", "straying"):  # compiled filters never do so
            return np.zeros(results.missing.shape, dtype=bool)
        return self._watched(name) if name in WATCHED else _double(getattr(results, name))

    def _watched(self, name: str) -> Any:
        """Return a column that alarms are decided from."""
        results, evidence = self._results, self._results.evidence
        if name == "log_evidence":
            return _double(evidence.predicted)
        if name == "relative_evidence":
            return _double(evidence.ratio)
        if name == "prediction_score":
            return _double(evidence.score)
        if name == "support_size":
            return np.where(self.on_particles, self._engine.settings.n_particles, len(self._engine.states))
        if name == "observation_distance":
            covered = self.column("observation_coverage")
            return distances_of(self._engine.watch, self._observations, covered, results.missing)
        if name == "observation_shift":
            return shifts_of(self._engine.watch, self._observations, results.missing)
        if name == "residual_shift":
            return residual_shifts_of(self._engine.watch, self._observations, self.column("mean"), results.corrected)
        series = self.column("observation_distance"), _double(evidence.innovation), -_double(evidence.spread)
        return running_means(*series) + np.array(self._before)  # a forecast sees nothing, and keeps what was before

    def _per_sequence(self, name: str) -> bool:
        return name == "interval" or (name == "covariance" and not self._results.has_covariance)

    def _stacked(self, name: str) -> Any:
        """Stack the sequences' columns, with NaN after the end of the shorter ones."""
        return stacked([self.of_sequence(name, b) for b in range(len(self.lengths))])

    def _from_weights(self) -> dict[str, Any]:
        """Compute what needs the weights of all steps, on the device, some steps at a time."""
        results, shape, size = self._results, self._engine.state_shape, self._engine.settings.n_particles
        corrected, herded = results.corrected, ~self.on_particles
        ess, negative = np.full(corrected.shape, float(size)), np.zeros(corrected.shape)
        mode = np.full((*corrected.shape, *shape), np.nan)
        if results.particles is not None:
            ess, mode = _double(results.particles.ess), _double(results.particles.mode).reshape(mode.shape)
        for b in np.flatnonzero([not corrected[b, :length].all() for b, length in enumerate(self.lengths)]):
            for t, particles in enumerate(self._particles(int(b))):
                if particles is not None and not corrected[b, t]:  # equal weights: their density decides
                    mode[b, t] = self._belief(int(b), t, particles).mode()
        if herded.any():
            some = results.prior[herded], results.solution[herded], results.weight_sum[herded]
            summary = summarise_weights(self._engine, *some, self._mesh)
            ess[herded], negative[herded] = 1.0 / summary.sum_of_squares, summary.negative_mass
            mode[herded] = self._engine.states[summary.largest]
        return {"ess": ess, "negative_mass": negative, "mode": mode}

    def __getstate__(self) -> dict[str, Any]:
        """Complete all columns before pickling, so that the filter need not be pickled too."""
        for name in NAMES:
            self.column(name)
        return {**self.__dict__, "_made_by": None, "_mesh": None, "_replayed": (-1, [])}


def _double(values: Any) -> Any:
    return np.array(values, np.float64 if values.dtype.kind == "f" else None)  # a copy: what JAX gives is read-only
