"""The backward pass of smoothing as a scan over time, for a batch of sequences.

:mod:`kmcf.bayes_rule.backward` has the rule, :mod:`kmcf.filter.backward.smoother` the same pass on the host. Herded
beliefs carry equal weights on the states that were picked, so a step works on these alone; where moves need no control,
they are simulated once for all steps. Beliefs on the particles (missing observations, or a posterior that lives there)
are moved at their own step; the host leaves out those that together have less than a thousandth of the weight.
"""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its functions without types.

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kmcf.bayes_rule.backward_core import (
    covered,
    features_of,
    ratio_coefficients,
    ratios_at,
    reweighted,
    second_moment,
    seen,
    stands_for,
)
from kmcf.compiled.on_examples import particle_moments
from kmcf.compiled.records import StepSettings
from kmcf.compiled.step import move
from kmcf.filter.backward.smoother import BACKWARD
from kmcf.filter.clock import Drive
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import Array


@dataclass(frozen=True, eq=False)
class BackwardSettings:
    """What the pass needs to know besides numbers; it is fixed when it is compiled."""

    pivots: ExampleKernel
    """The pivots of the features of states."""
    copies: int
    """How many moves are simulated from each state."""
    step: StepSettings
    tabled: bool
    """Whether moves from all states that herding chooses from were simulated before."""
    moving: bool
    """Whether some beliefs live on the particles."""
    remembered: bool
    """Whether moves of corrected particles use the same random numbers at every step, as on the host."""


class BackwardModel(NamedTuple):
    """The numbers of the features of states, and of moves simulated before."""

    lower: Array
    """Cholesky factor of the pivots' kernel matrix, (p, p)."""
    scale: Any
    delta: Any
    candidates: Array | None
    """The states that herding chooses from, (N, ...)."""
    rows: Array | None
    """Their features, and which share of them these see, (N, p + 1)."""
    successors: Array | None
    """Mean features of moves from them, for each time that passed, (E, N, p)."""


class BackwardInputs(NamedTuple):
    """What the filter left behind, (B, T, ...)."""

    predicted: Array
    shares: Array | None
    """Weights of the predicted particles; None: equal."""
    weights: Array | None
    """Posterior weights on the particles."""
    filtered: Array | None
    """Mean features of the filter's beliefs on the examples, and which share of them these see, (B, T, p + 1)."""
    picks: Array
    corrected: Array
    on_examples: Array
    """Whether the belief lives on the examples."""
    active: Array
    """Whether a later step of the sequence follows."""
    last: Array
    """Whether it is the last one."""
    drive: Drive
    """What drove the move to the step after."""
    table: Array
    """Which of the tables of moves to use."""
    time: Array
    stream: Array


class Knowledge(NamedTuple):
    """What a step back is told about the step after."""

    mean: Array
    """Smoothed mean features, (p,)."""
    C: Array
    """Second moment of the features of the predicted particles, (p, p)."""
    later: Array
    """Which share of the belief the features see."""
    predicted: Array
    """Which share of the prediction they see."""


class Smoothed(NamedTuple):
    """The smoothed belief of one step."""

    on_examples: Array | None
    """Weights of the picked states, (ℓ,)."""
    on_particles: Array | None
    """Weights of the predicted particles, (m,)."""
    mean: Array
    covariance: Array | None
    ess: Array
    mode: Array
    kept: Array
    """Whether the filter's belief should be kept instead."""


def backward_pass(
    model: BackwardModel, known: Knowledge, inputs: BackwardInputs, settings: BackwardSettings
) -> tuple[Knowledge, Smoothed]:
    """Go back over the steps of B sequences.

    Parameters
    ----------
    model : BackwardModel
        The numbers.
    known : Knowledge
        About the step after the last of these, (B, ...).
    inputs : BackwardInputs
        The steps.
    settings : BackwardSettings
        Everything else.
    """

    def step(known: Knowledge, x: BackwardInputs) -> tuple[Knowledge, Smoothed]:
        with jax.default_matmul_precision("highest"):
            features = jax.vmap(lambda states: _features(model, states, settings))(x.predicted)
            moved = _moved_particles(model, x, features, settings) if settings.moving else None
            back = jax.vmap(partial(_step_back, model, settings), in_axes=(0, 0, 0, None if moved is None else 0))
            return back(known, x, features, moved)

    by_time = jax.tree.map(lambda array: jnp.moveaxis(array, 1, 0), inputs)
    after, found = lax.scan(step, known, by_time, reverse=True)
    return after, jax.tree.map(lambda array: jnp.moveaxis(array, 0, 1), found)


