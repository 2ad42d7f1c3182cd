"""How a filter learns from examples: kernels, regularisers and the Bayes' rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kmcf.bayes_rule import Examples
from kmcf.bayes_rule.defaults import default_epsilon
from kmcf.filter.fitting.augmenting import Pairs, blaming_pairs, fitted_kernel, pairs_beside
from kmcf.filter.fitting.gaps import accepted, few_examples, on_columns, read_with_gaps, separated
from kmcf.filter.fitting.kernel_choice import are_counts, choose_observation_kernel
from kmcf.filter.fitting.kernel_fitting import fitted_on, given_kernel, with_angles
from kmcf.filter.fitting.learnt import LearningSettings, Learnt, examples_for, fit_rule_for
from kmcf.filter.inputs import ObservationReader, read_examples
from kmcf.filter.settings import check_angles
from kmcf.kernels import Kernel, Precomputed
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.growing import Growing
from kmcf.numerics.objects import Objects
from kmcf.numerics.threads import one_thread
from kmcf.support.estimators import clone
from kmcf.support.phases import Phases


def learn(
    states: Any,
    observations: Any,
    settings: LearningSettings,
    known: Kernel | None = None,
    shared: Kernel | None = None,
) -> Learnt:
    """Learn the observation model from n examples.

    Parameters
    ----------
    states, observations : arrays or lists
        The examples.
    settings : LearningSettings
        Everything else.
    known : Kernel, optional
        An observation kernel that was fitted to the same examples with the same settings; of a learnt one the summary
        is used, which the kernel on it may differ from.
    shared : Kernel, optional
        A kernel on states that was fitted already, to more states than these.
    """
    state_kernel = given_kernel(settings.state_kernel, "state_kernel")
    observation_kernel = given_kernel(settings.observation_kernel, "observation_kernel")
    if isinstance(state_kernel, Precomputed):
        raise TypeError(
            "state_kernel='precomputed' cannot work: the filter compares new states with the examples at every step. "
            "Pass a kernel, or a callable (A, B) -> matrix."
        )
    accepts = accepted(observation_kernel)
    read_states, read_observations = read_examples(
        states, observations, state_kernel=state_kernel, observation_kernel=accepts.with_gaps(settings.floor)
    )
    check_angles(settings.angles, read_states)
    read_states = wrapped_columns(read_states, settings.angles)
    reader = ObservationReader.of(observations, read_observations, accepts)
    read = read_with_gaps((read_states, read_observations), accepts, settings.floor, settings.angles)
    state_kernel = settings.fitted_state_kernel(read.states) if shared is None else shared
    incomplete, complete = separated(read.states, read.observations, accepts)
    if incomplete is not None:
        few_examples(incomplete.served, "the observations have")
        settings = replace(settings, observation_kernel=on_columns(observation_kernel, incomplete.served.columns))
    n = len(read.states)
    with one_thread(n):
        learnt = learn_from(*complete, replace(reader, filling=read.filling), settings, state_kernel, known)
    return replace(learnt, learnt_from=n, refreshed_at=n, incomplete=incomplete, numbers=read.numbers)


def learn_from(
    read_states: Objects,
    read_observations: Objects,
    reader: ObservationReader,
    settings: LearningSettings,
    state_kernel: Kernel,
    known: Kernel | None = None,
) -> Learnt:
    """Learn from examples that were read and lack no number, given a fitted kernel on states."""
    observation_kernel = given_kernel(settings.observation_kernel, "observation_kernel")
    choice, phases = None, Phases()
    with phases("choice of the observation kernel"):
        if observation_kernel is None:
            choice = choose_observation_kernel(read_states, read_observations, settings.angles)
            observation_kernel = choice.kernel
    unfitted = with_angles(clone(observation_kernel), settings.angles)
    plain = choice is not None and choice.name == "plain"
    with phases("pairs made up"):
        known_pairs = read_states, read_observations
        further = pairs_beside(*known_pairs, unfitted, settings.angles, settings.augment, plain=plain)
    with phases("observation kernel"), blaming_pairs(further):
        if further is None:
            observation_kernel = fitted_on(unfitted, read_observations, read_states, known)
        else:
            observation_kernel = fitted_kernel(unfitted, Pairs(*known_pairs), further)
        examples = examples_for(state_kernel, observation_kernel, *known_pairs, further)
    # With pairs made up there is less to regularise: δ is then that of the plain kernel.
    small = plain or further is not None
    epsilon, delta = _regularisers(examples, settings, plain=small, counts=are_counts(read_observations))
    with phases("rule"):
        chosen, fitted = fit_rule_for(examples, epsilon, delta, settings)
    return Learnt(
        all_states=Growing(read_states),
        all_observations=Growing(read_observations),
        reader=reader,
        state_kernel=state_kernel,
        observation_kernel=observation_kernel,
        kernel_choice=choice,
        epsilon=epsilon,
        delta=delta,
        chosen=chosen,
        fitted=fitted,
        learnt_from=len(read_states),
        refreshed_at=len(read_states),
        seconds=phases.seconds,
        further=further,
    )


def _regularisers(examples: Examples, settings: LearningSettings, *, plain: bool, counts: bool) -> tuple[float, float]:
    epsilon, delta = settings.epsilon, settings.delta
    if epsilon is None:
        epsilon = default_epsilon(float(examples.state_kernel.diagonal().mean()), counts=counts)
    if delta is None:
        delta = settings.default_delta(plain, float(examples.observation_kernel.diagonal().mean()))
    return float(epsilon), float(delta)
