"""What the baselines share when they are shown examples: reading them, a kernel on their states, finding neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.baselines.neighbours import NEIGHBOR_WEIGHTS, WITH_GAPS, NeighbourSearch
from kmcf.filter.belief import Belief
from kmcf.filter.inputs import Accepts, ObservationReader, read_examples, read_seed
from kmcf.filter.learning import wrapped
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_angles, check_draws
from kmcf.filter.tunable import kernel_widths
from kmcf.kernels import Kernel, Precomputed, as_kernel
from kmcf.kernels.defaults import STATE_MULTIPLIER, default_state_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects
from kmcf.support.search_space import Category, Integer, Parameter


class ExampleFilter(SequentialFilter):
    """Base of the filters that keep the example states and learn something from their observations."""

    n_particles: int
    state_kernel_: Kernel | None

    def _initial_belief(self, stream: int, rng: np.random.Generator) -> Belief:
        size = int(self.n_particles)
        return self._belief(self._draw_initial(size, rng), np.full(size, 1.0 / size), time=0, stream=stream)

    def _belief(self, states: Objects, weights: FloatArray, **details: Any) -> Belief:
        weights.flags.writeable = False
        return Belief(states, weights, kernel=self.state_kernel_, angles=self.angles, **details)

    def _read_examples(
        self,
        states: Any,
        observations: Any,
        state_kernel: Kernel | None = None,
        accepts: Kernel | Accepts | None = None,
    ) -> Objects:
        """Check and keep the example states; return the example observations, of which a kernel says what they are."""
        check_draws(self)
        read_states, examples = read_examples(
            states, observations, state_kernel=state_kernel, observation_kernel=accepts
        )
        check_angles(self.angles, read_states)
        self.states_ = wrapped(read_states, self.angles)
        self._reader = ObservationReader.of(observations, examples, accepts)
        self.seed_ = read_seed(self.random_state)
        return examples

    def _fit_state_kernel(self, kernel: Kernel | None, multiplier: float = STATE_MULTIPLIER) -> Kernel:
        """Return the kernel on states, by default Gaussian at a multiple of the median distance."""
        chosen = default_state_kernel(self.states_, self.angles, multiplier) if kernel is None else clone(kernel)
        fitted: Kernel = chosen.fit(self.states_)
        return fitted


class NeighbourLearner(ExampleFilter):
    """Base of the filters that look for the example observations nearest to a new one."""

    n_neighbors: int
    neighbor_weights: str
    observation_kernel: Any
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    state_kernel: Any

    def search_space(self) -> dict[str, Parameter]:
        """Return the number of neighbours, how they share, and the observation kernel's bandwidth if there is one."""
        others = [option for option in NEIGHBOR_WEIGHTS if option != self.neighbor_weights]
        return {
            "n_neighbors": Integer(self.n_neighbors, sd=0.7),
            "neighbor_weights": Category((self.neighbor_weights, *others)),
            **kernel_widths(self.observation_kernel, "observation_kernel"),
        }

    def _fit_search(self, states: Any, observations: Any) -> Kernel | None:
        """Keep the examples, prepare the search, and return the kernel on states that the user chose, if any."""
        state_kernel = _given_kernel(self.state_kernel, "state_kernel")
        if isinstance(state_kernel, Precomputed):
            raise TypeError("state_kernel='precomputed' cannot work: new states must be compared with the examples.")
        similarity = _given_kernel(self.observation_kernel, "observation_kernel")
        accepts = Accepts(missing=self.metric == WITH_GAPS) if similarity is None else similarity
        examples = self._read_examples(states, observations, state_kernel, accepts)
        self.observation_kernel_: Kernel | None = None
        if similarity is not None:
            self.observation_kernel_ = clone(similarity).fit(examples, self.states_)
        self._search = NeighbourSearch(
            examples,
            kernel=self.observation_kernel_,
            metric=self.metric,
            metric_params=self.metric_params,
            size=self.n_neighbors,
            neighbor_weights=self.neighbor_weights,
        )
        return state_kernel


def _given_kernel(kernel: Any, name: str) -> Kernel | None:
    return None if kernel is None else as_kernel(kernel, name)
