"""``flt.smooth``: estimates that know the observations before and after."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from kmcf.bayes_rule.backward import DistinctStates, Features, StateFeatures
from kmcf.filter.backend import Backend
from kmcf.filter.backward.fixed_lag import FixedLag
from kmcf.filter.backward.paths import Paths
from kmcf.filter.backward.smoother import SmoothedBelief, Smoother, Trellis
from kmcf.filter.clock import Drive
from kmcf.filter.inputs import read_controls
from kmcf.filter.motion import Motion
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun, batch, collect
from kmcf.filter.results.smoothed import SmoothedColumns
from kmcf.filter.results.summaries import summarise
from kmcf.kernels.defaults import default_state_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, is_numeric
from kmcf.support.extras import progress_bar
from kmcf.transitions.elapsed import needs_elapsed


class SmoothingFilter:
    """What lets a filter look back."""

    states_: Objects
    seed_: int
    angles: Any
    transition: Any
    cannot_smooth: ClassVar[str] = ""
    """Why a filter cannot be smoothed; empty if it can."""

    @property
    def smoothable(self) -> bool:
        """Whether beliefs of this filter can be smoothed."""
        return not self.cannot_smooth and self.host_motion().transition is not None

    @abstractmethod
    def _named(self, run: FilterRun) -> FilterRun:
        """Tell a run the names of the states."""

    def smooth(
        self, observations: Any, controls: Any = None, times: Any = None, *, lag: Any = None, progress: bool = False
    ) -> FilterRun:
        """Estimate the states of a sequence given all of its observations, those that came later too.

        The filter goes forward, then its beliefs are weighed again from the last to the first, by kernel Bayes' rule
        on moves that the transition simulates (:mod:`kmcf.bayes_rule.backward`). ``run.filtered`` is what the filter
        estimated; ``run.sample_paths(size)`` draws whole paths.

        Parameters
        ----------
        observations, controls, times
            As for :meth:`filter`.
        lag : int, optional
            Use observations up to so many steps after each, as :meth:`smooth_lag` does; None: all.
        progress : bool
            Show a progress bar.

        Returns
        -------
        FilterRun
            Of smoothed beliefs. Alarms, coverage, evidence and flags are those of the filter. Intervals are
            calibrated if the filter is.

        Examples
        --------
        >>> import kmcf
        >>> model = kmcf.datasets.paper_model("1a")
        >>> train, test = model.simulate(200, random_state=0), model.simulate(100, random_state=1)
        >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
        >>> run = flt.smooth(test.observations)
        >>> errors = [float(np.mean((one.mean - test.states) ** 2)) for one in (run, run.filtered)]
        >>> errors[0] < errors[1], run.sample_paths(5).shape
        (True, (5, 100, 1))
        """
        smoother, lag = self._smoother(), read_lag(lag)
        filtered = self._fitted_backend().filter(
            observations, controls, times=times, progress=progress, keep_beliefs=True
        )
        together = None if lag is not None else self._smoothed_together(smoother, filtered)
        if together is not None:
            return self._named(together)
        if not filtered.is_batch:
            return self._named(smoothed_run(smoother, filtered, controls, lag))
        each = [None] * len(filtered) if controls is None else list(controls)
        runs = [smoothed_run(smoother, run, part, lag) for run, part in zip(filtered, each, strict=True)]
        return self._named(batch(runs, filtered=filtered))

    def smooth_many(
        self,
        sequences: Sequence[Any],
        controls: Sequence[Any] | None = None,
        times: Sequence[Any] | None = None,
        *,
        lag: Any = None,
        progress: bool = False,
    ) -> list[FilterRun]:
        """Smooth several sequences, of any lengths; see :meth:`smooth` and :meth:`filter_many`."""
        smoother, lag = self._smoother(), read_lag(lag)
        runs = self._fitted_backend().filter_many(
            sequences, controls, times=times, progress=progress, keep_beliefs=True
        )
        together = None if lag is not None else self._smoothed_together(smoother, runs)
        if together is not None:
            return [self._named(run) for run in together]
        each = [None] * len(runs) if controls is None else list(controls)
        with progress_bar(len(runs), "smoothing", show=progress) as tick:
            found = []
            for run, part in zip(runs, each, strict=True):
                found.append(self._named(smoothed_run(smoother, run, part, lag)))
                tick()
        return found

    def smooth_lag(self, lag: int, stream: int = 0) -> FixedLag:
        """Return a filter that answers ``lag`` steps late, for observations that come in one by one.

        Parameters
        ----------
        lag : int
            How many steps.
        stream : int
            Which stream of random numbers to use, as for :meth:`start`.
        """
        steps = read_lag(lag)
        if steps is None:
            raise ValueError("smooth_lag needs to know after how many steps to answer: lag=...")
        return FixedLag(self, steps, self._smoother(), (self._fitted_backend().start(stream),))

    def smoothed_beliefs(self, beliefs: Sequence[Belief], controls: Any = None) -> list[SmoothedBelief]:
        """Return successive beliefs of this filter, smoothed; ``controls[t]`` drove the move to step t.

        Parameters
        ----------
        beliefs : sequence of Belief
            From ``step`` after ``step``.
        controls : sequence, optional
            One per belief.
        """
        trellis = Trellis.of(self._smoother(), beliefs, controls)
        return later_beliefs(beliefs, trellis.weights())

    def _smoother(self) -> Smoother:
        self._fitted_backend()  # which says so where nothing was fitted
        motion = self.host_motion()
        if self.cannot_smooth or motion.transition is None:
            raise TypeError(
                f"{type(self).__name__} cannot be smoothed: {self.cannot_smooth or 'it has no transition.'}"
            )
        features = self._backward_features(motion)
        return Smoother(features, motion, self._moved_particles(), self.seed_, self._backward_random())

    def _backward_random(self) -> Any:
        """Return what makes random numbers for the backward pass, where they are not NumPy's; None if they are."""
        return None

    def _smoothed_together(self, smoother: Smoother, filtered: Any) -> Any:
        """Return a run, or a list of runs, smoothed by compiled code; None where there is none for it."""
        return None

    def _backward_features(self, motion: Motion) -> Features:
        """Return what a backward step sees of states: which one it is, where there are few; else kernel features."""
        distinct = DistinctStates.among(motion.examples)
        if distinct is not None and _stays(distinct, motion):
            return distinct
        kernel = getattr(self, "state_kernel_", None)
        if getattr(self, "state_kernel", None) is None and is_numeric(motion.examples):
            kernel = default_state_kernel(motion.examples, self.angles).fit(motion.examples)
        if kernel is None:
            raise TypeError("the states are objects, so smoothing needs a state_kernel.")
        return StateFeatures.fit(kernel.on_examples(motion.examples))

    def host_motion(self) -> Motion:
        """Return how states move, on NumPy arrays."""
        return self._motion()

    def _moved_particles(self) -> int:
        """Return how many particles a prediction moves."""
        return int(getattr(self, "n_particles_", None) or self.n_particles)  # type: ignore[attr-defined]

    def _motion(self) -> Motion:
        raise NotImplementedError

    def _fitted_backend(self) -> Backend:
        raise NotImplementedError


