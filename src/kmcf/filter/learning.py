"""How a filter learns from examples: kernels, regularisers, the Bayes' rule, and further examples later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.bayes_rule import Examples, FittedRule
from kmcf.bayes_rule.cache import LAYOUT, to_cache
from kmcf.bayes_rule.defaults import default_epsilon
from kmcf.filter.inputs import ObservationReader, read_examples
from kmcf.filter.kernel_choice import KernelChoice, choose_observation_kernel
from kmcf.filter.settings import check_angles
from kmcf.herding.subsampling import Subsample, choose_examples
from kmcf.kernels import Kernel, Learned, Precomputed, as_kernel
from kmcf.kernels.defaults import default_state_kernel
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.growing import Growing
from kmcf.numerics.objects import Objects, describe, is_numeric, take
from kmcf.support.storable import Versioned

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

    @property
    def states(self) -> Objects:
        """The example states that the rule knows."""
        return self.all_states.objects if self.chosen is None else take(self.all_states.objects, self.chosen.indices)

    def publish(self, flt: Any) -> None:
        """Give a filter what was learnt, under the names that users know."""
        flt.learnt_ = self
        flt.reader_ = self.reader
        flt.states_ = self.states
        flt.state_kernel_ = self.state_kernel
        flt.observation_kernel_ = self.observation_kernel
        flt.kernel_choice_ = self.kernel_choice
        flt.epsilon_, flt.delta_ = self.epsilon, self.delta
        flt.example_indices_ = None if self.chosen is None else self.chosen.indices
        flt.subsample_error_ = None if self.chosen is None else self.chosen.error
        flt.rule_, flt.engine_, flt.ranks_, flt.trace_errors_ = self.fitted

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
        read_states, read_observations = self._read_more(states, observations, settings.angles)
        rule = self.fitted.rule.extended(read_states, read_observations)
        extended = replace(
            self,
            all_states=self.all_states.append(read_states),
            all_observations=self.all_observations.append(read_observations),
        )
        if rule is None:
            return extended.refreshed(settings)
        return replace(extended, fitted=self.fitted._replace(rule=rule))

    def refreshed(self, settings: LearningSettings) -> Learnt:
        """Return the same with the rule fitted again, to all examples."""
        examples = _examples(self.state_kernel, self.observation_kernel, self.all_states, self.all_observations)
        chosen, fitted = _fit_rule(examples, self.epsilon, self.delta, settings)
        return replace(self, chosen=chosen, fitted=fitted)

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps: examples, learnt kernels and numbers, and a cache of the rule."""
        choice, chosen = self.kernel_choice, self.chosen
        return {
            "states_": self.all_states.objects,
            "observations_": self.all_observations.objects,
            "flat_": self.reader.flat,
            "state_kernel_": self.state_kernel,
            "observation_kernel_": self.observation_kernel,
            "kernel_choice_": None if choice is None else {"name": choice.name, "scores": choice.scores},
            "epsilon_": self.epsilon,
            "delta_": self.delta,
            "chosen_": None if chosen is None else {"indices": chosen.indices, "errors": chosen.errors},
            "engine_": self.fitted.engine,
            "ranks_": list(self.fitted.ranks),
            "trace_errors_": list(self.fitted.trace_errors),
            "cache_": Versioned(to_cache(self.fitted), LAYOUT),
        }

    @classmethod
    def restored(cls, stored: Mapping[str, Any], settings: LearningSettings) -> tuple[Learnt, bool]:
        """Restore what a file kept; also say whether the rule had to be fitted again."""
        states, observations = Growing(stored["states_"]), Growing(stored["observations_"])
        state_kernel, observation_kernel = stored["state_kernel_"], stored["observation_kernel_"]
        examples = _examples(state_kernel, observation_kernel, states, observations)
        if examples.state_kernel.size != examples.observation_kernel.size:
            raise ValueError(f"{examples.state_kernel.size} states, {examples.observation_kernel.size} observations.")
        chosen = None if stored["chosen_"] is None else Subsample(**stored["chosen_"])
        cache = stored["cache_"]
        epsilon, delta = float(stored["epsilon_"]), float(stored["delta_"])
        known = examples if chosen is None else examples.subset(chosen.indices)
        choice, given = stored["kernel_choice_"], _given(settings.observation_kernel, "observation_kernel")
        learnt = cls(
            all_states=states,
            all_observations=observations,
            reader=replace(ObservationReader.of(None, observations.objects, given), flat=bool(stored["flat_"])),
            state_kernel=state_kernel,
            observation_kernel=observation_kernel,
            kernel_choice=None if choice is None else KernelChoice(clone(observation_kernel), **choice),
            epsilon=epsilon,
            delta=delta,
            chosen=chosen,
            fitted=settings.make_rule(known, epsilon, delta, cache),
        )
        return learnt, cache is None

    def _read_more(self, states: Any, observations: Any, angles: Sequence[int]) -> tuple[Objects, Objects]:
        read_states, read_observations = read_examples(
            states, observations, state_kernel=self.state_kernel, observation_kernel=self.observation_kernel, fewest=1
        )
        for name, new, old in (
            ("states", read_states, self.all_states.objects),
            ("observations", read_observations, self.all_observations.objects),
        ):
            if np.shape(new)[1:] != np.shape(old)[1:] if is_numeric(old) else is_numeric(new):
                raise ValueError(f"the new {name} are {describe(new)}, but the filter was fitted on {describe(old)}.")
            if is_numeric(old) and new.dtype != old.dtype:
                raise ValueError(f"the new {name} have the type {new.dtype}, but the filter was fitted on {old.dtype}.")
        return wrapped_columns(read_states, angles), read_observations


