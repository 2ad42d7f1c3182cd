"""Where the state may have gone that no example knows: predicted states beyond the examples, which none can correct.

A posterior on the examples never leaves them. Where a good part of the prediction does, those predicted states go on
moving beside the belief, step by step, and intervals and ellipses take them in. They are forgotten when the prediction
is back among the examples; estimates never see them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcf.bayes_rule import Prior
from kmcf.filter.clock import Drive
from kmcf.filter.motion import Motion
from kmcf.filter.results.belief import Belief, equal_weights
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import is_numeric

LEAVING, BACK = 0.1, 0.05
"""The state may have left when such a share of the prediction is beyond the examples, until less than the second is."""
MOST, FRESH = 256, 32
"""So many predicted states are looked at, so many go on beyond the examples, and so many of them just left."""


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
        hull = self.motion.hull
        if hull is None or belief.time == 0 or not is_numeric(prior.states):
            return None
        predicted = _drawn(prior, rng)
        outside = hull.outside(predicted)
        before = belief.report.beyond
        if np.count_nonzero(outside) / len(outside) < (LEAVING if before is None else BACK):
            return None
        known = predicted[outside]
        if before is None:
            return known
        (own,) = rng.spawn(1)  # the numbers that the step draws stay the same
        try:
            moved = np.asarray(self.motion.move(before, drive, own, belief.time + 1))
        except Exception:  # a user's transition need not know what to do out there
            return known
        still = moved[hull.outside(moved)]
        if not len(still):
            return known
        # A posterior that cannot follow sends others out again and again. Those that left first count most: whatever
        # left later on the same side lies between them and the belief.
        fresh = known[own.integers(len(known), size=FRESH)]
        return np.concatenate([still[own.integers(len(still), size=MOST - FRESH)], fresh])


def _drawn(prior: Prior, rng: np.random.Generator) -> FloatArray:
    """Return some of a prediction's states, equally weighted."""
    states, weights = np.asarray(prior.states), np.asarray(prior.weights)
    if weights is equal_weights(len(weights)) or np.ptp(weights) == 0.0:
        return states[:MOST]
    positive = np.maximum(weights, 0.0)  # signed ones are no distribution
    return states[rng.spawn(1)[0].choice(len(states), size=MOST, p=positive / positive.sum())]
