"""Plain or learnt: the default observation kernel, chosen from the examples.

For a single number there is nothing to learn. For vectors both kernels, and for counts (non-negative whole numbers,
most of them small) the one made for them, are tried on two halves of the examples: fitted on one half, Bayes' rule with
the examples' own distribution as prior is applied to observations of the other half, and the posterior embeddings are
scored by their RKHS distance to the true states' features (a proper score). The lower mean score wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kmcf.bayes_rule import Examples
from kmcf.filter.fitting.left_out_scores import posterior_scores
from kmcf.kernels import Counts, Kernel, Learned
from kmcf.kernels.defaults import default_observation_kernel, default_state_kernel
from kmcf.kernels.learned.counts import look_like_counts
from kmcf.numerics.arrays import IntArray
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric, take
from kmcf.numerics.threads import one_thread
from kmcf.support.estimators import clone

FEWEST_EXAMPLES = 40
MOST_EXAMPLES = 800
PROBES = 150


class KernelChoice(NamedTuple):
    """What was chosen, and why."""

    kernel: Kernel
    """Not fitted yet."""
    name: str
    """"plain", "learnt" or "counts"."""
    scores: dict[str, float]
    """Mean score of each candidate (lower is better); empty if there was nothing to decide."""


def choose_observation_kernel(states: Objects, observations: Objects, angles: Sequence[int] = ()) -> KernelChoice:
    """Choose between the plain kernel, the learnt one and, for counts, the one made for them.

    Parameters
    ----------
    states, observations : arrays
        The examples.
    angles : sequence of int
        State columns that are angles.
    """
    plain = candidate("plain", observations, angles)
    if _varying_columns(observations) < 2 or not is_numeric(states) or len(states) < FEWEST_EXAMPLES:
        return KernelChoice(plain, "plain", {})
    names = ("learnt", "counts") if are_counts(observations) else ("learnt",)
    candidates = {"plain": plain} | {name: candidate(name, observations, angles) for name in names}
    chosen = evenly_spaced(len(states), MOST_EXAMPLES)
    first, second = np.array_split(chosen, 2)
    on_states = default_state_kernel(states, angles).fit(states)
    scores = {}
    with one_thread():  # many small solves
        for name, kernel in candidates.items():
            halves = [
                _score(kernel, states, observations, train, held_out, on_states, plain=name == "plain")
                for train, held_out in ((first, second), (second, first))
            ]
            scores[name] = float(np.mean(halves))
    best = min(scores, key=lambda name: scores[name])
    return KernelChoice(candidates[best], best, scores)


def candidate(name: str, observations: Objects, angles: Sequence[int]) -> Kernel:
    """Return one of the kernels that compete, not fitted: "plain", "learnt" or "counts".

    Examples
    --------
    >>> candidate("counts", np.array([[0, 3], [1, 0]]), ())
    Counts(angles=())
    """
    circles = tuple(int(j) for j in angles)
    if name == "learnt":
        return Learned(angles=circles)
    return Counts(angles=circles) if name == "counts" else default_observation_kernel(observations)


def are_counts(observations: Objects) -> bool:
    """Return whether observations are vectors of counts: whole numbers, most of them small, that vary in two columns.

    Examples
    --------
    >>> are_counts(np.array([[0, 3], [1, 0]])), are_counts(np.array([[0], [3]])), are_counts(["a", "b"])
    (True, False, False)
    """
    return is_numeric(observations) and look_like_counts(observations) and _varying_columns(observations) >= 2


def _varying_columns(observations: Objects) -> int:
    return int(np.sum(np.ptp(np.reshape(observations, (len(observations), -1)), axis=0) > 0))


def _score(
    kernel: Kernel,
    states: Objects,
    observations: Objects,
    train: IntArray,
    held_out: IntArray,
    fitted: Kernel,
    *,
    plain: bool,
) -> float:
    """Return the mean score of one kernel, trained on some examples, on others, given the kernel on states."""
    known_states, known_observations = take(states, train), take(observations, train)
    state_kernel = fitted.on_examples(known_states)
    observation_kernel = clone(kernel).fit(known_observations, known_states).on_examples(known_observations)
    probes = held_out[evenly_spaced(len(held_out), PROBES)]
    examples = Examples(known_states, state_kernel, observation_kernel)
    return float(np.mean(posterior_scores(examples, states[probes], observations[probes], plain=plain)))
