r"""Kernel Bayes' rule backwards in time: what the next state, known better later, says about this one.

With w the weights on the states x_i of a step, and x' the state of the next one, the smoothed weights are

    s_i ∝ w_i E[r(x') | x_i],     r(x') = smoothed(x') / predicted(x').

No density is needed: the expectation is taken over simulated moves from each x_i, and the ratio is estimated by Kernel
Bayes' Rule in the features φ of the kernel on states, from the predicted sample (P_j, γ_j) and the smoothed mean m of
the next step,

    r(x') = max(0, φ(x')·z),   z = (C² + δI)⁻¹ C m,   C = Σ_j γ_j φ(P_j) φ(P_j)ᵀ.

The ratio is not negative, while weights w may be, and stay so (a filter that herds has a sample without signs to offer
instead). Where there are few different states, the features say which one it is (:class:`DistinctStates`): C is then
diagonal, δ may be tiny, and this is the backward pass of a hidden Markov model.

Far from the examples the features vanish, and so would all ratios but those of states nearby; and at their edge the
sample without signs cannot reach as far as the weights do. There the step keeps the filter's belief.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from kmcf.bayes_rule.backward_core import covered, features_of, reweighted, second_moment, seen
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.host_algebra import HostAlgebra
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, positive_or_one
from kmcf.numerics.linalg import CholeskyFactor, cholesky
from kmcf.numerics.objects import Objects, is_numeric, take

TOLERANCE = 1e-3
"""Features whose share is smaller than this are lost in δ anyway."""
MOST_FEATURES = 150
DELTA = 3e-3
MOVES = 20
"""How many moves are simulated from each state."""
MOST_DISTINCT = 200
DISTINCT_MOVES, FEWEST_DISTINCT_MOVES = 20_000, 200
"""How many moves are simulated from all distinct states together, and from each at least."""
TINY_DELTA = 1e-12


class Later(NamedTuple):
    """What a step back is told about the step after."""

    mean: FloatArray
    """Smoothed mean features, (p,)."""
    seen: float
    """Which share of the belief the features see."""


class Features(Protocol):
    """What a backward step sees of states."""

    @property
    def delta(self) -> float:
        """δ."""

    @property
    def copies(self) -> int:
        """How many moves are simulated from each state."""

    @property
    def states(self) -> Objects | None:
        """All states that there are, if they are few: moves are then simulated from each of them once."""

    def of(self, states: Objects, copies: int = 1) -> FloatArray:
        """Return features (m, p); where copies of a state follow each other, the mean of their features."""
        ...

    def seen(self, rows: FloatArray, states: Objects) -> FloatArray:
        """Return which share of each state its features, one row each, see: one where pivots are near."""
        ...


@dataclass(frozen=True, eq=False)
class StateFeatures:
    """Features of states, from a kernel on the example states: φ(x)·φ(x') ≈ k(x, x') / max k."""

    fitted: KernelFeatures
    scale: float
    """Square root of the largest k(x, x)."""
    delta: float
    copies: int = MOVES
    states: None = None

    @classmethod
    def fit(cls, kernel: ExampleKernel) -> StateFeatures:
        """Choose the pivots among the examples."""
        fitted = KernelFeatures.fit(kernel, tolerance=TOLERANCE, most=min(MOST_FEATURES, kernel.size))
        return cls(fitted, float(np.sqrt(max(fitted.largest, np.finfo(float).tiny))), DELTA)

    def of(self, states: Objects, copies: int = 1) -> FloatArray:
        """Return features (m, p); where copies of a state follow each other, the mean of their features."""
        similarities = self.fitted.pivot_kernel.against(states)
        if copies > 1:
            similarities = similarities.reshape(len(similarities), -1, copies).mean(axis=2)
        return np.asarray(features_of(similarities, self.fitted.map.lower, self.scale, HostAlgebra))

    def seen(self, rows: FloatArray, states: Objects) -> FloatArray:
        """Return which share of each state its features, one row each, see: one where pivots are near."""
        return np.asarray(seen(rows, self.fitted.pivot_kernel.kernel.diagonal(states), self.scale))


@dataclass(frozen=True, eq=False)
class DistinctStates:
    """Features that say which of a few states it is: one at its place, zero elsewhere; all zero for any other state."""

    states: Objects
    """Each of them once."""
    places: Mapping[Any, int]
    delta: float = TINY_DELTA

    @property
    def copies(self) -> int:
        """How many moves are simulated from each state."""
        return max(FEWEST_DISTINCT_MOVES, DISTINCT_MOVES // len(self.places))

    @classmethod
    def among(cls, states: Objects) -> DistinctStates | None:
        """Return the features if there are few different states, each of which occurs twice on average.

        Examples
        --------
        >>> DistinctStates.among(["left", "right", "left", "left"]).of(["right", "ahead"])
        array([[0., 1.],
               [0., 0.]])
        >>> DistinctStates.among(np.arange(4.0)[:, None]) is None
        True
        """
        places: dict[Any, int] = {}
        first: list[int] = []
        for number, key in enumerate(_keys(states) or ()):
            if key not in places:
                places[key] = len(places)
                first.append(number)
            if len(places) > min(MOST_DISTINCT, len(states) // 2):
                return None
        return cls(take(states, np.array(first)), places) if places else None

    def of(self, states: Objects, copies: int = 1) -> FloatArray:
        """Return features (m, p); where copies of a state follow each other, the mean of their features."""
        rows = np.zeros((len(states), len(self.places) + 1))
        rows[np.arange(len(states)), [self.places.get(key, -1) for key in _keys(states) or ()]] = 1.0
        return rows[:, :-1].reshape(-1, copies, len(self.places)).mean(axis=1)

    def seen(self, rows: FloatArray, states: Objects) -> FloatArray:
        """Return one for each of the states that there are, zero for any other."""
        return rows.sum(axis=1)

    def holds(self, states: Objects) -> bool:
        """Say whether all states are among them."""
        return all(key in self.places for key in _keys(states) or (None,))


def _keys(states: Objects) -> list[Any] | None:
    """Return something hashable for each state; None where there is no such thing."""
    if is_numeric(states):
        return [row.tobytes() for row in np.asarray(states, dtype=np.float64) + 0.0]  # no minus zero
    return list(states) if all(isinstance(state, Hashable) for state in states) else None


@dataclass(frozen=True, eq=False)
class BackwardStep:
    """The backward step of one belief, ready for any knowledge of the next state."""

    weights: FloatArray
    """w, (n,)."""
    successors: FloatArray
    """Mean features of the moves simulated from each state, (n, p)."""
    C: FloatArray
    factor: CholeskyFactor
    """Of C² + δI."""
    seen: float = 1.0
    """Which share of the prediction the features see."""
    apt: bool = True
    """Whether the weights stand for the belief."""

    @classmethod
    def of(
        cls,
        weights: FloatArray,
        successors: FloatArray,
        predicted: FloatArray,
        shares: FloatArray,
        delta: float,
        *,
        seen: FloatArray | None = None,
        apt: bool = True,
    ) -> BackwardStep:
        """Prepare the step.

        Parameters
        ----------
        weights : array (n,)
            Of the belief's states.
        successors : array (n, p)
            Mean features of the moves simulated from each state.
        predicted : array (m, p)
            Features of the sample that the filter predicted for the next step.
        shares : array (m,)
            Its weights γ; negative ones count as zero, since no state is less probable than impossible.
        delta : float
            δ.
        seen : array (m,), optional
            Which share of each state of the sample the features see; None: all.
        apt : bool
            Whether the weights stand for the belief.
        """
        C = second_moment(predicted, shares, HostAlgebra)
        factor = cholesky(C @ C, shift=delta, name="C² + delta I", remedy="delta")
        positive = np.maximum(shares, 0.0)
        share = 1.0 if seen is None else float(positive @ seen / positive.sum())
        return cls(weights, successors, C, factor, share, apt)

    def given(self, later: Later) -> FloatArray | None:
        """Return the smoothed weights, (n,); None where they cannot be trusted, and the filter's should be kept."""
        return self.given_mean(later.mean) if self.apt and covered(self.seen, later.seen) else None

    def ratios(self, means: FloatArray) -> FloatArray:
        """Return E[r(x') | x_i] for each state, (n, m), given m smoothed means of the next step, (p, m)."""
        return np.maximum(self.successors @ self.factor.solve(np.asfortranarray(self.C @ means)), 0.0)

    def given_mean(self, mean: FloatArray) -> FloatArray:
        """Return the smoothed weights, (n,), given the smoothed mean features of the next step, (p,)."""
        return np.asarray(reweighted(self.weights, self.ratios(mean[:, None])[:, 0]))

    def given_states(self, features: FloatArray) -> FloatArray:
        """Return weights given each of m next states with these features (m, p): (m, n), rows sum to one.

        Negative weights count as zero, so that states can be drawn.
        """
        return positive_rows(self.ratios(features.T).T, self.weights)


def positive_rows(ratios: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weights times ratios, row by row, without what is negative, normalised; where nothing is left, weights.

    Examples
    --------
    >>> positive_rows(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([0.5, 0.5]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    positive = np.maximum(weights, 0.0)
    found = ratios * positive
    totals = found.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, found / positive_or_one(totals), positive / positive.sum())
