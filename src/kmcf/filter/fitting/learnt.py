"""What a filter has learnt from its examples, and how it takes further ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kmcf.bayes_rule import Examples, FittedRule
from kmcf.filter.fitting.augmenting import Pairs
from kmcf.filter.fitting.gaps import Incomplete, read_more
from kmcf.filter.fitting.kernel_choice import KernelChoice
from kmcf.filter.fitting.kernel_fitting import fitted_state_kernel
from kmcf.filter.inputs import ObservationReader, read_examples
from kmcf.filter.naming import check_order
from kmcf.herding.subsampling import Subsample, choose_examples
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import IntArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.growing import Growing
from kmcf.numerics.objects import Objects, describe, is_numeric, take

RuleMaker = Callable[[Examples, float, float, dict[str, Any] | None], FittedRule]
"""Fits a Bayes' rule to examples, with ε and δ, or restores it from what a file kept of it."""


@dataclass(frozen=True)
class LearningSettings:
    """What learning needs to know besides the examples."""

    state_kernel: Any
    """A kernel, or None: Gaussian at ``state_multiplier`` times the median distance."""
    observation_kernel: Any
    """A kernel, or None: chosen from the examples."""
    state_multiplier: float
    epsilon: float | None
    delta: float | None
    default_delta: Callable[[bool, float], float]
    """δ where none is given, for the plain default kernel or any other, and the kernel's mean diagonal."""
    n_examples: int | float | None
    angles: Sequence[int]
    make_rule: RuleMaker
    floor: Any = None
    """What NaN stands for: None, a number, "auto", or one of these per column."""
    augment: bool | None = False
    """Whether to make up pairs beside the examples; None: if left-out examples favour it."""

    def fitted_state_kernel(self, states: Objects) -> Kernel:
        """Fit the kernel on states to states that were read."""
        return fitted_state_kernel(self.state_kernel, states, self.angles, self.state_multiplier)


