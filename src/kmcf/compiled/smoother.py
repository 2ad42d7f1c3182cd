"""Running the backward pass over a filtered batch, as much at a time as the device has room for.

The forward pass kept which states were picked, not the particles, so the predictions are repeated first.
"""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its functions without types.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.bayes_rule.backward import StateFeatures
from kmcf.compiled.backward import (
    BackwardInputs,
    BackwardModel,
    BackwardSettings,
    Knowledge,
    Smoothed,
    backward_pass,
    moves_from,
)
from kmcf.compiled.compiling import announcing, compiled
from kmcf.compiled.engine import CompiledFilter
from kmcf.compiled.fetching import candidates_of
from kmcf.compiled.memory import free_bytes, plan
from kmcf.compiled.records import herded
from kmcf.compiled.results import BatchSummaries
from kmcf.compiled.weights import mean_features
from kmcf.filter.backward.smoother import BACKWARD, MOST_MOVES, REMEMBERED
from kmcf.filter.clock import Drive
from kmcf.numerics.arrays import Array, FloatArray, IntArray
from kmcf.transitions.elapsed import takes_elapsed


class BackwardKit(NamedTuple):
    """The backward pass, compiled for batches of one kind."""

    settings: BackwardSettings
    model: BackwardModel
    rows: FloatArray | None
    """Features of all examples, and which share of them these see, (n, p + 1); None where no belief lives on them."""
    run: Any
    """Takes the model, what is known of the step after, and the steps."""


