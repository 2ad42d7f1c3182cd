"""Whole paths of states, given all observations: drawn at random, or the most probable one.

Backwards in time the states are a Markov chain: x_T is drawn from the last belief, then each state given the one after
it, with probabilities ∝ w_t(i) p(x_{t+1} | x_i). Where the transition has a ``log_density``, that is p; otherwise the
backward rule takes its place, which knows simulated moves only and is as sharp as its features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.bayes_rule.backward import DistinctStates, positive_rows
from kmcf.filter.backward.smoother import Trellis, unsigned
from kmcf.filter.clock import Drive
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, is_numeric, take

Density = Callable[..., Any]
PAIRS_AT_ONCE = 500_000


@dataclass(frozen=True, eq=False)
class Paths:
    """The joint distribution of the states of one sequence."""

    trellis: Trellis
    weights: list[FloatArray]
    """The smoothed weights of each step."""

    def sample(self, size: int, rng: np.random.Generator) -> list[IntArray]:
        """Draw paths: for each step the places of ``size`` states in its support."""
        last = len(self.weights) - 1
        picks = [drawn_rows(np.maximum(self.weights[last], 0.0)[None], np.zeros(size, dtype=np.intp), rng)]
        for t in range(last - 1, -1, -1):
            different, which = np.unique(picks[-1], return_inverse=True)
            picks.append(drawn_rows(self.backwards(t, different), which, rng))
        return picks[::-1]

    def backwards(self, t: int, following: IntArray) -> FloatArray:
        """Return the distribution of step t given some states of the support of step t + 1: (m, n), rows sum to one."""
        trellis = self.trellis
        density = getattr(trellis.smoother.motion.transition, "log_density", None)
        if density is None or isinstance(trellis.smoother.features, DistinctStates):
            return trellis.step(t).given_states(trellis.smoother.rows(trellis.beliefs[t + 1])[following])
        states, after = trellis.beliefs[t].states, take(trellis.beliefs[t + 1].states, following)
        logs = log_densities(density, states, after, trellis.drives[t])
        ratios = np.exp(logs - np.max(logs, axis=1, keepdims=True, initial=-1e300))
        return positive_rows(ratios, unsigned(trellis.beliefs[t]))

    def pairwise(self, t: int) -> FloatArray:
        """Return the joint weights of steps t and t + 1, (n, m): not negative, and they sum to one."""
        later = np.maximum(self.weights[t + 1], 0.0)
        likely = np.flatnonzero(later)
        joint = np.zeros((len(self.weights[t]), len(later)))
        joint[:, likely] = (self.backwards(t, likely) * (later[likely] / later.sum())[:, None]).T
        return joint

    def best(self) -> list[int]:
        """Return the most probable path, where there are few different states: a place in the support of each step."""
        features = self.trellis.smoother.features
        if not isinstance(features, DistinctStates):
            raise TypeError(
                "the most probable path is defined where there are few different states; in a continuum every path has "
                "probability zero: use run.mean, run.mode or run.sample_paths."
            )
        rows = [self.trellis.smoother.rows(belief) for belief in self.trellis.beliefs]
        last = len(rows) - 1
        score = _logs(np.maximum(self.weights[last], 0.0) @ rows[last])
        followers = []
        for t in range(last - 1, -1, -1):
            of_state = np.eye(len(score))
            table = self.trellis.step(t).given_states(of_state) @ rows[t]  # p(x_t | x_{t+1}), over different states
            scores = score[:, None] + _logs(table)
            followers.append(scores.argmax(axis=0))
            score = scores.max(axis=0)
        path = [int(score.argmax())]
        for follower in followers[::-1]:
            path.append(int(follower[path[-1]]))
        return [int(rows[t][:, state].argmax()) for t, state in enumerate(path)]

    def states(self, t: int, places: IntArray) -> Objects:
        """Return the states of step t at some places of its support."""
        return take(self.trellis.beliefs[t].states, places)

    @property
    def numeric(self) -> bool:
        """Whether states are numbers."""
        return is_numeric(self.trellis.beliefs[0].states)


def drawn_rows(probabilities: FloatArray, rows: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw one place from each of some rows of unnormalised probabilities.

    Examples
    --------
    >>> drawn_rows(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([1, 0, 0]), np.random.default_rng(0)).tolist()
    [0, 1, 1]
    """
    sums = np.cumsum(probabilities, axis=1)
    found = np.empty(len(rows), dtype=np.intp)
    for row in range(len(sums)):
        mine = rows == row
        where = rng.random(int(mine.sum())) * sums[row, -1]
        found[mine] = np.searchsorted(sums[row], where, side="right")
    return np.minimum(found, probabilities.shape[1] - 1)


def log_densities(density: Density, states: FloatArray, after: FloatArray, drive: Drive) -> FloatArray:
    """Return log p(after_j | states_i) for all pairs, (m, n), in blocks."""
    n, block = len(states), max(1, PAIRS_AT_ONCE // len(states))
    found = np.empty((len(after), n))
    for start in range(0, len(after), block):
        some = after[start : start + block]
        pairs = np.repeat(some, n, axis=0), np.tile(states, (len(some), *(1,) * (states.ndim - 1)))
        found[start : start + block] = np.reshape(density(*pairs, drive.control, drive.elapsed), (len(some), n))
    return found


def _logs(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values)
