"""What the two filters with a Bayes' rule share: learning, further examples, other settings on the same examples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.base import clone

from kmcf.bayes_rule import BayesRule
from kmcf.filter.backend import Backend
from kmcf.filter.gaps import Served
from kmcf.filter.inputs import read_seed
from kmcf.filter.learning import LearningSettings, Learnt, learn
from kmcf.filter.motion import Motion
from kmcf.filter.patterns import learnt_on, with_patterns
from kmcf.filter.restoring import restored, stored
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_functions, particles_for
from kmcf.filter.step import Move, Step
from kmcf.filter.support import Support
from kmcf.filter.tunable import differ, kernel_search_space, kernel_variants
from kmcf.kernels import Kernel, Learned, Precomputed
from kmcf.numerics.greedy import greedy_loop
from kmcf.support.alerts import StalePivotsWarning, warn_user
from kmcf.support.search_space import Parameter, Variants

STALE = 1e-3
SUMMARY_KERNEL = "observation_kernel__kernel__"
"""Settings of the kernel on a learnt summary; the summary itself does not depend on them."""
Functions = Sequence[Callable[[Any], Any]]


class RuleFilter(SequentialFilter):
    """Base class of the filters that apply a Bayes' rule to examples."""

    state_kernel: Any
    observation_kernel: Any
    epsilon: float | None = None
    """Only for rules that have one."""
    delta: float | None
    tolerance: float | tuple[float, float] | str
    n_particles: int | None
    n_examples: int | float | None
    reject: bool | None
    floor: Any = None

    learnt_: Learnt
    """Everything that was learnt from the examples."""
    rule_: BayesRule
    observation_kernel_: Kernel
    state_kernel_: Kernel
    _functions: tuple[Callable[[Any], Any], ...] = ()

    @abstractmethod
    def _check_settings(self) -> None:
        """Check all settings that do not depend on the examples."""

    @abstractmethod
    def _support(self) -> Support:
        """Turn the settings that are words into what fits the rule."""

    def _fit(self, states: Any, observations: Any, functions: Functions, known: Learned | None = None) -> Self:
        """Fit; ``known`` is a kernel whose summary of the same examples can be reused."""
        self._check_settings()
        self._functions = check_functions(functions)
        learnt = learn(states, observations, self._learning_settings(), known)
        return self._adopt(learnt, read_seed(self.random_state))

    def partial_fit(self, states: Any, observations: Any) -> Self:
        """Learn from further examples, keeping kernels, regularisers and (compressed engine) pivots.

        With the compressed engine the cost depends on the number of new examples only, and the result is that of
        refitting with the same pivots; other engines refit their rule. Existing beliefs keep their values. If new
        examples lie out of reach of the pivots, a warning says so: call :meth:`refresh`.

        Parameters
        ----------
        states, observations : arrays or lists
            The new examples, at least one, of the same form as those given to :meth:`fit`.
        """
        if not self._is_fitted:
            return self.fit(states, observations)
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
        return self._adopt(extended, self.seed_)

    def refresh(self) -> Self:
        """Choose new pivots for the low-rank engines from all examples, as a fit with the same kernels would."""
        self._fitted_backend()
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

        Where only ε and δ change, kernels, kernel matrices and their factors are shared; a learnt observation kernel is
        learnt again only if its own settings change.

        Parameters
        ----------
        states, observations : arrays or lists
            The same examples again.
        **settings
            As for ``set_params``.
        """
        current = self.get_params()
        changed = [name for name, value in settings.items() if differ(current.get(name), value)]
        twin = clone(self).set_params(**settings)
        if all(name in ("epsilon", "delta") for name in changed) and self.tolerance != "auto":
            twin._check_settings()
            shared = self.learnt_.regularised(*(settings.get(name) for name in ("epsilon", "delta")))
            if shared is not None:
                twin._take_over(self._fit_options())
                return twin._adopt(shared, self.seed_)
        known = self.observation_kernel_ if isinstance(self.observation_kernel_, Learned) else None
        if any(name.startswith("observation_kernel") and not name.startswith(SUMMARY_KERNEL) for name in changed):
            known = None
        return twin._fit(states, observations, self._functions, known)

    def learn_columns(self, served: Served) -> Learnt:
        """Learn from some columns of the observations what a filter fitted on them alone would have learnt."""
        return learnt_on(self.learnt_, self._learning_settings(), served)

    def _fitted_state(self) -> dict[str, Any]:
        return {**stored(self.learnt_), **self._fit_options()}

    def _restore(self, state: dict[str, Any], passed: set[str]) -> None:
        self._take_over(state)
        restored(state, self._learning_settings(), passed).publish(self)

    def _fit_options(self) -> dict[str, Any]:
        """Return what ``fit`` was given besides the examples."""
        return {"_functions": self._functions}

    def _take_over(self, options: Mapping[str, Any]) -> None:
        """Adopt the options that another fit was given."""
        self._functions = tuple(options["_functions"])

    def _learning_settings(self) -> LearningSettings:
        support = self._support()
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
            rule=getattr(self, "rule", "kbr"),
            make_rule=lambda examples, epsilon, delta, cache: support.fit(
                examples, epsilon, delta, particles_for(self.n_particles, examples.size), cache
            ),
        )

    def _adopt(self, learnt: Learnt, seed: int) -> Self:
        """Take over what was learnt, under the names that users know, and get ready to filter."""
        learnt.publish(self)
        self.seed_ = seed
        self.backend_ = self._make_backend()
        return self

    def _motion(self) -> Motion:
        return replace(super()._motion(), examples=self.learnt_.start_states)

    def _make_backend(self) -> Backend:
        greedy_loop()  # compiled here rather than in the first step
        return super()._make_backend()

    @property
    def n_particles_(self) -> int:
        """The number of particles in use."""
        return particles_for(self.n_particles, len(self.learnt_.start_states))

    @property
    def rejecting_(self) -> bool:
        """Whether the prediction is kept when a correction cannot be trusted."""
        return True if self.reject is None else bool(self.reject)

    def _step(self) -> Step:
        return Step(
            predict=Move(self._motion(), self.n_particles_),
            rule=with_patterns(self.learnt_, self._learning_settings()),
            rejecting=self.rejecting_,
            n_particles=self.n_particles_,
            kernel=self.state_kernel_,
            angles=self.angles,
        )
