"""Would fewer features change posteriors? Corrections of left-out examples say so.

Some examples are left out, as if they were still to come. Their observations are corrected by the others, under priors
concentrated around their states, with fine features and with fewer. What counts is how far the posterior means move, in
units of the posterior's standard deviation, and how much their error grows, since the true states are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from kmcf.bayes_rule.base import LEAST_SIMILARITY
from kmcf.bayes_rule.factors import KernelFeatures, prior_factor
from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray, positive_or_one
from kmcf.numerics.circles import on_circles
from kmcf.numerics.linalg import cholesky, solve_regularised_square, weighted_gram
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric

PLACES = 12
CONCENTRATIONS = (4.0, 16.0)
"""Priors are proportional to these powers of the similarity to the state: half as wide as the state kernel, a quarter.
Wider ones forgive more."""
MOST_ROWS = 1500
"""Of more examples than this, some represent all."""
LARGEST_CHANGE, LARGEST_ERROR = 0.01, 0.01
"""Posterior means may move by this share of their sd, and their error may grow by this share."""
LEAST_SD = 0.3
"""Signed weights can have a variance near or below zero: an sd counts as at least so much of the median one, and of the
error."""


class Change(NamedTuple):
    """How much posteriors change with fewer features."""

    means: float
    """How far posterior means move, in units of their sd: what nine of ten probes stay below."""
    error: float
    """The growth of the root mean squared error of the means, as a share."""

    def within(self, share: float = 1.0) -> bool:
        """Say whether means move by at most a share of what is allowed, and the error does not grow too much."""
        return self.means <= share * LARGEST_CHANGE and self.harmless

    @property
    def harmless(self) -> bool:
        """Whether the error does not grow too much."""
        return self.error <= LARGEST_ERROR


@dataclass(frozen=True, eq=False)
class Probes:
    """Corrections to make with different features."""

    places: FloatArray
    """What posterior means are of, (n, d): the states, angles as cosine and sine, in units of their sd."""
    rows: IntArray
    """The examples that are known."""
    left_out: IntArray
    """The examples to correct, one per prior."""
    priors: list[FloatArray]
    """Weights on the known examples."""
    fine: tuple[FloatArray, FloatArray]
    """The features to compare with: U and V of all examples."""
    epsilon: float
    delta: float
    importance: bool

    @classmethod
    def of(
        cls,
        objects: Objects,
        states: KernelFeatures,
        observations: KernelFeatures,
        *,
        epsilon: float,
        delta: float,
        rule: str,
        angles: Sequence[int] = (),
    ) -> Self | None:
        """Choose what to compare; None if no example is within reach of the features.

        Parameters
        ----------
        objects : collection
            The example states.
        states, observations : KernelFeatures
            Fine features.
        epsilon, delta, rule, angles
            As for the rule.
        """
        n = len(states.rows)
        chosen = evenly_spaced(n, MOST_ROWS)
        probed = chosen[evenly_spaced(len(chosen), PLACES)]
        probed = probed[_reached(states, probed) & _reached(observations, probed)]
        rows = np.setdiff1d(chosen, probed)
        if not len(probed) or not len(rows):
            return None
        priors, left_out = [], []
        for probe in probed:
            similarity = np.maximum(states.rows[rows] @ states.rows[probe], 0.0)
            for power in CONCENTRATIONS:
                weights = (similarity / max(float(similarity.max()), np.finfo(float).tiny)) ** power
                if weights.sum() > 0.0:
                    priors.append(weights / weights.sum())
                    left_out.append(probe)
        places = _places(objects, angles) if is_numeric(objects) else states.rows
        fine = states.rows, observations.rows
        return cls(places, rows, np.array(left_out), priors, fine, epsilon, delta, rule == "importance")

    def change(self, U: FloatArray, V: FloatArray) -> Change:
        """Compare posteriors with features U and V, of all examples, with those of the fine features."""
        means = self._means(self._weights(U, V))
        sd, wanted = self._spread, self._means(self._wanted)
        truth = self.places[self.left_out]
        errors = [float(np.sqrt(np.mean((found - truth) ** 2))) for found in (wanted, means)]
        moved = float(np.quantile(np.max(np.abs(means - wanted) / sd, axis=1), 0.9))
        return Change(moved, errors[1] / max(errors[0], np.finfo(float).tiny) - 1.0)

    @cached_property
    def _wanted(self) -> list[FloatArray]:
        return self._weights(*self.fine)

    @cached_property
    def _spread(self) -> FloatArray:
        """The standard deviation of every fine posterior in every column; over all columns where states are objects."""
        places = self.places[self.rows]
        variances = np.array([w @ (places - w @ places) ** 2 for w in self._wanted])
        sds = np.sqrt(np.maximum(variances, 0.0))
        errors = np.sqrt(np.mean((self._means(self._wanted) - self.places[self.left_out]) ** 2, axis=0))
        least = LEAST_SD * np.maximum(np.median(sds, axis=0), errors)
        return np.maximum(np.maximum(sds, least), np.finfo(float).tiny)

    def _means(self, weights: list[FloatArray]) -> FloatArray:
        return np.stack([w @ self.places[self.rows] for w in weights])

    def _weights(self, U: FloatArray, V: FloatArray) -> list[FloatArray]:
        """Apply the rule with some features to every probe; return normalised weights."""
        known_u, known_v = U[self.rows], V[self.rows]
        factor = prior_factor(known_u.T @ known_u, len(known_u), self.epsilon)
        return [
            self._corrected(known_u @ factor.solve(known_u.T @ prior), known_v, V[probe])
            for probe, prior in zip(self.left_out, self.priors, strict=True)
        ]

    def _corrected(self, prior: FloatArray, V: FloatArray, psi: FloatArray) -> FloatArray:
        if self.importance:
            prior = np.maximum(prior, 0.0)
            C = weighted_gram(V, prior)
            weights = prior * (V @ cholesky(C, shift=self.delta, name="C + delta I", remedy="delta").solve(psi))
        else:
            C = weighted_gram(V, prior)
            weights = prior * (V @ solve_regularised_square(C, self.delta, C @ psi))
        return np.asarray(weights / (weights.sum() or 1.0))  # few directions may leave nothing of an observation


def _reached(features: KernelFeatures, indices: IntArray) -> BoolArray:
    """Say which examples have features at all: with few pivots some may be out of reach."""
    return np.sum(features.rows[indices] ** 2, axis=1) > LEAST_SIMILARITY * features.largest


def _places(states: Objects, angles: Sequence[int]) -> FloatArray:
    flat = np.asarray(states, dtype=np.float64).reshape(len(states), -1)
    turned = on_circles(flat, [int(a) % flat.shape[1] for a in angles])
    spread = turned.std(axis=0)
    return turned / positive_or_one(spread)
