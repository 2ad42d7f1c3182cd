"""The search for the largest total score: a design over all bounds, a derivative-free climb, and a local surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from kmcf.adaptation.surface import Peak, peak_of
from kmcf.numerics.arrays import FloatArray

FIRST_RADIUS, LEAST_RADIUS, MOST_RADIUS = 0.12, 0.004, 0.25
"""The surface's box, as parts of the bounds; it follows the estimate's standard error."""
ROUNDS, CLIMB = 3, 12
"""How many surfaces are fitted, and how many runs per parameter climbing takes."""
WIDTH = 2.5
"""The box reaches so many standard errors to each side."""


class Evaluation(NamedTuple):
    """The scores at one place in the unit cube."""

    place: FloatArray
    scores: FloatArray | None
    """One per step; None where the transition could not be used."""
    error: str

    @property
    def total(self) -> float:
        """Their sum; minus infinity where the transition could not be used."""
        return -np.inf if self.scores is None else float(np.nansum(self.scores))


@dataclass
class Evaluations:
    """Everything that was computed, by place."""

    scores_at: Callable[[FloatArray], FloatArray]
    tick: Callable[[], object]
    made: list[Evaluation] = field(default_factory=list)

    def __call__(self, place: FloatArray) -> float:
        """Return the total at a place within the unit cube."""
        place = np.clip(np.asarray(place, dtype=np.float64), 0.0, 1.0)
        for known in self.made:
            if np.allclose(known.place, place, atol=1e-9):
                return known.total
        try:
            found = Evaluation(place, self.scores_at(place), "")
        except (ValueError, ArithmeticError) as error:
            if not self.made:  # at the start, where everything should work
                raise
            found = Evaluation(place, None, str(error))
        self.made.append(found)
        self.tick()
        return found.total

    @property
    def best(self) -> Evaluation:
        """The one with the largest total."""
        return max(self.made, key=lambda one: one.total)

    def within(self, centre: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the places and scores in a box; steps whose score is unknown anywhere are left out."""
        near = [
            one
            for one in self.made
            if one.scores is not None and np.all(np.abs(one.place - centre) <= radius * (1 + 1e-9))
        ]
        scores = np.stack([one.scores for one in near if one.scores is not None])
        return np.stack([one.place for one in near]), scores[:, np.isfinite(scores).all(axis=0)]


def search(evaluations: Evaluations, start: FloatArray, seed: int) -> Peak:
    """Find the maximum of the total score in the unit cube.

    Parameters
    ----------
    evaluations : Evaluations
        Computes scores, and keeps them.
    start : array (p,)
        Where to start.
    seed : int
        Of the design.
    """
    p = len(start)
    evaluations(start)
    for place in design(p, seed):
        evaluations(place)
    climb(evaluations)
    centre, radius = evaluations.best.place, np.full(p, FIRST_RADIUS)
    for _ in range(ROUNDS):
        radius = np.clip(radius, LEAST_RADIUS, MOST_RADIUS)
        centre = np.clip(centre, radius, 1.0 - radius)  # so that the box is inside the bounds
        for offset in box(p):
            evaluations(centre + radius * offset)
        peak = peak_of(*evaluations.within(centre, radius), centre, radius)
        centre = peak.place
        if peak.covariance is not None:
            radius = WIDTH * np.sqrt(np.diagonal(peak.covariance))
    return peak


def design(p: int, seed: int) -> FloatArray:
    """Return places all over the unit cube: nine in a row, or a Sobol sequence.

    Examples
    --------
    >>> design(1, 0).shape, design(3, 0).shape
    ((9, 1), (32, 3))
    """
    if p == 1:
        return np.linspace(0.02, 0.98, 9)[:, None]
    size = 2 ** int(np.ceil(np.log2(8 * p)))
    return np.asarray(qmc.Sobol(p, seed=seed).random(size))


def most_evaluations(p: int) -> int:
    """Return how many places a search looks at, at most.

    Examples
    --------
    >>> most_evaluations(1)
    38
    """
    return 2 + len(design(p, 0)) + CLIMB * p + ROUNDS * len(box(p))


def climb(evaluations: Evaluations) -> None:
    """Climb from the best place found so far, without derivatives."""
    start = evaluations.best.place
    p = len(start)
    corners = np.where(start > 0.5, start - 0.1, start + 0.1)
    simplex = np.stack([start, *(np.where(np.arange(p) == k, corners, start) for k in range(p))])
    minimize(
        lambda place: -evaluations(place),
        start,
        method="Nelder-Mead",
        bounds=[(0.0, 1.0)] * p,
        options={"initial_simplex": simplex, "maxfev": CLIMB * p, "xatol": 0.01, "fatol": 1e-3},
    )


def box(p: int) -> FloatArray:
    """Return places in [−1, 1]^p at which a quadratic is to be known: axes, and (beyond one dimension) pairs.

    Examples
    --------
    >>> box(1).ravel()
    array([ 0. ,  1. , -1. ,  0.5, -0.5])
    >>> len(box(2)), len(box(3))
    (11, 19)
    """
    unit = np.eye(p)
    axes = [unit, -unit] + ([0.5 * unit, -0.5 * unit] if p == 1 else [0.6 * unit, -0.6 * unit])
    first, second = np.triu_indices(p, 1)
    pairs = [0.7 * (unit[first] + unit[second]), 0.7 * (unit[first] - unit[second])] if p > 1 else []
    return np.concatenate([np.zeros((1, p)), *axes, *pairs])