@dataclass(frozen=True)
class Learnt:
    """What was learnt from the examples."""

    all_states: Growing
    all_observations: Growing
    reader: ObservationReader
    state_kernel: Kernel
    observation_kernel: Kernel
    kernel_choice: KernelChoice | None
    epsilon: float
    delta: float
    chosen: Subsample | None
    """The examples that were kept (Algorithm 6); None: all."""
    fitted: FittedRule
    learnt_from: int
    """The first so many examples are those of the fit, from which kernels were learnt."""
    refreshed_at: int
    """The rule was last fitted to so many."""
    incomplete: Incomplete | None = None
    """All examples, if some lack numbers; the rule then knows those that lack none."""
    numbers: IntArray | None = None
    """Which of the examples given to ``fit`` have any number; None: all."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long the parts of the fit took."""
    further: Pairs | None = None
    """Pairs made up beside the examples, which the rule knows, too; None: there are none."""

    @property
    def states(self) -> Objects:
        """The states that the rule knows: those of examples, then those of pairs made up."""
        own = self.example_states
        return own if self.further is None else np.concatenate([own, self.further.states])

    @property
    def made_up(self) -> int:
        """Number of pairs made up."""
        return 0 if self.further is None else len(self.further.states)

    @property
    def example_states(self) -> Objects:
        """The example states that the rule knows."""
        return self.all_states.objects if self.chosen is None else take(self.all_states.objects, self.chosen.indices)

    @property
    def start_states(self) -> Objects:
        """The example states from which initial ones are drawn, also those of examples that the rule cannot use."""
        return self.example_states if self.incomplete is None or self.incomplete.all_serve else self.examples[0]

    @property
    def example_indices(self) -> IntArray | None:
        """Which of the examples given to ``fit`` were kept; None if all."""
        if self.chosen is None:
            return None
        rows = self.chosen.indices if self.incomplete is None else self.incomplete.served.rows[self.chosen.indices]
        return rows if self.numbers is None else self.numbers[rows]

    def publish(self, flt: Any) -> None:
        """Give a filter what was learnt, under the names that users know."""
        flt.learnt_ = self
        flt.reader_, flt.floor_ = self.reader, self.reader.floor
        flt.states_ = self.example_states
        flt.augmented_ = self.made_up
        flt.state_kernel_ = self.state_kernel
        flt.observation_kernel_ = self.observation_kernel
        flt.kernel_choice_ = self.kernel_choice
        flt.epsilon_, flt.delta_ = self.epsilon, self.delta
        flt.example_indices_ = self.example_indices
        flt.subsample_error_ = None if self.chosen is None else self.chosen.error
        flt.rule_, flt.engine_, flt.ranks_, flt.trace_errors_ = self.fitted[:4]

    def expecting(self, states: Objects) -> Learnt:
        """Return the same with the rule made ready for priors on these very states."""
        return replace(self, fitted=self.fitted._replace(rule=self.fitted.rule.expecting(states)))

    def regularised(self, epsilon: float | None, delta: float | None) -> Learnt | None:
        """Return the same with other regularisers (None: no change), all else shared; None if the rule cannot."""
        epsilon = self.epsilon if epsilon is None else float(epsilon)
        delta = self.delta if delta is None else float(delta)
        rule = self.fitted.rule.regularised(epsilon, delta)
        if rule is None:
            return None
        return replace(self, epsilon=epsilon, delta=delta, fitted=self.fitted._replace(rule=rule))

    def extended(self, states: Any, observations: Any, settings: LearningSettings) -> Learnt:
        """Return the same with further examples; kernels, regularisers and, if the rule can, pivots stay."""
        return self.appended(*self._read_more(states, observations, settings.angles), settings)

    def appended(self, read_states: Objects, read_observations: Objects, settings: LearningSettings) -> Learnt:
        """Return the same with further examples that were read."""
        grown = self
        if self.incomplete is not None or (is_numeric(read_observations) and np.isnan(read_observations).any()):
            grown, (read_states, read_observations) = self._with_incomplete(read_states, read_observations)
        if not len(read_states):
            return grown
        # With pairs made up, new examples would come after them: the rule, which is of few, is fitted again.
        rule = None if self.further else self.fitted.rule.extended(read_states, read_observations)
        extended = replace(
            grown,
            all_states=self.all_states.append(read_states),
            all_observations=self.all_observations.append(read_observations),
        )
        if rule is None:
            return extended.refreshed(settings)
        return replace(extended, fitted=self.fitted._replace(rule=rule))

    def refreshed(self, settings: LearningSettings) -> Learnt:
        """Return the same with the rule fitted again, to all examples."""
        known = self.all_states.objects, self.all_observations.objects
        examples = examples_for(self.state_kernel, self.observation_kernel, *known, self.further)
        chosen, fitted = fit_rule_for(examples, self.epsilon, self.delta, settings)
        return replace(self, chosen=chosen, fitted=fitted, refreshed_at=len(self.examples[0]))

    @property
    def examples(self) -> tuple[Objects, Objects]:
        """All example states and observations, also those that lack numbers."""
        if self.incomplete is None:
            return self.all_states.objects, self.all_observations.objects
        return self.incomplete.states.objects, self.incomplete.observations.objects

    def _read_more(self, states: Any, observations: Any, angles: Sequence[int]) -> tuple[Objects, Objects]:
        gaps = self.reader.accepts.with_gaps(self.reader.filling)
        check_order(self.reader.names, observations)
        read_states, read_observations = read_examples(
            states, observations, state_kernel=self.state_kernel, observation_kernel=gaps, fewest=1
        )
        for name, new, old in zip(
            ("states", "observations"), (read_states, read_observations), self.examples, strict=True
        ):
            if np.shape(new)[1:] != np.shape(old)[1:] if is_numeric(old) else is_numeric(new):
                raise ValueError(f"the new {name} are {describe(new)}, but the filter was fitted on {describe(old)}.")
            if is_numeric(old) and new.dtype != old.dtype:
                raise ValueError(f"the new {name} have the type {new.dtype}, but the filter was fitted on {old.dtype}.")
        return read_more((wrapped_columns(read_states, angles), read_observations), self.reader)

    def _with_incomplete(self, states: Objects, observations: Objects) -> tuple[Learnt, tuple[Objects, Objects]]:
        """Add examples that lack numbers to all examples; return those that the rule can use."""
        known = self.incomplete or Incomplete.complete_so_far(self.all_states, self.all_observations)
        grown, complete = known.extended(states, observations)
        return replace(self, incomplete=grown), complete


def examples_for(
    state_kernel: Kernel,
    observation_kernel: Kernel,
    states: Objects,
    observations: Objects,
    further: Pairs | None = None,
) -> Examples:
    """Prepare examples, and pairs made up, for both kernels; for some this is expensive, so it is done once per fit."""
    if further is not None:
        states, observations = Pairs(states, observations).beside(further)
    return Examples(states, state_kernel.on_examples(states), observation_kernel.on_examples(observations))


def fit_rule_for(
    examples: Examples, epsilon: float, delta: float, settings: LearningSettings
) -> tuple[Subsample | None, FittedRule]:
    """Fit the rule, to some examples that represent all if the settings ask for so few (Algorithm 6)."""
    wanted = settings.n_examples
    if wanted is None or (isinstance(wanted, int | np.integer) and wanted >= examples.size):
        return None, settings.make_rule(examples, epsilon, delta, None)
    limit = {"error": wanted} if isinstance(wanted, float) else {"size": wanted}
    chosen = choose_examples(examples.state_kernel, examples.observation_kernel, **limit)
    if len(chosen.indices) == 1:
        near = f"one example is already at a distance of {chosen.error:.2g} from all"
        raise ValueError(f"n_examples = {wanted}: {near}, but cannot tell states apart; ask for a smaller distance.")
    return chosen, settings.make_rule(examples.subset(chosen.indices), epsilon, delta, None)
