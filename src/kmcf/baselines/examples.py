"""What the baselines that learn from examples share: reading them, a kernel on their states, finding neighbours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from sklearn.base import clone

from kmcf.baselines.neighbours import NEIGHBOR_WEIGHTS, WITH_GAPS, NeighbourSearch, takes_any_columns
from kmcf.bayes_rule import BayesRule
from kmcf.filter.fitting.gaps import Served, accepted, few_examples, on_columns, read_with_gaps, selected, separated
from kmcf.filter.fitting.kernel_fitting import given_kernel
from kmcf.filter.fitting.patterns import Fitted, PatternRule, Patterns, has_patterns
from kmcf.filter.fitting.sensor_learning import refuse_several
from kmcf.filter.fitting.silence import check_floor
from kmcf.filter.inputs import Accepts, ObservationReader, read_examples, read_seed
from kmcf.filter.naming import names_of
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_angles, check_draws
from kmcf.filter.step import Prediction, Step
from kmcf.filter.tunable import kernel_widths
from kmcf.filter.watching import watch_observations
from kmcf.kernels import Kernel, Precomputed, as_kernel
from kmcf.kernels.defaults import STATE_MULTIPLIER, default_state_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import Objects
from kmcf.support.search_space import Category, Integer, Parameter
from kmcf.trust.alarm import Watch


class ExampleFilter(SequentialFilter):
    """Base class of the filters that keep the example states and learn something from their observations."""

    n_particles: int
    floor: Any = None
    """Only for filters that have it as a setting."""
    state_kernel_: Kernel | None
    _observations: Objects = None
    """The example observations, if there are any."""

    @property
    def floor_(self) -> FloatArray | None:
        """What NaN stands for in each column of the observations (NaN: it is missing); None if there is no floor."""
        return self.reader_.floor

    def _assembled(self, predict: Prediction, rule: BayesRule, *, rejecting: bool = True) -> Step:
        """Assemble a step from how the filter predicts and corrects."""
        return Step(
            predict=predict,
            rule=rule,
            rejecting=rejecting,
            n_particles=int(self.n_particles),
            kernel=self.state_kernel_,
            angles=self.angles,
            watch=self._make_watch(),
        )

    def _make_watch(self) -> Watch | None:
        """Return what raises alarms: it knows how far observations are from the examples, and where these end."""
        kernel = getattr(self, "observation_kernel_", None)
        return watch_observations(self.states_, self._observations, kernel, self.angles, self._thresholds)

    @abstractmethod
    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        """Learn from the examples that were read; ``kept`` is what a file kept, so that nothing is learnt twice."""

    def _kept(self) -> dict[str, Any]:
        """Return what was learnt and does not follow from settings and examples alone."""
        return {"state_kernel_": self.state_kernel_}

    def _finish_fit(self) -> Self:
        """Learn from the examples that were read, and get ready to filter."""
        self._thresholds = None
        self._learn(None)
        self.backend_ = self._make_backend()
        return self

    def _fitted_examples(self) -> tuple[Any, Any]:
        return self.states_, self._observations

    def _fitted_state(self) -> dict[str, Any]:
        examples = {"states_": self.states_, "observations_": self._observations}
        return {**examples, "reader_": self.reader_.stored(), **self._kept()}

    def _restore(self, state: dict[str, Any], _passed: set[str]) -> None:
        self.states_, self._observations = state["states_"], state["observations_"]
        self.reader_ = ObservationReader.restored(state["reader_"])
        self._learn(state)

    def _read_examples(
        self,
        states: Any,
        observations: Any,
        state_kernel: Kernel | None = None,
        accepts: Kernel | Accepts | None = None,
    ) -> None:
        """Check and keep the examples; a kernel says what the observations are."""
        refuse_several(self, states)
        check_draws(self)
        self.calibration_ = None  # it was of another fit
        check_floor(self.floor)
        kinds = Accepts.of(accepts)
        read_states, read_observations = read_examples(
            states, observations, state_kernel=state_kernel, observation_kernel=kinds.with_gaps(self.floor)
        )
        check_angles(self.angles, read_states)
        reader = ObservationReader.of(observations, read_observations, kinds)
        read = (wrapped_columns(read_states, self.angles), read_observations)
        self.states_, self._observations, filling, _ = read_with_gaps(read, kinds, self.floor, self.angles)
        self.reader_ = replace(reader, filling=filling)
        self.seed_, self.state_names_ = read_seed(self.random_state), names_of(states)

    def _fit_state_kernel(
        self, kept: Mapping[str, Any] | None, kernel: Any = None, multiplier: float = STATE_MULTIPLIER
    ) -> Kernel:
        """Return the kernel on states, by default Gaussian at a multiple of the median distance."""
        if kept is not None:
            return kept["state_kernel_"]
        given = default_state_kernel(self.states_, self.angles, multiplier) if kernel is None else as_kernel(kernel)
        return clone(given).fit(self.states_)


class NeighbourLearner(ExampleFilter):
    """Base class of the filters that look for the example observations nearest to a new one."""

    n_neighbors: int
    neighbor_weights: str
    observation_kernel: Any
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    state_kernel: Any

    def search_space(self) -> dict[str, Parameter]:
        """Return the number of neighbours, how they are weighted, and the observation kernel's bandwidth if any."""
        others = [option for option in NEIGHBOR_WEIGHTS if option != self.neighbor_weights]
        return {
            "n_neighbors": Integer(self.n_neighbors, sd=0.7),
            "neighbor_weights": Category((self.neighbor_weights, *others)),
            **kernel_widths(self.observation_kernel, "observation_kernel"),
        }

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "observation_kernel_": self.observation_kernel_}

    def _read_neighbours(self, states: Any, observations: Any) -> None:
        """Check and keep the examples."""
        state_kernel = given_kernel(self.state_kernel, "state_kernel")
        if isinstance(state_kernel, Precomputed):
            raise TypeError("state_kernel='precomputed' cannot work: the filter compares new states with the examples.")
        similarity = given_kernel(self.observation_kernel, "observation_kernel")
        own = Accepts(missing=self.metric == WITH_GAPS, columns=takes_any_columns(self.metric, self.metric_params))
        accepts = own if similarity is None else accepted(similarity)
        self._read_examples(states, observations, state_kernel, accepts)

    def _learn_search(self, kept: Mapping[str, Any] | None) -> None:
        """Prepare the search for neighbours."""
        incomplete, (states, observations) = separated(self.states_, self._observations, self.reader_.accepts)
        self._served = None if incomplete is None else incomplete.served
        if self._served is not None and kept is None:
            few_examples(self._served, "the observations have")
        self.observation_kernel_: Kernel | None = (
            self._fitted_similarity(states, observations, self._served) if kept is None else kept["observation_kernel_"]
        )
        self._search = self._search_among(observations, self.observation_kernel_)

    def _fitted_similarity(self, states: Objects, observations: Objects, served: Served | None) -> Kernel | None:
        """Fit the kernel by which neighbours are found, if there is one, on the columns that are compared."""
        similarity = given_kernel(self.observation_kernel, "observation_kernel")
        if similarity is None:
            return None
        chosen = similarity if served is None else on_columns(similarity, served.columns)
        return clone(chosen).fit(observations, states)

    def _search_among(self, observations: Objects, kernel: Kernel | None) -> NeighbourSearch:
        return NeighbourSearch(
            observations,
            kernel=kernel,
            metric=self.metric,
            metric_params=self.metric_params,
            size=self.n_neighbors,
            neighbor_weights=self.neighbor_weights,
        )

    def _by_pattern(self, rule_for: Callable[[NeighbourSearch, Served | None], BayesRule]) -> BayesRule:
        """Return a rule that looks for neighbours by the numbers that an observation has.

        Parameters
        ----------
        rule_for : callable
            Makes a rule from a search and what it searches: columns and examples, or None for all.
        """
        whole = rule_for(self._search, self._served)
        if not has_patterns(self.reader_):
            return whole

        def fit(served: Served) -> BayesRule:
            states, observations = selected(self.states_, self._observations, served)
            return rule_for(
                self._search_among(observations, self._fitted_similarity(states, observations, served)), served
            )

        patterns = Patterns(self._observations, fit)
        if self._served is not None:
            patterns.adopt(Fitted(self._served.columns, whole))
        return PatternRule(whole, patterns, self._served is None)