def smoothed_run(smoother: Smoother, filtered: FilterRun, controls: Any, lag: int | None) -> FilterRun:
    """Smooth the run of one sequence."""
    beliefs = list(filtered.beliefs)
    trellis = Trellis.of(smoother, beliefs, read_controls(controls, len(beliefs)))
    weights = trellis.weights(lag)
    smoothed = later_beliefs(beliefs, weights)
    own, kept = summarise(smoothed, keep=True)
    paths = [belief.weights if part is None else part for belief, part in zip(beliefs, weights, strict=True)]
    return FilterRun(
        SmoothedColumns(own, filtered.summaries, [belief.unsmoothed for belief in smoothed]),
        angles=filtered.angles,
        beliefs=kept,
        filtered=filtered,
        paths=Paths(trellis, paths) if lag is None else None,
    )


def later_beliefs(beliefs: Sequence[Belief], weights: Sequence[FloatArray | None]) -> list[SmoothedBelief]:
    """Return smoothed beliefs; nothing was observed after the last step, from which a forecast may start."""
    last = len(beliefs) - 1
    return [
        SmoothedBelief(belief, part, unsmoothed=part is None and t < last)
        for t, (belief, part) in enumerate(zip(beliefs, weights, strict=True))
    ]


def collect_smoothed(beliefs: Sequence[Belief], *, angles: Sequence[int]) -> FilterRun:
    """Make a run from smoothed beliefs, as far as they are; it keeps summaries only."""
    before = collect([getattr(belief, "filtered", belief) for belief in beliefs], angles=angles, keep=False)
    own, _ = summarise(beliefs, keep=False)
    kept = [getattr(belief, "unsmoothed", False) for belief in beliefs]
    return FilterRun(SmoothedColumns(own, before.summaries, kept), angles=angles, filtered=before)


def read_lag(lag: Any) -> int | None:
    """Check a lag: a number of steps, or None.

    Examples
    --------
    >>> read_lag(3)
    3
    """
    if lag is None:
        return None
    if not isinstance(lag, int | np.integer) or isinstance(lag, bool) or lag < 0:
        raise ValueError(f"lag = {lag!r}; it must be a number of steps, at least 0.")
    return int(lag)


def _stays(distinct: DistinctStates, motion: Motion) -> bool:
    """Say whether a move from the example states leads to such states again; not where it cannot be tried."""
    timed = Drive(elapsed=1.0) if needs_elapsed(motion.transition) else Drive()
    try:
        moved = motion.move(motion.examples, timed, np.random.default_rng(0), time=2)
    except Exception:  # it needs a control, say
        return False
    return distinct.holds(moved)
