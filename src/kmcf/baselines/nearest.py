"""Nearest neighbours without a filter: the state is read off the most similar example observations.

They ignore time, which makes them the yardstick for what filtering adds: the paper's naive method (NAI) is
:class:`NearestNeighbor`. Only where an observation is missing, or resembles no example, is the transition used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.baselines.examples import NeighbourLearner
from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.rejection import LEAST_SIMILARITY
from kmcf.filter.settings import check_count
from kmcf.filter.tunable import kernel_widths
from kmcf.herding.resampling import systematic
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, is_numeric, take
from kmcf.support.search_space import Parameter


class NeighbourBase(NeighbourLearner):
    """Base of the two: beliefs live on the nearest examples' states."""

    _needs_transition: ClassVar[bool] = False
    _why_rejected: ClassVar[str] = (
        "because no example observation resembles it; the prediction was kept. Collect examples like it or widen the "
        "kernel's bandwidth."
    )

    def fit(self, states: Any, observations: Any) -> Self:
        """Keep the examples and prepare the search among their observations.

        Parameters
        ----------
        states : array (n, d) or list of n objects
            Where the examples were taken.
        observations : array (n, ...) or list of n objects
            What was observed there.
        """
        check_count("n_particles", self.n_particles)
        state_kernel = self._fit_search(states, observations)
        usable = state_kernel is not None or is_numeric(self.states_)
        self.state_kernel_ = self._fit_state_kernel(state_kernel) if usable else None
        return self

    def _advance(self, belief: Belief, observation: Objects | None, control: Any, rng: np.random.Generator) -> Belief:
        next_step = {"time": belief.time + 1, "stream": belief.stream, "rejections": belief.rejections}
        if observation is None:
            states, weights = self._predict(belief, control, rng)
            return self._belief(states, weights, report=StepReport(missing=True), **next_step)
        found = self._search.nearest(observation)
        if found.coverage <= LEAST_SIMILARITY:
            next_step["rejections"] += 1
            states, weights = self._predict(belief, control, rng)
            report = StepReport(observation_coverage=found.coverage, rejected=True)
            return self._belief(states, weights, report=report, **next_step)
        report = StepReport(weight_sum=1.0, observation_coverage=found.coverage)
        return self._belief(take(self.states_, found.indices), found.weights.copy(), report=report, **next_step)

    def _predict(self, belief: Belief, control: Any, rng: np.random.Generator) -> tuple[Objects, FloatArray]:
        """Move copies of the belief's states; without a transition, and at the first step, the belief stays."""
        if self.transition is None or belief.time == 0:
            return belief.states, belief.weights
        size = int(self.n_particles)
        copies = take(belief.states, systematic(belief.weights, size, rng))
        return self._move(copies, control, rng, belief.time + 1), np.full(size, 1.0 / size)

    def _numbers_per_belief(self) -> int:
        return max(int(self.n_neighbors), 1)


class KNNRegression(NeighbourBase):
    """The weighted mean of the states of the k nearest example observations, whatever was observed before.

    Parameters
    ----------
    transition : callable, optional
        ``(states, control, rng) -> states``. Used only where an observation is missing or resembles no example: then
        copies of the last belief's states move. None: the last belief stays.
    initial : callable, optional
        ``(size, rng) -> states``: the belief before the first observation. None: draws from the example states.
    n_neighbors : int
        k.
    neighbor_weights : {"triangular", "uniform"}
        How the neighbours share: in proportion to k, k − 1, …, 1 (nearest first), or equally.
    observation_kernel : kernel, optional
        Similarity by which neighbours are found: a kernel object, a callable ``(A, B) -> matrix`` or "precomputed".
    metric : str or callable
        Distance by which they are found where no kernel is given: a name scikit-learn knows, or a function of two
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


class NearestNeighbor(NeighbourBase):
    """The state of the one nearest example observation: the paper's naive method (NAI).

    Parameters
    ----------
    transition, initial, observation_kernel, metric, metric_params, state_kernel, n_particles, angles, random_state
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

    def search_space(self) -> dict[str, Parameter]:
        """Return the kernel's bandwidth, if there is a kernel."""
        return kernel_widths(self.observation_kernel, "observation_kernel")