def learn(states: Any, observations: Any, settings: LearningSettings, known: Learned | None = None) -> Learnt:
    """Learn the observation model from n examples.

    Parameters
    ----------
    states, observations : arrays or lists
        The examples.
    settings : LearningSettings
        Everything else.
    known : Learned, optional
        A learnt kernel whose summary of the same examples can be reused.
    """
    state_kernel = _given(settings.state_kernel, "state_kernel")
    observation_kernel = _given(settings.observation_kernel, "observation_kernel")
    if isinstance(state_kernel, Precomputed):
        raise TypeError(
            "state_kernel='precomputed' cannot work: the filter compares new states with the examples at every step. "
            "Pass a kernel, or a callable (A, B) -> matrix."
        )
    read_states, read_observations = read_examples(
        states, observations, state_kernel=state_kernel, observation_kernel=observation_kernel
    )
    check_angles(settings.angles, read_states)
    read_states = wrapped_columns(read_states, settings.angles)
    reader = ObservationReader.of(observations, read_observations, observation_kernel)
    if state_kernel is None:
        state_kernel = default_state_kernel(read_states, settings.angles, settings.state_multiplier)
    state_kernel = clone(state_kernel).fit(read_states)
    choice = None
    if observation_kernel is None:
        choice = choose_observation_kernel(read_states, read_observations, settings.angles)
        observation_kernel = choice.kernel
    unfitted = _with_angles(clone(observation_kernel), settings.angles)
    observation_kernel = _fitted(unfitted, read_observations, read_states, known)
    all_states, all_observations = Growing(read_states), Growing(read_observations)
    examples = _examples(state_kernel, observation_kernel, all_states, all_observations)
    plain = choice is not None and choice.name == "plain"
    epsilon, delta = _regularisers(examples, settings, plain=plain)
    chosen, fitted = _fit_rule(examples, epsilon, delta, settings)
    return Learnt(
        all_states=all_states,
        all_observations=all_observations,
        reader=reader,
        state_kernel=state_kernel,
        observation_kernel=observation_kernel,
        kernel_choice=choice,
        epsilon=epsilon,
        delta=delta,
        chosen=chosen,
        fitted=fitted,
    )


def _given(kernel: Any, name: str) -> Kernel | None:
    return None if kernel is None else as_kernel(kernel, name)


def _examples(state_kernel: Kernel, observation_kernel: Kernel, states: Growing, observations: Growing) -> Examples:
    """Prepare the examples for both kernels; for some kernels this is expensive, so it is done once per fit."""
    return Examples(
        states.objects, state_kernel.on_examples(states.objects), observation_kernel.on_examples(observations.objects)
    )


def _regularisers(examples: Examples, settings: LearningSettings, *, plain: bool) -> tuple[float, float]:
    epsilon, delta = settings.epsilon, settings.delta
    if epsilon is None:
        epsilon = default_epsilon(float(examples.state_kernel.diagonal().mean()))
    if delta is None:
        delta = settings.default_delta(plain, float(examples.observation_kernel.diagonal().mean()))
    return float(epsilon), float(delta)


def _fit_rule(
    examples: Examples, epsilon: float, delta: float, settings: LearningSettings
) -> tuple[Subsample | None, FittedRule]:
    """Fit the rule, to some examples that represent all if the settings ask for so few (Algorithm 6)."""
    wanted = settings.n_examples
    if wanted is None or (isinstance(wanted, int | np.integer) and wanted >= examples.size):
        return None, settings.make_rule(examples, epsilon, delta, None)
    limit = {"error": wanted} if isinstance(wanted, float) else {"size": wanted}
    chosen = choose_examples(examples.state_kernel, examples.observation_kernel, **limit)
    return chosen, settings.make_rule(examples.subset(chosen.indices), epsilon, delta, None)


def _with_angles(kernel: Kernel, angles: Sequence[int]) -> Kernel:
    """Tell learnt kernels, alone or inside others, which state columns are angles, unless the user did."""
    for part in (kernel, *kernel.get_params(deep=True).values()):
        if isinstance(part, Learned) and part.angles is None and len(angles):
            part.set_params(angles=tuple(int(j) for j in angles))
    return kernel


def _fitted(kernel: Kernel, observations: Objects, states: Objects, known: Learned | None) -> Kernel:
    """Fit an observation kernel, with a summary that was learnt before if there is one."""
    if known is not None and isinstance(kernel, Learned):
        return kernel.fit_like(known, observations)
    return kernel.fit(observations, states)
