"""The loop over time on NumPy: single steps, sequences, batches, forecasts, each with its own random numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kmcf.bayes_rule import Prior
from kmcf.filter.backend import Reader
from kmcf.filter.clock import drive_from, intervals, read_time, read_times, times_of_each, warn_unused
from kmcf.filter.inputs import read_controls
from kmcf.filter.motion import Motion
from kmcf.filter.parallel import check_jobs, in_parallel, raise_if_given_up
from kmcf.filter.rejection import counted_sensors, warn_rejected, warn_sensors
from kmcf.filter.results.belief import Belief, check_continues
from kmcf.filter.results.run import FilterRun, batch, collect
from kmcf.filter.step import Step
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.interrupts import noticed, raise_if_lost
from kmcf.numerics.random_numbers import generator
from kmcf.support.extras import progress_bar
from kmcf.trust.alarm import Watch

KEPT_STEPS = 10_000
KEPT_NUMBERS = 4_000_000
"""By default beliefs are kept if there are at most this many, with at most this many weights in all (32 MB)."""


@dataclass(frozen=True, eq=False)
class HostBackend:
    """Carries a filter through time with NumPy."""

    advance: Step
    motion: Motion
    """How states start and move."""
    reader: Reader
    seed: int
    why_rejected: str
    """The end of the warning about observations that were not used."""
    numbers_per_belief: int
    """How many numbers each belief adds in memory; the example states are shared."""
    timeless: str = ""
    """Why the filter makes nothing of times; empty if it does."""

    @property
    def made_for(self) -> tuple[Any, Any]:
        """The user's transition and initial draw that it was made for."""
        return self.motion.transition, self.motion.initial

    @property
    def watch(self) -> Watch | None:
        """What raises alarms."""
        return self.advance.watch

    def unwatched(self) -> HostBackend:
        """Return the same without alarms and without intervals that reach out."""
        return replace(self, advance=replace(self.advance, watch=None, reach=None))

    def start(self, stream: Any) -> Belief:
        """Draw from p_init."""
        if not isinstance(stream, int | np.integer) or stream < 0:
            raise ValueError(f"stream = {stream!r}; it must be a non-negative integer.")
        return self.advance.initial(self.motion, int(stream), self._generator(int(stream), 0))

    def predicted(self, belief: Belief, control: Any = None, time: Any = None) -> Prior:
        """Return the prior of the next step, which a correction starts from."""
        drive = drive_from(belief, control, read_time(time))
        return self.advance.predict(belief, drive, self._generator(belief.stream, belief.time + 1))

    def step(self, belief: Belief, y: Any, control: Any, time: Any = None) -> Belief:
        """Make one step; warn at the first observation that is not used."""
        after = self._next(belief, y, control, read_time(time))
        if self.timeless and belief.elapsed is not None:
            warn_unused([belief.elapsed, after.elapsed], self.timeless)
        if after.report.rejected and belief.rejections == 0:
            warn_rejected("an observation was", self.why_rejected, first=after.time)
        elif after.report.sensors.rejected and not after.report.rejected:
            warn_sensors(Counter(after.report.sensors.rejected))
        return after

    def filter(
        self,
        observations: Any,
        controls: Any,
        *,
        times: Any = None,
        progress: bool = False,
        keep_beliefs: bool | None = None,
    ) -> FilterRun:
        """Filter one sequence, or a batch given as one array."""
        if not self.reader.is_batch(observations):
            single, clock = (None if given is None else [given] for given in (controls, times))
            return self._filter_all([observations], single, clock, progress, keep_beliefs)[0]
        if len(observations) == 0:
            raise ValueError("the batch holds no sequence.")
        return batch(self._filter_all(list(observations), controls, times, progress, keep_beliefs))

    def filter_many(
        self,
        sequences: Sequence[Any],
        controls: Any,
        *,
        times: Any = None,
        progress: bool = False,
        keep_beliefs: bool | None = None,
        n_jobs: int = 1,
    ) -> list[FilterRun]:
        """Filter several sequences, of any lengths."""
        return self._filter_all(sequences, controls, times, progress, keep_beliefs, check_jobs(n_jobs))

    def filter_stream(self, observations: Any, controls: Any, *, times: Any = None, stream: int = 0) -> FilterRun:
        """Filter one sequence with a stream of random numbers of its own."""
        single, clock = (None if given is None else [given] for given in (controls, times))
        return self._filter_all([observations], single, clock, False, None, first=stream)[0]

    def forecast(self, belief: Belief, steps: int, controls: Any, times: Any = None) -> FilterRun:
        """Predict without observations."""
        checked, clock = read_controls(controls, steps), read_times(times, steps)
        return collect(self._along(belief, [None] * steps, checked, clock), angles=self.advance.angles, keep=True)

    def _filter_all(
        self,
        sequences: Sequence[Any],
        controls: Any,
        times: Any,
        progress: bool,
        keep_beliefs: bool | None,
        n_jobs: int = 1,
        *,
        first: int = 0,
    ) -> list[FilterRun]:
        """Filter sequences in turn, with streams of random numbers from ``first`` on."""
        if not isinstance(sequences, list | tuple):
            raise TypeError(f"filter_many takes a list of sequences, not {type(sequences).__name__}.")
        read = [self.reader.sequence(sequence) for sequence in sequences]
        per_sequence = [None] * len(read) if controls is None else list(controls)
        if len(per_sequence) != len(read):
            raise ValueError(f"{len(per_sequence)} sequences of controls for {len(read)} sequences of observations.")
        checked = [read_controls(c, len(s)) for c, s in zip(per_sequence, read, strict=True)]
        clocks = [read_times(c, len(s)) for c, s in zip(times_of_each(times, len(read)), read, strict=True)]
        warn_unused(intervals(clocks), self.timeless)
        total = sum(len(s) for s in read)
        if keep_beliefs is None:
            keep_beliefs = total <= KEPT_STEPS and total * self.numbers_per_belief <= KEPT_NUMBERS
        runs, unused = [], Counter[str]()
        with noticed(), progress_bar(total, "filtering", show=progress) as tick:

            def one(k: int) -> tuple[FilterRun, Counter[str]]:
                own = Counter[str]()
                steps = self._along(self.start(first + k), read[k], checked[k], clocks[k], tick)
                return collect(counted_sensors(steps, own), angles=self.advance.angles, keep=keep_beliefs), own

            for run, own in in_parallel(one, len(read), n_jobs, self.advance):
                runs.append(run)
                unused += own
        rejected = [int(t) for run in runs for t in run.time[run.rejected]]
        if rejected:
            what = f"{len(rejected)} of {total} observations were"
            warn_rejected(what, self.why_rejected, first=rejected[0])
        warn_sensors(unused)
        return runs

    def _along(
        self,
        belief: Belief,
        observations: Any,
        controls: Any,
        clock: FloatArray | None,
        tick: Callable[[], object] = lambda: None,
    ) -> Iterator[Belief]:
        """Yield the beliefs along one sequence."""
        for t, y in enumerate(observations):
            control = None if controls is None else controls[t]
            belief = self._next(belief, y, control, None if clock is None else float(clock[t]))
            tick()
            raise_if_lost()
            raise_if_given_up()
            yield belief

    def _next(self, belief: Belief, y: Any, control: Any, time: float | None) -> Belief:
        if not isinstance(belief, Belief):
            raise TypeError(f"step needs a belief from start() or an earlier step, not {type(belief).__name__}.")
        check_continues(belief)
        if belief.state_shape != self.motion.state_shape:
            raise ValueError(
                f"the belief's states have shape {belief.state_shape}, but this filter's examples have shape "
                f"{self.motion.state_shape}: a belief can only be continued by the filter that made it."
            )
        observation = self.reader.one(y)
        drive = drive_from(belief, control, time)
        after = self.advance(belief, observation, drive, self._generator(belief.stream, belief.time + 1))
        return after if time is None else after.stamped(drive.clock, drive.elapsed)

    def _generator(self, stream: int, time: int) -> np.random.Generator:
        return generator(self.seed, stream, time)
