"""How to use a few new pairs of a changed sensor beside many old examples.

First the old observations are corrected, if columns have changed (:mod:`kmcf.adaptation.column_changes`). Then ways to
use the new pairs compete with that: among the old ones, with their weight, or alone. Each is judged on new pairs that
are left out in turn, by the kernel score of their observations given their states, with the filter's own kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.adaptation.affine import Affine
from kmcf.adaptation.column_changes import SURE, ColumnChange, changed_columns, folds
from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.adaptation.unlabelled import Judged
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.linalg import cholesky
from kmcf.numerics.objects import evenly_spaced

MOST_OLD = 800
"""So many of the old examples are judged with, at most."""
FEWEST_ALONE = 100
"""Fewer new pairs than this cannot do without the old ones, nor weigh as much: they are of a few places only."""

LEAST = 0.1
"""So much, on average, a new pair must make others more like what is predicted, where equal observations have one."""


class Pairs(NamedTuple):
    """States and what was observed there."""

    states: FloatArray
    observations: FloatArray

    def take(self, places: IntArray) -> Pairs:
        """Return some of them."""
        return Pairs(self.states[places], self.observations[places])

    def joined(self, other: Pairs, times: int = 1) -> Pairs:
        """Return these and others, repeated."""
        return Pairs(
            np.concatenate([self.states, *[other.states] * times]),
            np.concatenate([self.observations, *[other.observations] * times]),
        )


class Model(NamedTuple):
    """The filter's kernels and ε, and the moments of its observations."""

    state_kernel: Any
    observation_kernel: Any
    epsilon: float
    moments: ObservationMoments


Way = Callable[[Pairs, Pairs, Model], Pairs]
"""Makes examples from old and new ones."""


class Choice(NamedTuple):
    """The best way to use new pairs."""

    way: str
    adapted: bool
    """Whether it gains beyond chance."""
    gain: float
    gain_error: float
    judged: list[Judged]
    examples: Pairs
    """The old examples and the new pairs, used in this way."""
    change: Affine | None
    """How columns changed; None where the change is not affine."""


@dataclass(frozen=True)
class Corrected:
    """The old observations as the sensor would show them now, perhaps with the new pairs."""

    found: ColumnChange
    with_new: bool

    def __call__(self, old: Pairs, new: Pairs, model: Model) -> Pairs:
        """Correct the old examples."""
        change = self.found.estimated(new.states, new.observations, model.moments)
        corrected = Pairs(old.states, change.now(old.observations))
        return corrected.joined(new) if self.with_new else corrected


def _added(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return old.joined(new)


def _balanced(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return old.joined(new, max(1, round(len(old.states) / len(new.states))))


def _alone(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return new


MANY: dict[str, Way] = {"new pairs with the weight of the old": _balanced, "new pairs alone": _alone}
"""Ways that compete where there are many new pairs."""


def best_way(old: Pairs, new: Pairs, model: Model) -> Choice:
    """Return the way to use new pairs that predicts left-out ones best, if it does so beyond chance.

    First columns that have changed are looked for. Then ways to use the new pairs themselves must predict the others
    better than the old examples do with that change.
    """
    found = changed_columns(new.states, new.observations, model.moments)
    base = Corrected(found, with_new=False)
    ways: dict[str, Way] = {"new pairs among the old": _added}
    if found.name != "unchanged":
        ways[f"{found.name}, with the new pairs"] = Corrected(found, with_new=True)
    ways |= MANY if len(new.states) >= FEWEST_ALONE else {}
    judged = judge(old, new, model, base, ways)
    best = max(judged, key=lambda one: one.gain)
    everything = [*found.judged, *judged]
    if best.gain > max(LEAST * _similarity(new, model), SURE * best.gain_error):
        change = found.estimated(new.states, new.observations, model.moments) if best.name.startswith("shift") else None
        return Choice(best.name, True, best.gain, best.gain_error, everything, ways[best.name](old, new, model), change)
    if found.name == "unchanged":
        likely = max(everything, key=lambda one: one.gain / max(one.gain_error, 1e-300))
        return Choice(likely.name, False, likely.gain, likely.gain_error, everything, old, None)
    change = found.estimated(new.states, new.observations, model.moments)
    return Choice(found.name, True, *found.gain, everything, base(old, new, model), change)


def _similarity(pairs: Pairs, model: Model) -> float:
    """Return how similar observations are to themselves, in all."""
    return float(model.observation_kernel.on_examples(pairs.observations).diagonal().sum())


def judge(old: Pairs, new: Pairs, model: Model, base: Way, ways: Mapping[str, Way]) -> list[Judged]:
    """Return by how much each way predicts pairs left out better than the first one does, by kernel scores."""
    count = len(new.states)
    some = evenly_spaced(len(old.states), MOST_OLD)
    judged_old = old.take(some)
    gains = {name: np.empty(count) for name in ways}
    for left_out in folds(count):
        kept, pairs = new.take(np.setdiff1d(np.arange(count), left_out)), new.take(left_out)
        usual = kernel_scores(base(judged_old, kept, model), pairs, model)
        for name, way in ways.items():
            gains[name][left_out] = kernel_scores(way(judged_old, kept, model), pairs, model) - usual
    return [Judged(name, float(one.sum()), float(np.sqrt(count) * one.std(ddof=1))) for name, one in gains.items()]


def kernel_scores(examples: Pairs, pairs: Pairs, model: Model) -> FloatArray:
    """Return 2 Σ λ_i k_Y(y, Y_i) − Σ λ_i λ_j k_Y(Y_i, Y_j) of each pair (x, y), with λ the weights of x on examples."""
    on_states = model.state_kernel.on_examples(examples.states)
    on_observations = model.observation_kernel.on_examples(examples.observations)
    gram = on_states.matrix()
    factor = cholesky(gram, shift=len(gram) * model.epsilon, name="G_X + n epsilon I", remedy="epsilon")
    weights = np.asarray(factor.solve(on_states.against(pairs.states)))
    similar = on_observations.against(pairs.observations)
    expected = np.einsum("ij,ij->j", weights, on_observations.matrix() @ weights)
    return np.asarray(2.0 * np.einsum("ij,ij->j", weights, similar) - expected)
