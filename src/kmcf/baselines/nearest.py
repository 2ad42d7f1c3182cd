"""Nearest neighbours without filtering: the state is read off the most similar example observations.

They ignore time, which makes them the yardstick for what filtering adds: :class:`NearestNeighbor` is the paper's naive
method (NAI). The transition is used only if an observation is missing or resembles no example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.baselines.examples import NeighbourLearner
from kmcf.baselines.neighbours import NeighbourSearch
from kmcf.bayes_rule import BayesRule, DensePosterior, Prior, Sample
from kmcf.bayes_rule.base import LEAST_SIMILARITY, Resampler
from kmcf.filter.clock import Drive
from kmcf.filter.fitting.gaps import Served
from kmcf.filter.motion import Motion
from kmcf.filter.results.belief import Belief, equal_weights
from kmcf.filter.settings import MOST_PARTICLES, check_count
from kmcf.filter.step import Step
from kmcf.filter.tunable import kernel_widths
from kmcf.herding.resampling import KeepAll, systematic
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, is_numeric, take
from kmcf.support.search_space import Parameter


@dataclass(frozen=True, eq=False)
class NeighbourRule(BayesRule):
    """No Bayes at all: the posterior is the states of the nearest examples, whatever the prior."""

    search: NeighbourSearch
    states: Objects
    """The example states."""
    resampler: Resampler

    def correct(self, _prior: Prior, observation: Objects) -> DensePosterior:
        """Look for the neighbours."""
        found = self.search.nearest(observation)
        return NeighbourPosterior(
            rule=self,
            support=take(self.states, found.indices),
            weight_sum=1.0,
            observation_coverage=found.coverage,
            state_coverage=np.nan,
            unnormalised=found.weights,
        )

    def state_coverage(self, _prior: Prior) -> float:
        """Return NaN: predictions are not compared with the examples."""
        return np.nan


class NeighbourPosterior(DensePosterior):
    """The nearest examples."""

    @property
    def usable(self) -> bool:
        """Whether some example resembles the observation; always, if neighbours are found by a metric."""
        return not self.observation_coverage <= LEAST_SIMILARITY


class DeferredMove:
    """A prediction computed only if it is needed: neighbours ignore it."""

    def __init__(self, work: Callable[[], Sample]) -> None:
        self._work = work

    @cached_property
    def _sample(self) -> Sample:
        return self._work()

    @property
    def states(self) -> Objects:
        """The moved states."""
        return self._sample.states

    @property
    def weights(self) -> FloatArray:
        """Their weights."""
        return self._sample.weights


class NeighbourBase(NeighbourLearner):
    """Base class of the two: beliefs live on the states of the nearest examples."""

    needs_transition: ClassVar[bool] = False
    cannot_smooth: ClassVar[str] = (
        "each estimate rests on one observation and forgets the moves before it, so later ones could not correct it. "
        "Use KernelMonteCarloFilter."
    )
    why_rejected: ClassVar[str] = (
        "because no example observation resembles it; the prediction was kept. Collect examples like it or widen the "
        "kernel's bandwidth."
    )

    def fit(self, states: Any, observations: Any = None) -> Self:
        """Keep the examples and prepare the search among their observations.

        Parameters
        ----------
        states : array (n, d) or list of n objects
            Where the examples were taken.
        observations : array (n, ...) or list of n objects
            What was observed there.
        """
        self._check_settings()
        self._read_neighbours(states, observations)
        return self._finish_fit()

    def _check_settings(self) -> None:
        check_count("n_particles", self.n_particles, most=MOST_PARTICLES)

    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        self._learn_search(kept)
        usable = self.state_kernel is not None or is_numeric(self.states_)
        self.state_kernel_ = self._fit_state_kernel(kept, self.state_kernel) if usable else None

    def _step(self) -> Step:
        motion = self._motion()

        def predict(belief: Belief, drive: Drive, rng: np.random.Generator) -> DeferredMove:
            return DeferredMove(lambda: self._moved(motion, belief, drive, rng))

        def rule_for(search: NeighbourSearch, served: Served | None) -> BayesRule:
            return NeighbourRule(search, self.states_ if served is None else take(self.states_, served.rows), KeepAll())

        return self._assembled(predict, self._by_pattern(rule_for))

    def _moved(self, motion: Motion, belief: Belief, drive: Drive, rng: np.random.Generator) -> Sample:
        """Move copies of the belief's states; without a transition, and at the first step, return the belief."""
        if self.transition is None or belief.time == 0:
            return Sample(belief.states, belief.weights)
        size = int(self.n_particles)
        copies = take(belief.states, systematic(belief.weights, size, rng))
        return Sample(motion.move(copies, drive, rng, belief.time + 1), equal_weights(size))

    def _numbers_per_belief(self) -> int:
        return max(int(self.n_neighbors), 1)


