"""kNN-PF: a particle filter whose likelihood is a nearest-neighbour estimate from the examples.

Vlassis, Terwijn and Kröse (2002) estimate the density of the state given the observation,

    p(x | y) ≈ Σ_i λ_i J(x, X_i)   over the k examples whose observations are nearest to y,

and use it in place of the likelihood: p(y | x) ∝ p(x | y) / p(x), with p(x) taken as constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from kmcf.baselines.examples import NeighbourLearner
from kmcf.baselines.neighbours import NeighbourSearch
from kmcf.baselines.particle_base import Likelihood, LikelihoodRule, ParticleBase
from kmcf.bayes_rule import BayesRule
from kmcf.bayes_rule.base import Resampler
from kmcf.filter.fitting.gaps import Served
from kmcf.filter.settings import check_positive
from kmcf.filter.tunable import kernel_widths
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, log_sum_exp
from kmcf.numerics.objects import Objects
from kmcf.support.search_space import LogNormal, Parameter

BLOCK_NUMBERS = 4_000_000


class KNNParticleFilter(NeighbourLearner, ParticleBase):
    """Particle filter with a k-nearest-neighbour likelihood (Vlassis, Terwijn and Kröse 2002).

    The kNN-PF of the paper's Sections 6.2 and 6.3.

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states.
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    n_neighbors : int
        Number of neighbours, k.
    state_multiplier : float
        Smoothing of the neighbours' states: Gaussian at this multiple of the median distance of the example states.
    neighbor_weights : {"triangular", "uniform"}
        How neighbours are weighted: in proportion to k, k − 1, …, 1 (nearest first), or equally.
    observation_kernel : kernel, optional
        Similarity by which neighbours are found: a kernel object, a callable ``(A, B) -> matrix`` or "precomputed".
    metric : str or callable
        Distance by which they are found if no kernel is given: a name that scikit-learn knows (trees are used for
        vectors of up to 15 numbers), or a function of two observations.
    metric_params : dict, optional
        Further arguments of a named metric.
    state_kernel : kernel, optional
        Smoothing kernel on states, in place of ``state_multiplier``; needed if states are objects.
    divide_by_density : bool
        Divide by the density of the example states, so that p(x | y) / p(x) is used: better if the examples are spread
        unevenly, at a cost of n kernel values per particle. The published filter does not do this.
    n_particles : int
        Number of particles.
    resampling : {"systematic", "stratified", "multinomial"}
        How particles are resampled.
    resample_threshold : float
        Resample when the effective sample size is below this share of the particles.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.
    floor : float, "auto", or a sequence of these and None, optional
        What numbers that are NaN stand for, as for :class:`~kmcf.KernelMonteCarloFilter`.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(200, random_state=0), model.simulate(50, random_state=1)
    >>> flt = KNNParticleFilter(model.transition, model.initial, random_state=0)
    >>> run = flt.fit(train.states, train.observations).filter(test.observations)
    >>> run.mean.shape, bool(np.sqrt(np.mean((run.mean - test.states) ** 2)) < 1.3)
    ((50, 1), True)
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        n_neighbors: int = 6,
        state_multiplier: float = 0.4,
        neighbor_weights: str = "triangular",
        observation_kernel: Any = None,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        state_kernel: Any = None,
        divide_by_density: bool = False,
        n_particles: int = 5000,
        resampling: str = "systematic",
        resample_threshold: float = 0.5,
        angles: Sequence[int] = (),
        random_state: Any = None,
        floor: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.n_neighbors = n_neighbors
        self.state_multiplier = state_multiplier
        self.neighbor_weights = neighbor_weights
        self.observation_kernel = observation_kernel
        self.metric = metric
        self.metric_params = metric_params
        self.state_kernel = state_kernel
        self.divide_by_density = divide_by_density
        self.n_particles = n_particles
        self.resampling = resampling
        self.resample_threshold = resample_threshold
        self.angles = angles
        self.random_state = random_state
        self.floor = floor

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
        super()._check_settings()
        check_positive("state_multiplier", self.state_multiplier)

    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        self._learn_search(kept)
        state_kernel = self._fit_state_kernel(kept, self.state_kernel, self.state_multiplier)
        self.state_kernel_ = state_kernel
        self._on_states = state_kernel.on_examples(self.states_)

    def search_space(self) -> dict[str, Parameter]:
        """Return the number of neighbours, how they are weighted, and the bandwidths."""
        space = super().search_space()
        if self.state_kernel is None:
            return {**space, "state_multiplier": LogNormal(self.state_multiplier, sd=0.7)}
        return {**space, **kernel_widths(self.state_kernel, "state_kernel")}

    def _rule(self, resampler: Resampler) -> BayesRule:
        def rule_for(search: NeighbourSearch, served: Served | None) -> BayesRule:
            return LikelihoodRule(partial(self._likelihood_among, search, self._states_of(served)), resampler)

        return self._by_pattern(rule_for)

    def _likelihood(self, particles: Objects, observation: Objects) -> Likelihood:
        return self._likelihood_among(self._search, self._states_of(self._served), particles, observation)

    def _states_of(self, served: Served | None) -> ExampleKernel:
        """Return the kernel on the states of those examples that are searched."""
        return self._on_states if served is None else self._on_states.subset(served.rows)

    def _likelihood_among(
        self, search: NeighbourSearch, on_states: ExampleKernel, particles: Objects, observation: Objects
    ) -> Likelihood:
        """Return the likelihoods, given a search among some examples and the kernel on their states."""
        found = search.nearest(observation)
        logs = on_states.subset(found.indices).log_against(particles)  # (k, m)
        density = log_sum_exp(logs + np.log(found.weights)[:, None])
        if self.divide_by_density:
            density = density - _log_density(on_states, particles)
        return Likelihood(density, found.coverage)


def _log_density(on_states: ExampleKernel, particles: Objects) -> FloatArray:
    """Return the logarithm of the example states' density at the particles, up to a constant, block by block."""
    width = max(1, BLOCK_NUMBERS // on_states.size)
    blocks = [particles[start : start + width] for start in range(0, len(particles), width)]
    return np.concatenate([log_sum_exp(on_states.log_against(block)) for block in blocks])
