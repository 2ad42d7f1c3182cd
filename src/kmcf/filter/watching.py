"""How a filter is watched: what its alarms compare a step with, and how they are calibrated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kmcf.bayes_rule import BayesRule, Examples
from kmcf.filter.fitting.augmenting import made_up
from kmcf.filter.fitting.learnt import LearningSettings, Learnt, examples_for
from kmcf.kernels import Kernel, Precomputed
from kmcf.numerics.arrays import IntArray
from kmcf.numerics.objects import Objects, take
from kmcf.trust.alarm import Calibration, Watch
from kmcf.trust.rehearsal import Mover, Rehearsal, left_out_distances
from kmcf.trust.thresholds import Thresholds

RuleOf = Callable[[Examples, int], BayesRule]


def watch_over(
    learnt: Learnt,
    settings: LearningSettings,
    rule_of: RuleOf,
    move: Mover,
    *,
    n_particles: int,
    seed: int,
    known: Thresholds | None,
) -> Watch:
    """Return the watch over a filter that applies a Bayes' rule.

    Parameters
    ----------
    learnt : Learnt
        What the filter learnt.
    settings : LearningSettings
        How.
    rule_of : callable
        Fits its rule to some examples, for a number of particles.
    move : callable
        Moves states once, without a control.
    n_particles, seed : int
        Of the filter.
    known : Thresholds, optional
        Thresholds from a file, from sequences, or from before further examples came.
    """
    states = learnt.example_states
    rehearsal = Rehearsal(
        states=states,
        observations=learnt.all_observations.objects,
        recorded=np.arange(len(states)) if learnt.chosen is None else np.asarray(learnt.chosen.indices),
        prepare=lambda indices: some_examples(learnt, indices),
        fit=lambda indices, size: rule_of(some_examples(learnt, indices, augmented=learnt.further is not None), size),
        move=move,
        n_particles=n_particles,
        angles=settings.angles,
        seed=seed,
        covered=learnt.fitted.rule.state_coverage,
    )
    complete = learnt.all_observations.objects if learnt.incomplete is None else None
    compared = compared_with(complete, learnt.observation_kernel)
    return Watch(learnt.examples[0], compared, settings.angles, rehearsal.columns, known)


def watch_observations(
    states: Objects,
    observations: Objects | None,
    kernel: Kernel | None,
    angles: Sequence[int],
    known: Thresholds | None,
) -> Watch:
    """Return a watch that knows only the distances of observations to the examples, and where the examples end."""
    compared = compared_with(observations, kernel)
    return Watch(states, compared, angles, distances_of(compared), known)


def compared_with(observations: Objects | None, kernel: Kernel | None) -> Objects | None:
    """Return the observations whose raw columns can be compared; None where only the kernel knows what they are."""
    return None if kernel is not None and (kernel.structured or isinstance(kernel, Precomputed)) else observations


def distances_of(observations: Any) -> Calibration:
    """Return a calibration by left-out distances alone."""
    places: IntArray = np.arange(0 if observations is None else len(observations))
    return lambda distances: left_out_distances(distances, places)


def some_examples(learnt: Learnt, indices: IntArray, *, augmented: bool = False) -> Examples:
    """Prepare some of the examples that the rule knows, and perhaps pairs made up from these, for both kernels."""
    places = indices if learnt.chosen is None else np.asarray(learnt.chosen.indices)[indices]
    states = take(learnt.all_states.objects, places)
    observations, kernel = learnt.all_observations.objects, learnt.observation_kernel
    if isinstance(kernel, Precomputed):
        on_states = learnt.state_kernel.on_examples(states)
        return Examples(states, on_states, kernel.on_examples(observations).subset(places))
    known = take(observations, places)
    return examples_for(learnt.state_kernel, kernel, states, known, made_up(states, known) if augmented else None)