def _step_back(
    model: BackwardModel,
    settings: BackwardSettings,
    known: Knowledge,
    x: BackwardInputs,
    features: Array,
    moved: Array | None,
) -> tuple[Knowledge, Smoothed]:
    """Go back one step of one sequence."""
    algebra, size = settings.step.algebra, x.predicted.shape[0]
    z = ratio_coefficients(known.C, known.mean, model.delta, algebra)
    trusted = covered(known.predicted, known.later)
    equal = jnp.full(size, 1.0 / size, features.dtype)
    own = settings.pivots.kernel.evaluate_diagonal(settings.pivots.kernel.prepare(x.predicted))
    rows = jnp.concatenate([features, seen(features, own, model.scale)[:, None]], axis=1)
    there: tuple[Array, Smoothed] | None = None
    if moved is not None:
        before = equal if x.weights is None else x.weights
        weights = jnp.where(trusted, _reweighted(before, ratios_at(moved, z), x), before)
        there = weights @ rows, _summary(None, weights, x.predicted, weights, ~trusted, settings)
    if model.rows is not None:
        mean, found = _on_examples(model, z, trusted, x, settings)
        if there is not None:
            both = (mean, *found[2:]), (there[0], *there[1][2:])
            mean, *chosen = jax.tree.map(lambda *both: jnp.where(x.on_examples, *both), *both)
            found = Smoothed(found.on_examples, there[1].on_particles, *chosen)
    else:
        assert there is not None
        mean, found = there
    shares = (equal if x.shares is None else x.shares).clip(0.0)
    C = second_moment(features, shares, algebra)
    return Knowledge(mean[:-1], C, mean[-1], shares @ rows[:, -1] / shares.sum()), found


def _on_examples(
    model: BackwardModel, z: Array, trusted: Array, x: BackwardInputs, settings: BackwardSettings
) -> tuple[Array, Smoothed]:
    """Weigh the states that were picked from the examples; the mean is the filter's where its belief is kept."""
    assert model.rows is not None
    assert model.candidates is not None
    assert x.filtered is not None
    picks, count = x.picks, x.picks.shape[0]
    states = model.candidates[picks]
    if settings.tabled:
        assert model.successors is not None
        successors = model.successors[x.table, picks]
    else:
        successors = moves_from(model, states, x.drive, _own_key(x, settings), settings)
    equal, rows = jnp.full(count, 1.0 / count, z.dtype), model.rows[picks]
    weights = _reweighted(equal, ratios_at(successors, z), x)
    merged = (picks[:, None] == picks[None, :]).astype(z.dtype) @ weights  # a state may have been picked twice
    kept = ~(trusted & stands_for(rows[:, :-1], equal, x.filtered[:-1]))
    mean = jnp.where(kept | x.last, x.filtered, weights @ rows)
    return mean, _summary(weights, None, states, merged, kept, settings)


def _summary(
    on_examples: Array | None,
    on_particles: Array | None,
    states: Array,
    merged: Array,
    kept: Array,
    settings: BackwardSettings,
) -> Smoothed:
    """Sum up weighted states; ``merged`` are the weights, those of equal states added up."""
    weights = on_particles if on_examples is None else on_examples
    assert weights is not None
    mean, covariance = particle_moments(states, settings.step, weights)
    mode = states.reshape(states.shape[0], -1)[jnp.argmax(merged)]
    return Smoothed(on_examples, on_particles, mean, covariance, 1.0 / (weights @ merged), mode, kept)


def _moved_particles(model: BackwardModel, x: BackwardInputs, features: Array, settings: BackwardSettings) -> Array:
    """Return mean features of moves from the predicted particles, (B, m, p), where any belief lives on them."""

    def simulated() -> Array:
        def one(x: BackwardInputs) -> Array:
            own = _own_key(x, settings)
            shared = jax.random.fold_in(jax.random.key(settings.step.seed), np.uint32(BACKWARD))
            key = jnp.where(x.corrected, shared, own) if settings.remembered else own
            return moves_from(model, x.predicted, x.drive, key, settings)

        return jax.vmap(one)(x)

    if model.rows is None:
        return simulated()
    return lax.cond(jnp.any(~x.on_examples & x.active), simulated, lambda: jnp.zeros_like(features))


def moves_from(model: BackwardModel, states: Array, drive: Drive, key: Array, settings: BackwardSettings) -> Array:
    """Return the mean features of moves simulated from each of some states, (K, p)."""
    copies, size = settings.copies, states.shape[0]
    moved = move(jnp.repeat(states, copies, axis=0), drive, key, settings.step)
    each = jnp.moveaxis(moved.reshape(size, copies, *states.shape[1:]), 1, 0)
    start = jnp.zeros((settings.pivots.size, size), settings.step.dtype)
    add = lambda total, some: (total + _similarities(some, settings), None)  # noqa: E731
    total, _ = lax.scan(add, start, each)  # one copy after the other, which keeps the memory small
    return features_of(total / copies, model.lower, model.scale, settings.step.algebra)


def _features(model: BackwardModel, states: Array, settings: BackwardSettings) -> Array:
    return features_of(_similarities(states, settings), model.lower, model.scale, settings.step.algebra)


def _similarities(states: Array, settings: BackwardSettings) -> Array:
    return settings.pivots.against(states).astype(settings.step.dtype)


def _reweighted(weights: Array, ratios: Array, x: BackwardInputs) -> Array:
    found = jnp.where(jnp.isfinite(ratios.sum()), reweighted(weights, ratios), jnp.nan)  # or nobody would notice
    return jnp.where(x.active, found, weights)


def _own_key(x: BackwardInputs, settings: BackwardSettings) -> Array:
    """Return the random key of the moves simulated from one belief."""
    key = jax.random.fold_in(jax.random.key(settings.step.seed), np.uint32(BACKWARD))
    return jax.random.fold_in(jax.random.fold_in(key, x.stream), x.time)
