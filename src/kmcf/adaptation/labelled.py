"""How to use a few new pairs of a changed sensor beside many old examples.

Ways compete: nothing, an affine change of the old observations, the new pairs among the old ones with more or less
weight, or the new pairs alone. Each is judged on new pairs that are left out in turn, by the kernel score of their
observations given their states, with the filter's own kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.adaptation.affine import Affine, fitted_change
from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.adaptation.unlabelled import Judged
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.linalg import cholesky

FOLDS = 5
MOST_OLD = 800
"""So many of the old examples are judged with, at most."""
FEWEST_ALONE = 100
"""Fewer new pairs than this cannot do without the old ones."""


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


def change_from(new: Pairs, model: Model, *, scaled: bool) -> Affine:
    """Return the change of the sensor that new pairs show."""
    return fitted_change(new.observations, *model.moments.at(new.states), scaled=scaled)[0]


def _unchanged(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return old


def _added(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return old.joined(new)


def _balanced(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return old.joined(new, max(1, round(len(old.states) / len(new.states))))


def _alone(old: Pairs, new: Pairs, model: Model) -> Pairs:
    return new


@dataclass(frozen=True)
class Corrected:
    """The old observations as the sensor would show them now, perhaps with the new pairs."""

    scaled: bool
    with_new: bool

    def __call__(self, old: Pairs, new: Pairs, model: Model) -> Pairs:
        """Correct the old examples."""
        corrected = Pairs(old.states, change_from(new, model, scaled=self.scaled).now(old.observations))
        return corrected.joined(new) if self.with_new else corrected


WAYS: dict[str, Way] = {
    "unchanged": _unchanged,
    "shift": Corrected(scaled=False, with_new=False),
    "shift and scale": Corrected(scaled=True, with_new=False),
    "shift, with the new pairs": Corrected(scaled=False, with_new=True),
    "shift and scale, with the new pairs": Corrected(scaled=True, with_new=True),
    "new pairs among the old": _added,
    "new pairs with the weight of the old": _balanced,
    "new pairs alone": _alone,
}
"""The ways that compete."""


def best_way(old: Pairs, new: Pairs, model: Model) -> tuple[str, list[Judged]]:
    """Return the way that predicts left-out new pairs best, and what each gained over no change."""
    count = len(new.states)
    some = np.unique(np.linspace(0, len(old.states) - 1, min(len(old.states), MOST_OLD)).astype(np.intp))
    judged_old = old.take(some)
    folds = np.array_split(np.arange(count), min(FOLDS, count))
    ways = {name: way for name, way in WAYS.items() if way is not _alone or count >= FEWEST_ALONE}
    scores = {name: np.empty(count) for name in ways}
    for left_out in folds:
        kept = new.take(np.setdiff1d(np.arange(count), left_out))
        for name, way in ways.items():
            scores[name][left_out] = kernel_scores(way(judged_old, kept, model), new.take(left_out), model)
    judged = []
    for name in ways:
        gains = scores[name] - scores["unchanged"]
        judged.append(Judged(name, float(gains.sum()), float(np.sqrt(count) * gains.std(ddof=1))))
    return max(judged, key=lambda one: one.gain).name, judged


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