@dataclass(frozen=True, eq=False)
class BatchSmoother:
    """Smooths one filtered batch."""

    filtered: BatchSummaries
    features: StateFeatures

    @property
    def engine(self) -> CompiledFilter:
        """The filter that made the batch."""
        engine = self.filtered.made.engine
        assert isinstance(engine, CompiledFilter)
        return engine

    def run(self) -> Smoothed:
        """Return the smoothed beliefs, arrays (B, T, ...)."""
        size, steps = self._corrected.shape
        width, piece = plan(size, steps, 1, self._bytes_per_sequence, free_bytes(jax.local_devices()[0]))
        parts = []
        for first in range(0, size, width):
            rows = np.minimum(np.arange(first, first + width), size - 1)  # the last part is padded
            with announcing(f"the backward pass over {piece} steps of {width} sequences"):
                part = self._run_part(rows, piece)
            if (width, piece) == (size, steps):
                return part
            parts.append(jax.tree.map(lambda array, first=first: np.asarray(array)[: size - first], part))
        return jax.tree.map(lambda *arrays: np.concatenate(arrays), *parts)

    def _run_part(self, rows: IntArray, piece: int) -> Smoothed:
        """Smooth some sequences, piece by piece from the last; predictions are repeated from the start of each."""
        engine, steps = self.engine, self._corrected.shape[1]
        model, _, initial, _, _ = engine.runner.compiled_for(None)
        pieces = [slice(begin, min(begin + piece, steps)) for begin in range(0, steps, piece)]
        starts = [initial(model, rows.astype(np.uint32))]
        for some in pieces[:-1]:
            starts.append(self._replayed(model, starts[-1], rows, some)[0])
        p, dtype = len(self._lower), engine.settings.dtype
        nothing = (jnp.zeros((len(rows), *shape), dtype) for shape in ((p,), (p, p), (), ()))
        known = Knowledge(*nothing)
        found = []
        for some, start in zip(reversed(pieces), reversed(starts), strict=True):
            _, predicted = self._replayed(model, start, rows, some)
            known, part = self._kit.run(self._kit.model, known, self._inputs(rows, some, predicted))
            found.append(part)
        return found[0] if len(found) == 1 else jax.tree.map(lambda *a: jnp.concatenate(a, axis=1), *found[::-1])

    def _replayed(self, model: Any, state: Any, rows: IntArray, some: slice) -> tuple[Any, Array]:
        """Repeat the predictions of some steps."""
        results = self.filtered.made.results
        done = results.where_it_is("corrected"), results.where_it_is("picks")
        corrected, picks = jax.tree.map(lambda array: array[rows, some], done)
        drives = jax.tree.map(lambda array: array[rows, some], self.filtered.made.drives)
        return self.engine.replay_batch(model, state, corrected, picks, drives)

    def _inputs(self, rows: IntArray, some: slice, predicted: Array) -> BackwardInputs:
        """Put together what the filter left behind of some steps."""
        results = self.filtered.made.results
        done = results.where_it_is("corrected"), herded(results.where_it_is("picks")), ~self.filtered.on_particles
        corrected, picks, on_examples = (array[rows, some] for array in done)
        steps = np.arange(self._corrected.shape[1])[None, :]
        lengths = self.filtered.lengths[rows][:, None]
        shares, weights = self._particle_weights(rows, some)
        return BackwardInputs(
            predicted=predicted,
            shares=shares,
            weights=weights,
            filtered=self._filtered_means(rows, some),
            picks=picks,
            corrected=corrected,
            on_examples=on_examples,
            active=(steps < lengths - 1)[:, some],
            last=(steps == lengths - 1)[:, some],
            drive=jax.tree.map(lambda array: array[rows, some], self._moves),
            table=self._tables[1][rows, some],
            time=np.broadcast_to(1 + steps, (len(rows), steps.shape[1]))[:, some].astype(np.int32),
            stream=np.broadcast_to(rows[:, None], (len(rows), steps.shape[1]))[:, some].astype(np.uint32),
        )

    def _particle_weights(self, rows: IntArray, some: slice) -> tuple[Array | None, Array | None]:
        """Return the weights of predictions, and of posteriors, where these live on the particles."""
        found = self.filtered.made.results.where_it_is("particles")
        if found is None:
            return None, None
        after = jnp.where(found.resampled[..., None], 1.0 / found.weights.shape[-1], found.weights)
        first = jnp.full_like(after[:, :1], 1.0 / found.weights.shape[-1])
        return jnp.concatenate([first, after[:, :-1]], axis=1)[rows, some], found.weights[rows, some]

    def _filtered_means(self, rows: IntArray, some: slice) -> Array | None:
        """Return the mean features of the filter's beliefs on the examples, and how much these see, (B, T, p + 1)."""
        if self._kit.rows is None:
            return None
        whole = (self.filtered.made.results.where_it_is(name) for name in ("prior", "solution", "weight_sum"))
        columns = [column[rows, some] for column in whole]
        shape = columns[-1].shape
        flat = (column.reshape(-1, *column.shape[2:]) for column in columns)
        return mean_features(self.engine, self._kit.rows, *flat).reshape(*shape, -1)

    @cached_property
    def _corrected(self) -> Any:
        return np.asarray(self.filtered.made.results.corrected)

    @cached_property
    def _lower(self) -> FloatArray:
        return self.features.fitted.map.lower

    @cached_property
    def _moves(self) -> Drive:
        """What drove the move from each step to the next, (B, T, ...)."""
        drives = self.filtered.made.drives
        control = jax.tree.map(lambda array: np.concatenate([array[:, 1:], array[:, -1:]], axis=1), drives.control)
        if drives.clock is None:
            return Drive(control)
        return Drive(control, np.diff(drives.clock, axis=1, append=drives.clock[:, -1:] + 1.0))

    @cached_property
    def _tables(self) -> tuple[FloatArray | None, IntArray]:
        """The times that pass between steps, if moves can be tabled, and which of them passes where, (B, T)."""
        elapsed, zeros = self._moves.elapsed, np.zeros(self._corrected.shape, np.int32)
        few = len(self.engine.states) * self.features.copies <= MOST_MOVES
        if not few or self._moves.control is not None or not self.engine.settings.support.herds:
            return None, zeros
        if elapsed is None or not takes_elapsed(self.engine.settings.transition):
            return np.ones(1), zeros
        inside = np.arange(elapsed.shape[1])[None, :] < self.filtered.lengths[:, None] - 1
        different = np.unique(elapsed[inside])
        if not 0 < len(different) <= REMEMBERED:
            return None, zeros
        return different, np.minimum(np.searchsorted(different, elapsed), len(different) - 1).astype(np.int32)

    @cached_property
    def _kit(self) -> BackwardKit:
        """What is compiled, made once per filter for batches of one kind."""
        step, known = self.engine.settings, self.engine.backward
        inside = np.arange(self._corrected.shape[1])[None, :] < self.filtered.lengths[:, None]
        moving = bool((self.filtered.on_particles & inside).any())
        passed, driven = self._tables[0], self._moves.control is not None
        kind = (None if passed is None else tuple(passed.tolist()), moving, driven, self._moves.elapsed is None)
        if kind not in known:
            few = step.n_particles * self.features.copies <= MOST_MOVES
            settings = BackwardSettings(
                pivots=self.features.fitted.pivot_kernel.mapped(lambda array: array.astype(step.dtype)),
                copies=self.features.copies,
                step=step,
                tabled=passed is not None,
                moving=moving,
                remembered=step.support.on_particles and few and not driven,
            )
            run = compiled(partial(backward_pass, settings=settings))
            rows = self._rows() if step.support.herds else None
            known[kind] = BackwardKit(settings, self._model(settings, rows), rows, run)
        return known[kind]

    def _rows(self) -> FloatArray:
        """Return the features of all examples, and which share of them these see, (n, p + 1)."""
        rows = self.features.of(self.engine.states)
        return np.column_stack([rows, self.features.seen(rows, self.engine.states)])

    def _model(self, settings: BackwardSettings, rows: FloatArray | None) -> BackwardModel:
        dtype = settings.step.dtype
        model = BackwardModel(
            lower=jnp.asarray(self._lower, dtype),
            scale=jnp.asarray(self.features.scale, dtype),
            delta=jnp.asarray(self.features.delta, dtype),
            candidates=self.engine.model.candidate_states,
            rows=None if rows is None else jnp.asarray(rows[candidates_of(self.engine)], dtype),
            successors=None,
        )
        passed = self._tables[0]
        if passed is None:
            return model
        simulate = compiled(partial(moves_from, settings=settings))
        return model._replace(successors=jnp.stack([self._table(model, simulate, time) for time in passed]))

    def _table(self, model: BackwardModel, simulate: Any, elapsed: float) -> Array:
        """Simulate moves from all examples; return the mean features of those that herding chooses from, (N, p)."""
        states = jnp.asarray(self.engine.states, self.engine.settings.dtype)
        drive = Drive(None, None if self._moves.elapsed is None else elapsed)
        key = jax.random.fold_in(jax.random.key(self.engine.settings.seed), np.uint32(BACKWARD))
        found = simulate(model, states, drive, key)
        lost = int(jnp.sum(~jnp.isfinite(found).all(axis=1)))
        if lost:
            raise ValueError(
                f"transition(states, control, key) returned NaN or infinity when {lost} of the {len(states)} example "
                "states were moved, to smooth."
            )
        return found[candidates_of(self.engine)]

    def _bytes_per_sequence(self, steps: int) -> int:
        """Estimate the memory of one sequence."""
        step, p = self.engine.settings, len(self._lower)
        numbers = int(np.prod(self.engine.state_shape))
        size, picked = step.n_particles, step.n_resample if step.support.herds else 0
        simulated = (size if self._kit.settings.moving else 0) + (0 if self._kit.settings.tabled else picked)
        working = 3 * size * p + 8 * p * p + simulated * (3 * p + 2 * self.features.copies * numbers)
        kept = (
            size * numbers
            + 2 * picked
            + p
            + 1
            + (2 * size if self._kit.settings.moving else 0)
            + numbers**2
            + 2 * numbers
        )
        return int(step.dtype.itemsize * (working + 2 * steps * kept))
