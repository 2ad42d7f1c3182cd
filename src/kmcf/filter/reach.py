"""Where the state may have gone that no example knows: predicted states beyond the examples, which none can correct.

A posterior on the examples never leaves them. Where a good part of the prediction does, those predicted states go on
moving beside the belief, step by step, and intervals and ellipses take them in. They are forgotten when the prediction
is back among the examples, and observations are like theirs; estimates never see them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcf.bayes_rule import Prior
from kmcf.filter.clock import Drive
from kmcf.filter.motion import Motion
from kmcf.filter.results.belief import Belief, equal_weights
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import is_numeric
from kmcf.trust.residuals import contradicted

LEAVING, BACK = 0.1, 0.05
"""The state may have left when such a share of the prediction is beyond the examples, until less than the second is."""
MOST, FRESH = 256, 32
"""So many predicted states are looked at, so many go on beyond the examples, and so many of them just left."""
CHANCE = 1e-3
"""Observations contradict the examples when their residuals are, on average, as large as by chance so seldom."""
LOOSER = 2.0
"""By how much the variance of a move is multiplied then: the filter may be wrong about the motion, too."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Follows predicted states beyond the examples."""

    motion: Motion
    """How states move; it knows the examples."""

    def beyond(self, belief: Belief, prior: Prior, drive: Drive, rng: np.random.Generator) -> FloatArray | None:
        """Return the states beyond the examples after a move; None where the prediction is among the examples.

        Parameters
        ----------
        belief : Belief
            The belief before the step, with those that were beyond then.
        prior : Prior
            The prediction.
        drive : Drive
            What drove the move.
        rng : Generator
            Random numbers, of which those of the step itself are independent.
        """
        hull, before = self.motion.hull, belief.report.beyond
        if hull is None or belief.time == 0 or not is_numeric(prior.states):
            return None
        predicted = _drawn(prior, rng)
        known = predicted[hull.outside(predicted)]
        if before is None:
            return known if len(known) >= LEAVING * len(predicted) else None
        lost = contradicted(belief.report.running_observation, CHANCE)
        if len(known) < BACK * len(predicted) and not lost:
            return None
        (own,) = rng.spawn(1)  # the numbers that the step draws stay the same
        moved = self._moved(before, drive, own, belief.time + 1, loosely=lost)
        still = moved[hull.outside(moved)] if len(moved) else moved
        if not len(still):
            return known if len(known) else None
        # A posterior that cannot follow sends others out again and again. Those that left first count most: whatever
        # left later on the same side lies between them and the belief.
        fresh = known[own.integers(len(known), size=FRESH)] if len(known) and not lost else known[:0]
        return np.concatenate([_spread(still, MOST - len(fresh), own), fresh])

    def _moved(
        self, states: FloatArray, drive: Drive, rng: np.random.Generator, time: int, *, loosely: bool
    ) -> FloatArray:
        """Move states, perhaps with a larger variance; nothing where the transition knows nothing out there."""
        copies = 3 if loosely else 1
        try:
            moved = np.asarray(self.motion.move(np.concatenate([states] * copies), drive, rng, time))
        except Exception:  # a user's transition need not
            return states[:0]
        first, *two = np.split(moved, copies)
        if not two:
            return first
        angles = self.motion.angles
        apart = wrapped_columns(two[0] - two[1], angles)  # as from one draw to another
        return wrapped_columns(first + np.sqrt(0.5 * (LOOSER - 1.0)) * apart, angles)


def _spread(states: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Return so many of the states, each about as often."""
    places = (rng.random() + np.arange(count)) * (len(states) / count)
    return np.asarray(states[places.astype(np.intp).clip(max=len(states) - 1)])


def _drawn(prior: Prior, rng: np.random.Generator) -> FloatArray:
    """Return some of a prediction's states, equally weighted."""
    states, weights = np.asarray(prior.states), np.asarray(prior.weights)
    if weights is equal_weights(len(weights)) or np.ptp(weights) == 0.0:
        return states[:MOST]
    positive = np.maximum(weights, 0.0)  # signed ones are no distribution
    return states[rng.spawn(1)[0].choice(len(states), size=MOST, p=positive / positive.sum())]
