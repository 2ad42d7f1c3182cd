"""What the two filters with a Bayes' rule share: learning, further examples, other settings on the same examples.

:mod:`kmcf.filter.rule_steps` makes steps of what they learnt.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Self

from kmcf.bayes_rule import BayesRule
from kmcf.filter.backend import Backend, distributed_room
from kmcf.filter.explaining import ExplainedFilter, beside_examples
from kmcf.filter.fitting.chunked import check_chunked, refuse_chunked, summed_in_words
from kmcf.filter.fitting.gaps import Served
from kmcf.filter.fitting.learning import learn
from kmcf.filter.fitting.learnt import LearningSettings, Learnt
from kmcf.filter.fitting.patterns import learnt_on
from kmcf.filter.fitting.sensor_learning import (
    add_examples,
    fit_sensors,
    joined,
    one_sensor,
    refuse_sensors,
    restored_sensors,
    stored_sensors,
)
from kmcf.filter.inputs import read_seed
from kmcf.filter.restoring import restored, stored
from kmcf.filter.rule_steps import RuleSteps
from kmcf.filter.settings import check_functions, particles_for
from kmcf.filter.support import Support
from kmcf.filter.tunable import differ, kernel_search_space, kernel_variants
from kmcf.kernels import Kernel, Learned, Precomputed
from kmcf.numerics.arrays import is_dask
from kmcf.numerics.differences import squares_loop
from kmcf.numerics.greedy import greedy_loop
from kmcf.numerics.objects import describe
from kmcf.support.alerts import StalePivotsWarning, warn_user
from kmcf.support.estimators import clone
from kmcf.support.notebooks import in_short
from kmcf.support.search_space import Parameter, Variants

STALE = 1e-3
SUMMARY_KERNEL = "observation_kernel__kernel__"
"""Settings of the kernel on a learnt summary; the summary itself does not depend on them."""
Functions = Sequence[Callable[[Any], Any]]


class RuleFilter(RuleSteps, ExplainedFilter):
    """Base class of the filters that apply a Bayes' rule to examples."""

    state_kernel: Any
    observation_kernel: Any
    epsilon: float | None = None
    """Only for rules that have one."""
    delta: float | None
    tolerance: float | tuple[float, float] | str | None
    n_examples: int | float | None
    floor: Any = None
    augment: bool | None = False

    sensors_: dict[str, RuleFilter] | None = None
    rule_: BayesRule
    observation_kernel_: Kernel
    delta_: float
    engine_: str
    augmented_: int
    """Number of pairs made up beside the examples."""
    _functions: tuple[Callable[[Any], Any], ...] = ()

    @abstractmethod
    def _check_settings(self) -> None:
        """Check all settings that do not depend on the examples."""

    def _fit(self, states: Any, observations: Any, functions: Functions, known: Kernel | None = None) -> Self:
        """Fit; ``known`` is an observation kernel fitted to the same examples, to use again or to share a summary."""
        if isinstance(states, Mapping):
            self._functions, seed = check_functions(functions), read_seed(self.random_state)
            self._thresholds = None
            return self._adopt_sensors(fit_sensors(self, states, observations, seed), seed)
        one_sensor(self, observations)
        self._check_settings()
        self._functions = check_functions(functions)
        self.calibration_ = None  # it was of another fit
        seed = read_seed(self.random_state)
        if is_dask(states) or is_dask(observations):
            learnt = self._learn_chunks(states, observations, seed)
        else:
            learnt = learn(states, observations, self._learning_settings(), known)
        self._thresholds = None
        return self._adopt(learnt, seed)

    def _learn_chunks(self, states: Any, observations: Any, seed: int) -> Learnt:
        """Learn from Dask collections, where their chunks are."""
        settings = self._learning_settings(check_chunked(self, self._support()))
        return distributed_room().learn_chunks(states, observations, settings, angles=self.angles, seed=seed)

    def partial_fit(self, states: Any, observations: Any = None) -> Self:
        """Learn from further examples, keeping kernels, regularisers and (compressed engine) pivots.

        With the compressed engine the cost depends on the number of new examples only, and the result is that of
        refitting with the same pivots; other engines refit their rule. Existing beliefs keep their values. If new
        examples lie out of reach of the pivots, a warning says so: call :meth:`refresh`.

        Parameters
        ----------
        states, observations : arrays or lists
            The new examples, at least one, of the same form as those given to :meth:`fit`; for several sensors, one
            dictionary with those of some sensors.
        """
        if not self._is_fitted:
            return self.fit(states, observations)
        if self.sensors_ is not None:
            return self._adopt_sensors(add_examples(self, states, observations), self.seed_)
        one_sensor(self, observations)
        refuse_chunked(self.learnt_, "partial_fit")
        if self.n_examples is not None or isinstance(self.observation_kernel_, Precomputed):
            raise ValueError("partial_fit works neither with n_examples nor with a precomputed kernel: fit again.")
        extended = self.learnt_.extended(states, observations, self._learning_settings())
        outside = extended.fitted.rule.outside
        if outside > STALE:
            warn_user(
                f"{outside:.1%} of the new examples lie outside the reach of the pivots chosen at fit; call "
                "refresh() to choose new ones (its cost grows with the number of examples).",
                StalePivotsWarning,
            )
        watch = self._fitted_backend().watch
        self._thresholds = None if watch is None else watch.known  # kernels stay, and what is usual with them
        return self._adopt(extended, self.seed_)

    def refresh(self) -> Self:
        """Choose new pivots for the low-rank engines from all examples, as a fit with the same kernels would."""
        self._fitted_backend()
        self._thresholds = None
        if self.sensors_ is not None:
            return self._adopt_sensors({name: copy(part).refresh() for name, part in self.sensors_.items()}, self.seed_)
        refuse_chunked(self.learnt_, "refresh")
        return self._adopt(self.learnt_.refreshed(self._learning_settings()), self.seed_)

    def search_space(self) -> dict[str, Parameter]:
        """Return what a tuner may change: the kernels' widths, the regularisers, and the rank if one was set.

        Kernels that are None get their widths in :meth:`variants`.
        """
        plain = self.observation_kernel is None
        regularisers = self._support().search_space(self.epsilon, self.delta, plain=plain)
        return kernel_search_space(self, **regularisers)

    def variants(self, states: Any, observations: Any) -> Variants:
        """Return this filter with explicit kernels and regularisers; two where the observation kernel was chosen.

        Parameters
        ----------
        states, observations : arrays or lists
            The examples.
        """
        return kernel_variants(self, states, observations, self._support().default_delta)

    def refitted(self, states: Any, observations: Any, **settings: Any) -> Self:
        """Return a filter with some settings changed, fitted on the examples that this one was fitted on.

        Where only ε and δ change, kernels, kernel matrices and their factors are shared; the observation kernel is
        fitted again only if its own settings change, or how observations and angles are read.

        Parameters
        ----------
        states, observations : arrays or lists
            The same examples again.
        **settings
            As for ``set_params``.
        """
        refuse_sensors(self, "refitted", "use it on one sensor alone, then pass its settings by sensor")
        current = self.get_params()
        changed = [name for name, value in settings.items() if differ(current.get(name), value)]
        twin = clone(self).set_params(**settings)
        alike = not self.augmented_ or twin._augmenting is not False  # given regularisers, it makes up no pairs
        if alike and all(name in ("epsilon", "delta") for name in changed) and not self._follows_regularisers:
            twin._check_settings()
            shared = self.learnt_.regularised(*(settings.get(name) for name in ("epsilon", "delta")))
            if shared is not None:
                twin._take_over(self._fit_options())
                return twin._adopt(shared, self.seed_)
        return twin._fit(states, observations, self._functions, self._reusable_kernel(changed))

    def _reusable_kernel(self, changed: Sequence[str]) -> Kernel | None:
        """Return the fitted observation kernel if a fit to the same examples with changed settings can use it."""
        learnt = isinstance(self.observation_kernel_, Learned)  # its summary serves any kernel on it
        if self.observation_kernel is None and not learnt:
            return None  # a kernel that is chosen anew may have other settings
        for name in changed:
            own = name.startswith("observation_kernel") and not (learnt and name.startswith(SUMMARY_KERNEL))
            if own or name in ("angles", "floor"):
                return None
        return self.observation_kernel_

    @property
    def _follows_regularisers(self) -> bool:
        """Whether the rule's features were chosen for its regularisers."""
        why = self.learnt_.fitted.why
        return self.tolerance == "auto" or (self.tolerance is None and why is not None and why.tolerance is None)

    def learn_columns(self, served: Served) -> Learnt:
        """Learn from some columns of the observations what a filter fitted on them alone would have learnt."""
        return learnt_on(self.learnt_, self._learning_settings(), served)

    def _fitted_examples(self) -> tuple[Any, Any]:
        return self.learnt_.examples

    def _fitted_state(self) -> dict[str, Any]:
        learnt = stored(self.learnt_) if self.sensors_ is None else stored_sensors(self.sensors_)
        return {**learnt, **self._fit_options()}

    def _restore(self, state: dict[str, Any], passed: set[str]) -> None:
        self._take_over(state)
        if "sensors_" in state:
            self._publish_sensors(restored_sensors(self, state, passed))
            return
        restored(state, self._learning_settings(), passed).publish(self)

    def _fit_options(self) -> dict[str, Any]:
        """Return what ``fit`` was given besides the examples."""
        return {"_functions": self._functions}

    def _take_over(self, options: Mapping[str, Any]) -> None:
        """Adopt the options that another fit was given."""
        self._functions = tuple(options["_functions"])

    def _learning_settings(self, support: Support | None = None) -> LearningSettings:
        support, size = self._support() if support is None else support, self.n_particles
        # What is kept beside the filter must not know it, or it would be freed by the garbage collector only.
        return LearningSettings(
            state_kernel=self.state_kernel,
            observation_kernel=self.observation_kernel,
            state_multiplier=support.state_multiplier,
            epsilon=self.epsilon,
            delta=self.delta,
            default_delta=support.default_delta,
            n_examples=self.n_examples,
            angles=self.angles,
            floor=self.floor,
            augment=self._augmenting,
            make_rule=lambda examples, epsilon, delta, cache: support.fit(
                examples, epsilon, delta, particles_for(size, examples.size), cache
            ),
        )

    def _adopt(self, learnt: Learnt, seed: int) -> Self:
        """Take over what was learnt, under the names that users know, and get ready to filter."""
        self.sensors_ = None
        learnt.publish(self)
        self.seed_ = seed
        self.backend_ = self._make_backend()
        return self

    def _adopt_sensors(self, sensors: dict[str, RuleFilter], seed: int) -> Self:
        """Take over the filters of several sensors, and get ready to filter."""
        self._thresholds = None
        self._publish_sensors(sensors)
        self.seed_ = seed
        self.backend_ = self._make_backend()
        return self

    def _publish_sensors(self, sensors: dict[str, RuleFilter]) -> None:
        states = joined([sensor.learnt_.start_states for sensor in sensors.values()])
        for name in [name for name in vars(self) if name.endswith("_") and name != "seed_"]:
            delattr(self, name)  # what an earlier fit to one sensor learnt
        self.sensors_, self.states_ = sensors, states
        self.state_kernel_ = next(iter(sensors.values())).state_kernel_

    def _examples_in_words(self) -> str:
        if self.sensors_ is None:
            return summed_in_words(self.learnt_) or super()._examples_in_words() + beside_examples(self.augmented_)
        counts = (f"{len(sensor.states_)} examples of {name!r}" for name, sensor in self.sensors_.items())
        return ", ".join(counts)

    def _table_rows(self) -> tuple[dict[str, Any], str]:
        rows, note = super()._table_rows()
        if self._is_fitted:
            rows["relocating_"] = self.relocating_
        for name, sensor in (self.sensors_ or {}).items():
            how = f"{in_short(sensor.observation_kernel_)}, delta {sensor.delta_:.3g}, engine {sensor.engine_}"
            rows[f"sensor {name!r}"] = f"{describe(sensor.states_)}{beside_examples(sensor.augmented_)}, {how}"
        return rows, note

    def _make_backend(self) -> Backend:
        _ = greedy_loop(), squares_loop()  # compiled here rather than in the first step
        return super()._make_backend()

    def _numbers_per_belief(self) -> int:
        if self.sensors_ is not None:
            return max(sensor._numbers_per_belief() for sensor in self.sensors_.values())
        return len(self.learnt_.states) if self.rule_.kept is None else self.rule_.kept

    @property
    def _augmenting(self) -> bool | None:
        """Whether to make up pairs beside the examples; None: if left-out examples favour it."""
        return self.augment
