"""The JAX path of a filter: the fitted numbers on the device, and compiled functions for steps and whole sequences."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh

from kmcf.compiled.algebra import DeviceAlgebra
from kmcf.compiled.belief import DeviceBelief
from kmcf.compiled.checks import check_results, is_traced
from kmcf.compiled.compiling import compiled
from kmcf.compiled.fetching import fetched_belief
from kmcf.compiled.inputs import Batch, read_batch, read_one, read_sequences
from kmcf.compiled.members import Members
from kmcf.compiled.preparing import CompiledRule, model_of, settings_for
from kmcf.compiled.records import FilterState, Model, StepResult, StepSettings
from kmcf.compiled.results import BatchSummaries
from kmcf.compiled.runner import BatchRunner
from kmcf.compiled.seen import Seen
from kmcf.compiled.step import advance, blank_result, initial_state, replay
from kmcf.filter.clock import Clock, Drive, drive_from, intervals, read_time, warn_unused
from kmcf.filter.inputs import ObservationReader
from kmcf.filter.rejection import NO_EXAMPLE_RESEMBLES, warn_rejected
from kmcf.filter.results.belief import Belief, check_continues
from kmcf.filter.results.run import FilterRun
from kmcf.kernels import Kernel
from kmcf.numerics.objects import Objects
from kmcf.transitions.elapsed import takes_elapsed
from kmcf.trust.alarm import Watch
from kmcf.trust.calibration import Calibration
from kmcf.trust.signals import Running


@dataclass(frozen=True, eq=False)
class CompiledFilter:
    """The backend of a filter that was fitted on JAX arrays: its steps are compiled."""

    rule: CompiledRule
    """The rule as fitted by NumPy; weights are formed from it on request."""
    states: Objects
    """The example states."""
    reader: ObservationReader
    kernel: Kernel
    """The state kernel."""
    settings: StepSettings
    calibration: Calibration | None = None
    """What the intervals of its beliefs are corrected by."""
    watch: Watch | None = None
    """What raises alarms, on the host."""

    @classmethod
    def of(cls, flt: Any, dtype: Any, watch: Watch | None = None) -> CompiledFilter:
        """Move a filter that NumPy fitted to the device.

        Parameters
        ----------
        flt : KernelMonteCarloFilter
            Or a ParticleLikelihoodFilter; its transition and initial draws are written for JAX.
        dtype : dtype
            Precision.
        watch : Watch, optional
            What raises alarms.
        """
        settings = settings_for(flt, dtype)
        return cls(flt.rule_, flt.states_, flt.reader_, flt.state_kernel_, settings, flt.calibration_, watch)

    @property
    def made_for(self) -> tuple[Any, Any]:
        """The user's transition and initial draw that it was made for."""
        return self.settings.transition, self.settings.initial

    def unwatched(self) -> CompiledFilter:
        """Return the same without alarms."""
        return dataclasses.replace(self, watch=None)

    def with_algebra(self, algebra: DeviceAlgebra) -> CompiledFilter:
        """Return the same filter with another algebra, to compare."""
        return dataclasses.replace(self, settings=dataclasses.replace(self.settings, algebra=algebra))

    @property
    def state_shape(self) -> tuple[int, ...]:
        """Shape of one state."""
        return tuple(self.states.shape[1:])

    @cached_property
    def model(self) -> Model:
        """The fitted numbers on the device."""
        return model_of(self.rule, self.states, self.settings)

    def start(self, stream: Any) -> DeviceBelief:
        """Return the belief before the first observation."""
        if not isinstance(stream, jax.Array) and (not isinstance(stream, int | np.integer) or stream < 0):
            raise ValueError(f"stream = {stream!r}; it must be a non-negative integer.")
        state = self.initial_of(stream)
        blank = self._blank(self.model, state)
        if not is_traced(state):
            check_results(blank, size=self.settings.n_particles, before=0)
        return DeviceBelief(self, state, blank)

    def step(self, belief: Belief, y: Any, control: Any = None, time: Any = None) -> DeviceBelief:
        """Return the belief after one more observation; can be compiled, batched and scanned by the user."""
        state = self._state_of(belief)
        drive = Drive(control, clock=time)
        if not is_traced((state, time)):
            drive = Drive(control, clock=drive_from(Clock.of(state), control, read_time(time)).clock)
        observation = read_one(self.reader, y, self.settings.dtype)
        after, result = self._step(self.model, state, observation, drive)
        if not is_traced(after):
            check_results(result, size=self.settings.n_particles, before=int(state.time))
            if self._timeless and np.isfinite(state.elapsed):
                warn_unused([float(state.elapsed), float(after.elapsed)], self._timeless)
            if bool(result.rejected) and int(state.rejections) == 0:
                warn_rejected("an observation was", NO_EXAMPLE_RESEMBLES, first=int(after.time))
        return DeviceBelief(self, after, result, Seen.after(belief, observation, result, self.watch))

    def filter(
        self,
        observations: Any,
        controls: Any,
        *,
        times: Any = None,
        progress: bool = False,
        keep_beliefs: bool | None = None,
        mesh: Mesh | None = None,
    ) -> FilterRun:
        """Filter one sequence or a batch."""
        keep = keep_beliefs is not False
        dtype = self.settings.dtype
        if self.reader.is_batch(observations):
            batch = read_batch(self.reader, observations, controls, dtype, times)
            return self._run(batch, keep=keep, mesh=mesh)
        single, clock = (None if given is None else [given] for given in (controls, times))
        batch = read_sequences(self.reader, [observations], single, dtype, clock)
        return self._run(batch, keep=keep, mesh=mesh)[0]

    def filter_many(
        self,
        sequences: Sequence[Any],
        controls: Any,
        *,
        times: Any = None,
        progress: bool = False,
        keep_beliefs: bool | None = None,
        mesh: Mesh | None = None,
    ) -> list[FilterRun]:
        """Filter several sequences of any lengths together."""
        if not isinstance(sequences, list | tuple):
            raise TypeError(f"filter_many takes a list of sequences, not {type(sequences).__name__}.")
        if not sequences:
            return []
        batch = read_sequences(self.reader, sequences, controls, self.settings.dtype, times)
        return list(iter(self._run(batch, keep=keep_beliefs is not False, mesh=mesh)))

    def forecast(self, belief: Belief, steps: int, controls: Any, times: Any = None) -> FilterRun:
        """Predict without observations."""
        state = self._state_of(belief)
        given, clock = (None if part is None else [part] for part in (controls, times))
        batch = read_sequences(self.reader, [[None] * steps], given, self.settings.dtype, clock)
        drive_from(Clock.of(state), None, None if batch.times is None else float(batch.times[0, 0]))
        before = belief.seen.running if isinstance(belief, DeviceBelief) else belief.report.running
        return self._run(batch, keep=True, mesh=None, start=state, before=before)[0]

    def _state_of(self, belief: Belief) -> FilterState:
        """Return what the next step continues from; beliefs on the host (``run[t]``, pickles) are moved back."""
        if not isinstance(belief, Belief):
            raise TypeError(f"a belief from start(), step() or a run is needed, not {type(belief).__name__}.")
        state = belief.device_state if isinstance(belief, DeviceBelief) else self._from_host(belief)
        if np.ndim(state.time) > 0:
            raise TypeError("this belief holds a whole batch (it comes from vmap): use jax.vmap(flt.step), too.")
        if state.particles.shape[1:] != self.state_shape:
            raise ValueError(
                f"the belief's states have shape {state.particles.shape[1:]}, but this filter's examples have shape "
                f"{self.state_shape}: a belief can only be continued by the filter that made it."
            )
        return state

    def _from_host(self, belief: Belief) -> FilterState:
        check_continues(belief)
        size, dtype = self.settings.n_particles, self.settings.dtype
        particles, weights = belief.particles(size)
        weighted = self.settings.support.on_particles
        if len(particles) != size or (not weighted and np.ptp(weights) > 1e-12):
            raise ValueError(
                f"the belief continues with {len(particles)} weighted states, but this filter with {size} equal "
                "particles: a belief can only be continued by the filter that made it."
            )
        counts = [jnp.asarray(number, jnp.int32) for number in (belief.time, belief.stream, belief.rejections)]
        clocks = [jnp.asarray(np.nan if c is None else c, jnp.float64) for c in (belief.clock, belief.elapsed)]
        moved, stream = jnp.asarray(particles, dtype), counts[1].astype(jnp.uint32)
        state = FilterState(moved, counts[0], stream, counts[2], *clocks)
        return state._replace(weights=jnp.asarray(weights, dtype), predicted=moved) if weighted else state

    def _run(
        self,
        batch: Batch,
        *,
        keep: bool,
        mesh: Mesh | None,
        start: FilterState | None = None,
        before: Running | None = None,
    ) -> FilterRun:
        if mesh is not None and not isinstance(mesh, Mesh):
            raise TypeError(f"mesh = {mesh!r}; it must be a jax.sharding.Mesh.")
        self._warn_unused(batch)
        results = self.runner.run(batch, mesh=mesh, start=start)
        made = 0 if start is None else int(start.time)
        check_results(results, size=self.settings.n_particles, before=made, valid=batch.valid)
        summaries = BatchSummaries(self, results, batch, mesh=mesh, start=start, before=before)
        rejected = summaries.column("rejected") & batch.valid
        if rejected.any():
            first = int(np.flatnonzero(rejected.any(axis=0))[0]) + 1
            what = f"{int(rejected.sum())} of {int(batch.lengths.sum())} observations were"
            warn_rejected(what, NO_EXAMPLE_RESEMBLES, first=first)
        return FilterRun(summaries, angles=self.settings.angles, members=Members(summaries, keep=keep))

    def _warn_unused(self, batch: Batch) -> None:
        if batch.times is not None:
            warn_unused(intervals([c[:n] for c, n in zip(batch.times, batch.lengths, strict=True)]), self._timeless)

    @cached_property
    def _timeless(self) -> str:
        """Why the filter makes nothing of times; empty if it does."""
        told = takes_elapsed(self.settings.transition)
        return "" if told else "the filter's transition does not take the time that passed"

    @cached_property
    def runner(self) -> BatchRunner:
        """Runs batches."""
        return BatchRunner(self.model, self.settings)

    @cached_property
    def initial(self) -> Any:
        """The compiled draw from p_init: takes the model and a stream."""
        return compiled(partial(initial_state, settings=self.settings))

    @cached_property
    def _blank(self) -> Any:
        return compiled(partial(blank_result, settings=self.settings))

    @cached_property
    def _step(self) -> Any:
        return compiled(partial(advance, settings=self.settings))

    @cached_property
    def replay_batch(self) -> Any:
        """The compiled repetition of the predictions of several sequences: takes the model and arrays (B, T, ...)."""
        return compiled(jax.vmap(self._replay_steps, in_axes=(None, 0, 0, 0, 0)))

    @cached_property
    def _replay(self) -> Any:
        return compiled(self._replay_steps)

    def _replay_steps(self, model: Model, state: FilterState, corrected: Any, picks: Any, drives: Drive) -> Any:
        def one(state: FilterState, inputs: Any) -> tuple[FilterState, Any]:
            corrected, picks, drive = inputs
            return replay(model, state, corrected, picks, drive, self.settings)

        return lax.scan(one, state, (corrected, picks, drives))

    @cached_property
    def backward(self) -> dict[Any, Any]:
        """What smoothing compiled for this filter, by what it was compiled for."""
        return {}

    def initial_of(self, stream: Any) -> FilterState:
        """Return the initial state of a stream: draws from p_init."""
        return self.initial(self.model, stream)

    def replay_steps(self, state: FilterState, corrected: Any, picks: Any, drives: Drive) -> tuple[FilterState, Any]:
        """Repeat the predictions of known steps; return the state after them and the particles, (T, m, ...)."""
        after, particles = self._replay(self.model, state, corrected, picks, drives)
        return after, np.asarray(particles, np.float64)

    def host_belief(self, state: FilterState, result: StepResult, seen: Seen) -> Belief:
        """Turn one step's arrays into an ordinary belief."""
        return fetched_belief(self, state, result, seen)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions and device arrays, which are made again on first use."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
