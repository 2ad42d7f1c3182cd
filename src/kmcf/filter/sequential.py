"""What every filter shares: one step at a time, whole sequences, batches, forecasts.

A filter says how it starts and how it makes one step; this class reads the user's input, keeps the random numbers
apart and runs the loops. A step is a pure function of the belief, the observation and the control.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from kmcf.filter.belief import Belief
from kmcf.filter.inputs import ObservationReader, read_controls
from kmcf.filter.rejection import NO_EXAMPLE_RESEMBLES, warn_rejected
from kmcf.filter.run import FilterRun, batch, collect
from kmcf.numerics.arrays import FloatArray, is_jax
from kmcf.numerics.circles import wrap_columns
from kmcf.numerics.objects import Objects, as_objects, is_numeric, take
from kmcf.support.extras import progress_bar
from kmcf.support.notebooks import html_table, settings_and_learnt
from kmcf.support.search_space import Parameter, Variants

if TYPE_CHECKING:
    from kmcf.compiled import CompiledFilter

KEPT_STEPS = 10_000
KEPT_NUMBERS = 4_000_000
"""Beliefs are kept by default while there are at most so many, with at most so many weights (32 MB)."""


class SequentialFilter(BaseEstimator, ABC):
    """Base class of filters that learn the observation model from examples and are given a way to move the state."""

    transition: Any  # (states, control, rng) -> states; None only where a filter can do without
    initial: Callable[[int, np.random.Generator], Any] | None
    angles: Sequence[int]
    random_state: Any

    states_: Objects
    seed_: int
    _reader: ObservationReader
    _needs_transition: ClassVar[bool] = True
    _why_rejected: ClassVar[str] = NO_EXAMPLE_RESEMBLES
    _compiled: CompiledFilter | None = None
    """The same filter on JAX arrays, where it was fitted on such."""

    @abstractmethod
    def fit(self, states: Any, observations: Any) -> Self:
        """Learn from n examples of states with their observations."""

    @abstractmethod
    def _initial_belief(self, stream: int, rng: np.random.Generator) -> Belief:
        """Return p_init."""

    @abstractmethod
    def _advance(self, belief: Belief, observation: Objects | None, control: Any, rng: np.random.Generator) -> Belief:
        """Make one step with an observation (a collection of length 1, or None if missing)."""

    def search_space(self) -> dict[str, Parameter]:
        """Return what a tuner may change: names of parameters, as for ``set_params``, and how they may vary."""
        return {}

    def variants(self, states: Any, observations: Any) -> Variants:
        """Return this filter with everything explicit that it would decide from the examples: a tuner's start.

        It is fitted, so that :meth:`search_space` can start from the values in use.

        Parameters
        ----------
        states, observations : arrays or lists
            The examples, as for :meth:`fit`.
        """
        return Variants("variant", {"given": clone(self).fit(states, observations)})

    def refitted(self, states: Any, observations: Any, **settings: Any) -> Self:
        """Return a filter with some settings changed, fitted on the examples that this one was fitted on.

        What does not depend on the changed settings may be shared with this filter, which stays as it is.

        Parameters
        ----------
        states, observations : arrays or lists
            The same examples again.
        **settings
            As for ``set_params``.
        """
        twin: Self = clone(self).set_params(**settings)
        return twin.fit(states, observations)

    def start(self, stream: int = 0) -> Belief:
        """Return the belief before the first observation: draws from p_init.

        Parameters
        ----------
        stream : int
            Number of the sequence of random numbers to use; different streams are independent.
        """
        self._check_fitted()
        if self._compiled is not None and is_jax(stream):
            return self._compiled.start(stream)
        if not isinstance(stream, int | np.integer) or stream < 0:
            raise ValueError(f"stream = {stream!r}; it must be a non-negative integer.")
        if self._compiled is not None:
            return self._compiled.start(int(stream))
        return self._initial_belief(int(stream), self._generator(int(stream), 0))

    def step(self, belief: Belief, y: Any, control: Any = None) -> Belief:
        """Return the belief after one more observation. The belief passed in stays as it is.

        Parameters
        ----------
        belief : Belief
            From :meth:`start` or an earlier step.
        y : object
            The observation; None or all-NaN if missing (prediction only).
        control : object
            Passed to the transition. The first step makes no transition and ignores it.
        """
        if self._compiled is not None:
            return self._compiled.step(belief, y, control)
        after = self._next(belief, y, control)
        if after.report.rejected and belief.rejections == 0:
            warn_rejected("an observation was", self._why_rejected, first=after.time, stacklevel=3)
        return after

    def filter(
        self,
        observations: Any,
        controls: Any = None,
        progress: bool = False,
        *,
        keep_beliefs: bool | None = None,
        mesh: Any = None,
    ) -> FilterRun:
        """Filter a sequence of T observations, or a batch of B sequences given as one array.

        Parameters
        ----------
        observations : array (T, ...), (B, T, ...) or list of T observations
            None or all-NaN entries are missing. A list is always one sequence.
        controls : sequence of T (or B sequences of T), optional
            ``controls[t]`` drives the move from step t−1 to step t; the first one is ignored.
        progress : bool
            Show a progress bar (needs the extra ``kmcf[progress]``); not with JAX arrays, whose loop is compiled.
        keep_beliefs : bool, optional
            Whether ``run[t]`` shall be available. None: for at most 10 000 steps whose beliefs take little memory
            (32 MB); always with JAX arrays, where they cost nothing.
        mesh : jax.sharding.Mesh, optional
            Filters fitted on JAX arrays: devices that share a batch.

        Returns
        -------
        FilterRun
        """
        self._check_fitted()
        if self._compiled is not None:
            return self._compiled.filter(observations, controls, keep=keep_beliefs is not False, mesh=mesh)
        _check_no_mesh(mesh)
        if not self._reader.is_batch(observations):
            return self._filter_all([observations], None if controls is None else [controls], progress, keep_beliefs)[0]
        if len(observations) == 0:
            raise ValueError("the batch holds no sequence.")
        return batch(self._filter_all(list(observations), controls, progress, keep_beliefs))

    def filter_many(
        self,
        sequences: Sequence[Any],
        controls: Sequence[Any] | None = None,
        progress: bool = False,
        *,
        keep_beliefs: bool | None = None,
        mesh: Any = None,
    ) -> list[FilterRun]:
        """Filter several sequences, of any lengths; sequence b uses random stream b.

        Parameters
        ----------
        sequences : list of sequences
            Each as for :meth:`filter`.
        controls : list of sequences, optional
            One sequence of controls (or None) per sequence.
        progress : bool
            Show a progress bar.
        keep_beliefs : bool, optional
            As for :meth:`filter`.
        mesh : jax.sharding.Mesh, optional
            As for :meth:`filter`.
        """
        self._check_fitted()
        if self._compiled is not None:
            return self._compiled.filter_many(sequences, controls, keep=keep_beliefs is not False, mesh=mesh)
        _check_no_mesh(mesh)
        return self._filter_all(sequences, controls, progress, keep_beliefs)

    def _filter_all(
        self, sequences: Sequence[Any], controls: Sequence[Any] | None, progress: bool, keep_beliefs: bool | None
    ) -> list[FilterRun]:
        if not isinstance(sequences, list | tuple):
            raise TypeError(f"filter_many takes a list of sequences, not {type(sequences).__name__}.")
        read = [self._reader.sequence(sequence) for sequence in sequences]
        per_sequence = [None] * len(read) if controls is None else list(controls)
        if len(per_sequence) != len(read):
            raise ValueError(f"{len(per_sequence)} sequences of controls for {len(read)} sequences of observations.")
        checked = [read_controls(c, len(s)) for c, s in zip(per_sequence, read, strict=True)]
        total = sum(len(s) for s in read)
        if keep_beliefs is None:
            keep_beliefs = total <= KEPT_STEPS and total * self._numbers_per_belief() <= KEPT_NUMBERS
        runs = []
        with progress_bar(total, "filtering", show=progress) as advance:
            for stream, (sequence, inputs) in enumerate(zip(read, checked, strict=True)):
                beliefs = self._along(self.start(stream), sequence, inputs, advance)
                runs.append(collect(beliefs, angles=self.angles, keep=keep_beliefs))
        rejected = [int(t) for run in runs for t in run.time[run.rejected]]
        if rejected:
            what = f"{len(rejected)} of {total} observations were"
            warn_rejected(what, self._why_rejected, first=rejected[0], stacklevel=4)
        return runs

    def forecast(self, belief: Belief, steps: int, controls: Any = None) -> FilterRun:
        """Predict ``steps`` steps ahead of a belief, without observations.

        Parameters
        ----------
        belief : Belief
            Where to start from.
        steps : int
            How many steps.
        controls : sequence, optional
            One control per step.
        """
        if not isinstance(steps, int | np.integer) or steps < 1:
            raise ValueError(f"steps = {steps!r}; a forecast needs at least one step.")
        if self._compiled is not None:
            return self._compiled.forecast(belief, int(steps), controls)
        checked = read_controls(controls, int(steps))
        beliefs = self._along(belief, [None] * int(steps), checked)
        return collect(beliefs, angles=self.angles, keep=True)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the filter to one file, which :func:`kmcf.load` reads; an old file stays until the new one is complete.

        The file holds data only: settings, examples, what was learnt from them. Functions of your own (transition,
        initial, kernels) are not in it and have to be passed again to :func:`kmcf.load`.
        """
        from kmcf.store import save

        save(self, path)

    def _along(
        self,
        belief: Belief,
        observations: Any,
        controls: Any,
        advance: Callable[[], object] = lambda: None,
    ) -> Iterator[Belief]:
        """Yield the beliefs along one sequence."""
        for t, y in enumerate(observations):
            belief = self._next(belief, y, None if controls is None else controls[t])
            advance()
            yield belief

    def _next(self, belief: Belief, y: Any, control: Any) -> Belief:
        self._check_fitted()
        if not isinstance(belief, Belief):
            raise TypeError(f"step needs a belief from start() or an earlier step, not {type(belief).__name__}.")
        if is_numeric(self.states_) and (given := getattr(belief.states, "shape", ())[1:]) != self.states_.shape[1:]:
            raise ValueError(
                f"the belief's states have shape {given}, but this filter's examples have shape "
                f"{self.states_.shape[1:]}: a belief goes on with the filter that made it."
            )
        rng = self._generator(belief.stream, belief.time + 1)
        return self._advance(belief, self._reader.one(y), control, rng)

    def _generator(self, stream: int, time: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed_, spawn_key=(stream, time)))

    def _draw_initial(self, size: int, rng: np.random.Generator) -> Objects:
        """Draw from p_init, by default i.i.d. from the example states."""
        if self.initial is None:
            drawn = take(self.states_, rng.integers(len(self.states_), size=size))
        else:
            with _noted("initial(size, rng)"):
                drawn = self.initial(size, rng)
        if is_numeric(self.states_):
            drawn = as_objects(drawn, "what initial(size, rng) returned")
        return self._checked_states(drawn, size, "initial(size, rng)")

    def _move(self, states: Objects, control: Any, rng: np.random.Generator, time: int) -> Objects:
        """Draw from the transition; it gets a copy, so it may work in place."""
        given = states.copy() if is_numeric(states) else list(states)
        hint = " (no controls were given: pass controls=... if it needs them)" if control is None else ""
        with _noted(f"transition(states, control, rng) at step {time}{hint}"):
            moved = self.transition(given, control, rng)
        return self._checked_states(moved, len(states), f"transition(states, control, rng) at step {time}")

    def _checked_states(self, states: Any, size: int, source: str) -> Objects:
        if not hasattr(states, "__len__"):
            raise TypeError(f"{source} returned {states!r}; it must return the {size} states.")
        if not is_numeric(self.states_):
            if len(states) != size:
                raise ValueError(f"{source} returned {len(states)} states, not {size}.")
            return list(states)
        if np.iscomplexobj(states):
            raise TypeError(f"{source} returned complex numbers; states are real.")
        try:
            numbers: FloatArray = np.array(states, dtype=np.float64)  # a copy: the user's function may reuse its array
        except (TypeError, ValueError):
            raise TypeError(f"{source} returned {type(states).__name__}, not an array of states.") from None
        expected = (size, *self.states_.shape[1:])
        if numbers.shape != expected:
            raise ValueError(f"{source} returned an array of shape {numbers.shape}; it must have shape {expected}.")
        if not np.isfinite(numbers).all():
            bad = int((~np.isfinite(numbers.reshape(size, -1))).any(axis=1).sum())
            raise ValueError(f"{source} returned NaN or infinity for {bad} of {size} states.")
        wrap_columns(numbers, self.angles)
        numbers.flags.writeable = False
        return numbers

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        given = str(super().__repr__(N_CHAR_MAX))
        return f"{given}, fitted to {len(self.states_)} examples" if hasattr(self, "seed_") else given

    def _repr_html_(self) -> str:
        """Return a small table for notebooks: the settings that are not the default, and what was learnt."""
        return html_table(type(self).__name__, *settings_and_learnt(self, getattr(self, "states_", None)))

    def _numbers_per_belief(self) -> int:
        """Say how much memory a belief takes of its own; the example states are shared."""
        return len(self.states_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "seed_"):
            raise NotFittedError(
                f"this {type(self).__name__} has no examples yet: call fit(states, observations) first."
            )


@contextmanager
def _noted(source: str) -> Iterator[None]:
    """Add to any exception where in the user's code it came from."""
    try:
        yield
    except Exception as error:
        error.add_note(f"raised by your {source}")
        raise


def _check_no_mesh(mesh: Any) -> None:
    if mesh is not None:
        raise ValueError("mesh is for filters fitted on JAX arrays; this one was fitted on NumPy arrays.")