class KNNRegression(NeighbourBase):
    """The weighted mean of the states of the k nearest example observations, regardless of the past.

    Parameters
    ----------
    transition : callable, optional
        ``(states, control, rng) -> states``. Used only if an observation is missing or resembles no example: then
        copies of the last belief's states move. None: the last belief stays.
    initial : callable, optional
        ``(size, rng) -> states``: the belief before the first observation. None: draws from the example states.
    n_neighbors : int
        Number of neighbours, k.
    neighbor_weights : {"triangular", "uniform"}
        How neighbours are weighted: in proportion to k, k − 1, …, 1 (nearest first), or equally.
    observation_kernel : kernel, optional
        Similarity by which neighbours are found: a kernel object, a callable ``(A, B) -> matrix`` or "precomputed".
    metric : str or callable
        Distance by which they are found if no kernel is given: a name that scikit-learn knows, or a function of two
        observations.
    metric_params : dict, optional
        Further arguments of a named metric.
    state_kernel : kernel, optional
        Kernel on states, for distances between beliefs. None: Gaussian at half the median distance.
    n_particles : int
        Number of draws that represent p_init and predictions.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.
    floor : float, "auto", or a sequence of these and None, optional
        What numbers that are NaN stand for, as for :class:`~kmcf.KernelMonteCarloFilter`.

    Examples
    --------
    >>> states = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> flt = KNNRegression(n_neighbors=2, neighbor_weights="uniform").fit(states, 10 * states)
    >>> flt.filter([12.0, 29.0]).mean.ravel()
    array([1.5, 2.5])
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any] | None = None,
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        n_neighbors: int = 10,
        neighbor_weights: str = "triangular",
        observation_kernel: Any = None,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        state_kernel: Any = None,
        n_particles: int = 1000,
        angles: Sequence[int] = (),
        random_state: Any = None,
        floor: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.n_neighbors = n_neighbors
        self.neighbor_weights = neighbor_weights
        self.observation_kernel = observation_kernel
        self.metric = metric
        self.metric_params = metric_params
        self.state_kernel = state_kernel
        self.n_particles = n_particles
        self.angles = angles
        self.random_state = random_state
        self.floor = floor


class NearestNeighbor(NeighbourBase):
    """The state of the one nearest example observation: the paper's naive method (NAI, Section 6.3).

    Parameters
    ----------
    transition, initial, observation_kernel, metric, metric_params, state_kernel
        As for :class:`KNNRegression`.
    n_particles, angles, random_state, floor
        As for :class:`KNNRegression`.

    Examples
    --------
    >>> states = np.array([[0.0], [1.0], [2.0]])
    >>> NearestNeighbor().fit(states, 10 * states).filter([12.0, 29.0]).mean.ravel()
    array([1., 2.])
    """

    n_neighbors = 1
    neighbor_weights = "uniform"

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any] | None = None,
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        observation_kernel: Any = None,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        state_kernel: Any = None,
        n_particles: int = 1000,
        angles: Sequence[int] = (),
        random_state: Any = None,
        floor: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.observation_kernel = observation_kernel
        self.metric = metric
        self.metric_params = metric_params
        self.state_kernel = state_kernel
        self.n_particles = n_particles
        self.angles = angles
        self.random_state = random_state
        self.floor = floor

    def search_space(self) -> dict[str, Parameter]:
        """Return the kernel's bandwidth, if there is a kernel."""
        return kernel_widths(self.observation_kernel, "observation_kernel")
