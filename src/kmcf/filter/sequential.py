"""What every filter offers: one step at a time, whole sequences, batches, forecasts.

A filter learns in ``fit``, and then owns a backend that carries it through time. A step is a pure function of the
belief, the observation and the control.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.filter.backend import Backend, Reader
from kmcf.filter.backward.smoothing import SmoothingFilter
from kmcf.filter.calibrating import CalibratedFilter
from kmcf.filter.host import HostBackend
from kmcf.filter.inputs import ObservationReader
from kmcf.filter.motion import Initial, Motion
from kmcf.filter.naming import checked_names
from kmcf.filter.rejection import NO_EXAMPLE_RESEMBLES
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun
from kmcf.filter.step import Step
from kmcf.filter.stored import StoredFilter
from kmcf.numerics.objects import Objects, is_numeric
from kmcf.store.files import save
from kmcf.support.estimators import Estimator, clone, not_fitted
from kmcf.support.notebooks import html_table, settings_and_learnt
from kmcf.support.search_space import Parameter, Variants
from kmcf.transitions.elapsed import takes_elapsed
from kmcf.trust.thresholds import Thresholds


class SequentialFilter(StoredFilter, CalibratedFilter, SmoothingFilter, Estimator, ABC):
    """Base class of filters that learn the observation model from examples and are given the transition.

    Examples
    --------
    >>> import kmcf
    >>> issubclass(kmcf.KernelMonteCarloFilter, SequentialFilter)
    True
    """

    transition: Any  # (states, control, rng) -> states; None only for filters that can do without one
    initial: Initial | None
    angles: Sequence[int]
    random_state: Any

    states_: Objects
    seed_: int
    reader_: ObservationReader
    """Reads observations of the form that the examples had."""
    backend_: Backend
    """What carries the fitted filter through time."""
    needs_transition: ClassVar[bool] = True
    why_rejected: ClassVar[str] = NO_EXAMPLE_RESEMBLES

    @abstractmethod
    def fit(self, states: Any, observations: Any) -> Self:
        """Learn from n examples of states with their observations."""

    @abstractmethod
    def _step(self) -> Step:
        """Put together one step of the fitted filter."""

    def search_space(self) -> dict[str, Parameter]:
        """Return what a tuner may change: names of parameters, as for ``set_params``, and how they may vary."""
        return {}

    def variants(self, states: Any, observations: Any) -> Variants:
        """Return this filter with all it decides from the examples made explicit, for a tuner to start from.

        It is fitted, so that :meth:`search_space` can start from the values in use.

        Parameters
        ----------
        states, observations : arrays or lists
            The examples, as for :meth:`fit`.
        """
        return Variants("variant", {"given": clone(self).fit(states, observations)})

    def refitted(self, states: Any, observations: Any, **settings: Any) -> Self:
        """Return a filter with some settings changed, fitted on the examples that this one was fitted on.

        What does not depend on the changed settings may be shared with this filter, which does not change.

        Parameters
        ----------
        states, observations : arrays or lists
            The same examples again.
        **settings
            As for ``set_params``.
        """
        return clone(self).set_params(**settings).fit(states, observations)

    def with_transition(self, transition: Any) -> Self:
        """Return the same fitted filter with another transition; examples, kernels and Bayes' rule are shared.

        It is not calibrated, and finds its alarm thresholds anew: both depend on the transition. This filter does not
        change.

        Parameters
        ----------
        transition : callable
            As for the constructor.
        """
        self._fitted_backend()
        same = copy(self)
        same.transition, same.calibration_, same._thresholds = transition, None, None
        same.backend_ = same._make_backend()
        return same

    def start(self, stream: int = 0) -> Belief:
        """Return the belief before the first observation: draws from p_init.

        Parameters
        ----------
        stream : int
            Which stream of random numbers to use; different streams are independent.
        """
        return self._fitted_backend().start(stream)

    def step(self, belief: Belief, y: Any = ..., control: Any = None, time: Any = None) -> Belief:
        """Return the belief after one more observation. The belief passed in does not change.

        Parameters
        ----------
        belief : Belief
            From :meth:`start` or an earlier step.
        y : object
            The observation; None or all-NaN if missing (prediction only). Where some numbers of a vector are NaN, the
            others are used. With several sensors, a dictionary of what those that spoke said, by name.
        control : object
            Passed to the transition. The first step makes no transition and ignores it.
        time : float, optional
            When the observation was made, in any unit (or as datetime64): after ``belief.clock``. A transition that
            takes ``elapsed`` is told how much time passed. Give it at every step or at none.
        """
        if y is ...:
            raise TypeError(
                "step takes the belief before, then the observation: flt.step(flt.start(), y) is the first."
            )
        return self._fitted_backend().step(belief, y, control, time)

    def filter(
        self,
        observations: Any,
        controls: Any = None,
        progress: bool = False,
        *,
        times: Any = None,
        keep_beliefs: bool | None = None,
    ) -> FilterRun:
        """Filter a sequence of T observations, or a batch of B sequences given as one array.

        Parameters
        ----------
        observations : array (T, ...), (B, T, ...) or list of T observations
            None or all-NaN entries are missing. A list is always one sequence. With several sensors, a list with one
            dictionary per step, or a dictionary of sequences.
        controls : sequence of T (or B sequences of T), optional
            ``controls[t]`` drives the move from step t−1 to step t; the first one is ignored.
        progress : bool
            Show a progress bar (needs the extra ``kmcf[progress]``).
        times : sequence of T (or B sequences of T), optional
            When the observations were made, increasing, in any unit (or as datetime64): transitions that take
            ``elapsed`` are told how much time passed. None: every step takes the same time.
        keep_beliefs : bool, optional
            Whether to keep the beliefs, as ``run[t]``. None: yes for at most 10 000 steps whose beliefs take little
            memory (32 MB).

        Returns
        -------
        FilterRun
        """
        options: dict[str, Any] = {"times": times, "progress": progress, "keep_beliefs": keep_beliefs}
        return self._named(self._fitted_backend().filter(observations, controls, **options))

    def filter_many(
        self,
        sequences: Sequence[Any],
        controls: Sequence[Any] | None = None,
        progress: bool = False,
        *,
        times: Sequence[Any] | None = None,
        keep_beliefs: bool | None = None,
        n_jobs: int = 1,
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
        times : list of sequences, optional
            One sequence of times (or None) per sequence.
        keep_beliefs : bool, optional
            As for :meth:`filter`.
        n_jobs : int
            Number of sequences at once, each in a process of its own; −1: as many as there are cores.
        """
        options: dict[str, Any] = {"times": times, "progress": progress, "keep_beliefs": keep_beliefs}
        options["n_jobs"] = n_jobs
        return [self._named(run) for run in self._fitted_backend().filter_many(sequences, controls, **options)]

    def forecast(self, belief: Belief, steps: Any = ..., controls: Any = None, times: Any = None) -> FilterRun:
        """Predict ``steps`` steps ahead of a belief, without observations.

        Parameters
        ----------
        belief : Belief
            Where to start from.
        steps : int
            How many steps.
        controls : sequence, optional
            One control per step.
        times : sequence, optional
            The times to predict, one per step, after ``belief.clock``.
        """
        if steps is ...:
            raise TypeError("forecast takes a belief, then the number of steps: flt.forecast(belief, 3).")
        if not isinstance(steps, int | np.integer) or steps < 1:
            raise ValueError(f"steps = {steps!r}; a forecast needs at least one step.")
        return self._named(self._fitted_backend().forecast(belief, int(steps), controls, times))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the filter to one file for :func:`kmcf.load`; an existing file stays until the new one is complete.

        The file holds data only: settings, examples, what was learnt from them. Your own functions (transition,
        initial, kernels) are not in it; pass them again to :func:`kmcf.load`.
        """
        save(self, path)

    def name_states(self, names: Sequence[str]) -> Self:
        """Name the coordinates of the state: runs, pictures, pages and saved files then bear these names.

        A filter fitted to a data frame of states knows the names of its columns.

        Parameters
        ----------
        names : sequence of str
            One per coordinate, with units if you like: ``["x (m)", "y (m)"]``.
        """
        self.state_names_ = checked_names(names, self.states_)
        return self

    def _named(self, run: FilterRun) -> FilterRun:
        return run.named(self.state_names_, self.states_ if is_numeric(self.states_) else None)

    @property
    def alarm_thresholds_(self) -> Thresholds:
        """The thresholds beyond which a step raises an alarm; the first use finds them from left-out examples."""
        watch = self._fitted_backend().watch
        return Thresholds.none() if watch is None else watch.thresholds

    def _alarms_known(self) -> bool:
        watch = self.backend_.watch if hasattr(self, "backend_") else None
        return watch is not None and watch.known is not None

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "seed_")

    def _motion(self) -> Motion:
        return Motion(self.transition, self.initial, self.states_, self.angles)

    def _make_backend(self) -> Backend:
        """Make what carries the fitted filter through time."""
        return HostBackend(
            advance=replace(self._step(), calibration=self.calibration_),
            motion=self._motion(),
            reader=self._reader(),
            seed=self.seed_,
            why_rejected=self.why_rejected,
            numbers_per_belief=self._numbers_per_belief(),
            timeless=self._timeless(),
        )

    def _reader(self) -> Reader:
        """Return what reads observations."""
        return self.reader_

    def _timeless(self) -> str:
        """Say why the filter makes nothing of times; nothing if it does, or needs none because it never moves."""
        if self.transition is None or takes_elapsed(self.transition):
            return ""
        return "the filter's transition does not take the time that passed"

    def _fitted_backend(self) -> Backend:
        if not hasattr(self, "backend_"):
            raise not_fitted(f"this {type(self).__name__} has no examples yet: call fit(states, observations) first.")
        if self.backend_.made_for != (self.transition, self.initial):  # the user has changed them since
            self.backend_ = self._make_backend()
        return self.backend_

    def _numbers_per_belief(self) -> int:
        """Return how many numbers each belief adds in memory; the example states are shared."""
        return len(self.states_)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        given = str(super().__repr__(N_CHAR_MAX))
        return f"{given}, fitted to {self._examples_in_words()}" if self._is_fitted else given

    def _examples_in_words(self) -> str:
        return f"{len(self.states_)} examples"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks: settings that are not defaults, and what was learnt."""
        return html_table(type(self).__name__, *self._table_rows())

    def _table_rows(self) -> tuple[dict[str, Any], str]:
        return settings_and_learnt(self, getattr(self, "states_", None))
