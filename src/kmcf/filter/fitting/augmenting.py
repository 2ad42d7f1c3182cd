"""Pairs made up from the examples: what would be seen at their states on another day, and a little beyond them.

A simple model is learnt from the examples: observations follow a trend over the states, and what is left, the noise,
is alike everywhere but for its size, which follows a trend of its own. The noise of one example, carried to another
state, gives a pair that nobody recorded. Where the model is right, the pairs lower the noise of Bayes' rule with few
examples, and let the posterior follow a state beyond them. Whether it is, left-out examples say, also the outermost
ones. The paper has nothing of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from kmcf.bayes_rule import Examples
from kmcf.filter.fitting.kernel_choice import are_counts
from kmcf.filter.fitting.left_out_scores import posterior_scores
from kmcf.kernels import Kernel, Learned, Precomputed
from kmcf.kernels.defaults import default_state_kernel
from kmcf.numerics.arrays import FloatArray, all_finite, positive_or_one
from kmcf.numerics.noisy_trends import NoisyTrend
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric
from kmcf.numerics.threads import one_thread
from kmcf.support.estimators import clone
from kmcf.trust.hull import Hull

FEWEST, MOST = 40, 500
"""Numbers of examples with which it is tried; with more there is little to gain."""
MOST_COLUMNS = 64
"""It is tried with observations of up to so many numbers: for each fold, a learnt kernel is learnt twice."""
INSIDE, BEYOND = 2.0, 0.9
"""Pairs made up per example: at the states of the examples, and beyond them."""
MOST_MADE_UP = 600
FAR = 0.6
"""States beyond lie up to this much further from the centre than some example."""
PROBES = 100
OUTERMOST = 0.1
"""This share of the examples, those furthest from their centre, is left out to see what is predicted beyond."""
SIGNIFICANT = 2.5
"""Made-up pairs are used if posteriors gain by so many standard errors."""


class Pairs(NamedTuple):
    """States, and observations made there or made up."""

    states: FloatArray
    observations: FloatArray

    def beside(self, other: Pairs) -> Pairs:
        """Return these and others, read-only, as examples are: beliefs show them."""
        joined = Pairs(*(np.concatenate(both) for both in zip(self, other, strict=True)))
        for part in joined:
            part.flags.writeable = False
        return joined


def pairs_beside(
    states: Objects,
    observations: Objects,
    kernel: Kernel,
    angles: Sequence[int],
    wanted: bool | None,
    *,
    plain: bool,
) -> Pairs | None:
    """Make up pairs if that is wanted, or if it is left to left-out examples and these favour it; None if not.

    Parameters
    ----------
    states, observations : arrays
        The examples.
    kernel : Kernel
        The observation kernel, not fitted.
    angles : sequence of int
        State columns that are angles.
    wanted : bool, optional
        None: if posteriors of left-out examples become better by them.
    plain : bool
        Whether the kernel is the plain default one.
    """
    if wanted is False:
        return None
    why = obstacle(states, observations, angles)
    if isinstance(kernel, Precomputed):
        why = "the kernel matrix is all that is known of the observations"
    if wanted:
        if why:
            raise ValueError(f"augment=True, but no pairs can be made up from these examples: {why}.")
        return made_up(states, observations)
    if why or not FEWEST <= len(states) <= MOST:
        return None
    examples = _flat(states, observations)
    if examples.observations.shape[1] > MOST_COLUMNS:
        return None
    return made_up(states, observations) if gained(examples, kernel, plain=plain) > SIGNIFICANT else None


def obstacle(states: Objects, observations: Objects, angles: Sequence[int]) -> str:
    """Say why no pairs can be made up; nothing where they can.

    Examples
    --------
    >>> obstacle(["a"], np.zeros((1, 2)), ())
    'states and observations must be vectors of numbers'
    """
    vectors = is_numeric(states) and is_numeric(observations) and max(np.ndim(states), np.ndim(observations)) <= 2
    if not vectors:
        return "states and observations must be vectors of numbers"
    if not all_finite(observations):
        return "some numbers of the observations are NaN or infinite"
    if len(angles):
        return "some columns of the state are angles"
    return "observations are counts" if are_counts(observations) else ""


def made_up(states: Objects, observations: Objects) -> Pairs:
    """Make up pairs at the states of the examples and beyond them, the same ones each time.

    Parameters
    ----------
    states, observations : arrays
        The examples.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 1))
    >>> further = made_up(x, 3.0 * x)
    >>> len(further.states), bool(np.allclose(further.observations, 3.0 * further.states))
    (145, True)
    >>> bool(further.states.max() > x.max())
    True
    """
    examples = _flat(states, observations)
    # Squares of squares must not overflow, in whatever unit; with a power of two nothing is rounded.
    exponent = int(np.frexp(np.abs(examples.observations).max())[1])
    examples = examples._replace(observations=np.ldexp(examples.observations, -exponent))
    rng, n = np.random.default_rng(0), len(examples.states)
    share = min(1.0, MOST_MADE_UP / ((INSIDE + BEYOND) * n))
    inside = np.resize(rng.permutation(n), round(share * INSIDE * n))
    places = np.concatenate([examples.states[inside], _beyond(examples.states, round(share * BEYOND * n), rng)])
    sources = rng.integers(n, size=len(places))
    noisy = NoisyTrend.fit(examples.states, examples.observations)
    seen = noisy.carried(examples.states[sources], examples.observations[sources], places)
    pairs = Pairs(places, np.ldexp(_within(seen, examples.observations), exponent))
    return Pairs(
        *(np.reshape(made, (-1, *np.shape(own)[1:])) for made, own in zip(pairs, (states, observations), strict=True))
    )


def gained(examples: Pairs, kernel: Kernel, *, plain: bool) -> float:
    """Return by how much made-up pairs better the posteriors of left-out examples, in standard errors.

    The two halves of the examples and the outermost ones are left out in turn. Posteriors, with the distribution of all
    example states as prior, are scored as those by which the observation kernel is chosen.
    """
    n, gains = len(examples.states), []
    first, second = np.array_split(np.arange(n), 2)
    centred = examples.states - examples.states.mean(axis=0)
    apart = np.sum((centred / positive_or_one(centred.std(axis=0))) ** 2, axis=1)
    inner, outer = np.split(np.argsort(apart, kind="stable"), [n - max(2, round(OUTERMOST * n))])
    with one_thread():  # many small solves
        for train, held_out in ((first, second), (second, first), (np.sort(inner), np.sort(outer))):
            known = Pairs(*(part[train] for part in examples))
            probes = Pairs(*(part[held_out[evenly_spaced(len(held_out), PROBES)]] for part in examples))
            without = _scores(known, None, probes, examples.states, kernel, plain=plain)
            gains.append(without - _scores(known, made_up(*known), probes, examples.states, kernel, plain=plain))
    every = np.concatenate(gains)
    return float(np.sqrt(len(every)) * every.mean() / max(float(every.std()), np.finfo(float).tiny))


@contextmanager
def blaming_pairs(further: Pairs | None) -> Iterator[None]:
    """Where a kernel refuses what it is given, say that the examples may not be to blame, but pairs made up."""
    try:
        yield
    except ValueError as problem:
        if further is None:
            raise
        raise ValueError(f"augment=True, but the observation kernel refuses pairs made up: {problem}") from problem


def fitted_kernel(kernel: Kernel, known: Pairs, further: Pairs) -> Kernel:
    """Fit an observation kernel; a learnt one learns from the pairs made up, too, or it would know nothing beyond."""
    seen = known.beside(further) if isinstance(kernel, Learned) else known
    return clone(kernel).fit(seen.observations, seen.states)


def _scores(
    known: Pairs, further: Pairs | None, probes: Pairs, everywhere: FloatArray, kernel: Kernel, *, plain: bool
) -> FloatArray:
    """Score the posteriors of some examples, given others and perhaps pairs made up from these."""
    pairs = known if further is None else known.beside(further)
    state_kernel = default_state_kernel(everywhere).fit(everywhere).on_examples(pairs.states)
    fitted = clone(kernel).fit(*reversed(known)) if further is None else fitted_kernel(kernel, known, further)
    examples = Examples(pairs.states, state_kernel, fitted.on_examples(pairs.observations))
    prior = state_kernel.against(everywhere).mean(axis=1)
    return posterior_scores(examples, probes.states, probes.observations, prior, plain=plain)


def _beyond(states: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Return states outside the examples: some of these, further from their centre."""
    hull, centre = Hull.of(states), states.mean(axis=0)
    assert hull is not None
    starts = states[rng.integers(len(states), size=30 * count)] - centre
    moved = centre + starts * (1.0 + FAR * rng.random((len(starts), 1)))
    return moved[hull.outside(moved)][:count]


def _within(made_up: FloatArray, seen: FloatArray) -> FloatArray:
    """Keep observations from exceeding a limit: a largest or smallest value that several examples share."""
    low, high = seen.min(axis=0), seen.max(axis=0)
    low = np.where(np.sum(seen == low, axis=0) > 1, low, -np.inf)
    high = np.where(np.sum(seen == high, axis=0) > 1, high, np.inf)
    return np.clip(made_up, low, high)


def _flat(states: Objects, observations: Objects) -> Pairs:
    return Pairs(*(np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in (states, observations)))
