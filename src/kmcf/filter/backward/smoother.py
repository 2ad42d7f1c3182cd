"""The backward pass over a filter's beliefs: each is weighed again by what the later observations said.

The rule of one step is in :mod:`kmcf.bayes_rule.backward`; here are the moves that it needs, simulated from each
belief's states with the filter's own transition, and the loop over time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kmcf.bayes_rule.backward import BackwardStep, Features, Later
from kmcf.bayes_rule.backward_core import stands_for
from kmcf.filter.clock import Drive
from kmcf.filter.motion import Motion
from kmcf.filter.results.belief import Belief
from kmcf.filter.step import Move
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, take
from kmcf.trust.conformal import Stretch

BACKWARD = 2**32 - 1
"""Random numbers of simulated moves come from a stream that no filter uses."""
REMEMBERED = 8
"""Moves from so many different supports are remembered: the examples, and those that serve patterns of columns."""
MOST_MOVES = 1_000_000
"""More moves than this are not remembered, but simulated for the few states that have a weight."""
NEGLIGIBLE = 1e-3
"""Where moves cannot be remembered, states that together have no more than this share of the weights do not move."""


@dataclass(frozen=True, eq=False)
class Smoother:
    """Makes the backward steps of one fitted filter."""

    features: Features
    motion: Motion
    n_particles: int
    seed: int
    random: Callable[..., Any] | None = None
    """Makes random numbers for a place, (stream, time), where transitions take another kind than NumPy's."""
    _known: dict[tuple[int, Any], tuple[Objects, FloatArray]] = field(default_factory=dict, repr=False)

    def rows(self, belief: Belief) -> FloatArray:
        """Return the features of a belief's states, (n, p)."""
        return self._remembered(belief, "states", lambda: self.features.of(belief.states))

    def back(self, belief: Belief, drive: Drive) -> BackwardStep:
        """Return the step back to a belief from the one that follows it, which this drive led to."""
        prediction = Move(self.motion, self.n_particles)(belief, drive, self._generator(belief.stream, belief.time + 1))
        weights, predicted = unsigned(belief), self.features.of(prediction.states)
        return BackwardStep.of(
            weights,
            self._successors(belief, weights, drive),
            predicted,
            prediction.weights,
            self.features.delta,
            seen=self.features.seen(predicted, prediction.states),
            apt=self._apt(belief, weights),
        )

    def later(self, belief: Belief, weights: FloatArray | None) -> Later:
        """Return what the step before is told about a belief with these weights; None: those of the filter."""
        own = formed(belief) if weights is None else weights
        rows = self.rows(belief)
        seen = self._remembered(belief, "seen", lambda: self.features.seen(rows, belief.states))
        return Later(own @ rows, float(own @ seen))

    def _apt(self, belief: Belief, weights: FloatArray) -> bool:
        """Say whether weights without signs stand for the belief."""
        own, rows = formed(belief), self.rows(belief)
        return own is weights or bool(stands_for(rows, weights, own @ rows))

    def _successors(self, belief: Belief, weights: FloatArray, drive: Drive) -> FloatArray:
        """Return the mean features of moves from each state of a belief that has a weight."""
        elapsed = drive.elapsed if self.motion.told_time else None
        if self.features.states is not None:
            return self.rows(belief) @ self._table(self.features.states, drive, elapsed)
        few = len(belief) * self.features.copies <= MOST_MOVES
        if few and drive.control is None and belief.corrected:
            return self._remembered(belief, elapsed, lambda: self._moved(belief.states, drive, self._generator()))
        heavy = _heavy(weights)
        rng = self._generator(BACKWARD, belief.stream, belief.time)
        some = self._moved(take(belief.states, heavy), drive, rng)
        rows = np.zeros((len(weights), some.shape[1]))
        rows[heavy] = some
        return rows

    def _table(self, states: Objects, drive: Drive, elapsed: Any) -> FloatArray:
        """Return where moves from each of a few states lead, by simulation: the transition as a table."""
        key = (0, elapsed)
        if drive.control is not None:
            return self._moved(states, drive, self._generator())
        if key not in self._known:
            self._known[key] = states, self._moved(states, drive, self._generator())
        return self._known[key][1]

    def _moved(self, states: Objects, drive: Drive, rng: Any) -> FloatArray:
        copies = self.features.copies
        moved = self.motion.move(take(states, np.repeat(np.arange(len(states)), copies)), drive, rng, time=2)
        return self.features.of(moved, copies)

    def _remembered(self, belief: Belief, what: Any, make: Any) -> FloatArray:
        """Return what was made for the same states before; only supports that posteriors share are remembered."""
        if not belief.corrected:
            return np.asarray(make())
        key = (id(belief.states), what)
        if key not in self._known:
            if len(self._known) >= 3 * REMEMBERED:
                self._known.pop(next(iter(self._known)))
            self._known[key] = belief.states, make()  # the states are kept, so that no others get their identity
        return self._known[key][1]

    def _generator(self, *place: int) -> Any:
        key = place or (BACKWARD,)
        if self.random is not None:
            return self.random(*key)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


@dataclass(frozen=True, eq=False)
class Trellis:
    """The beliefs of one sequence, and what drove the moves between them."""

    smoother: Smoother
    beliefs: Sequence[Belief]
    drives: Sequence[Drive]
    """``drives[t]`` led from belief t to belief t + 1."""

    @classmethod
    def of(cls, smoother: Smoother, beliefs: Sequence[Belief], controls: Any) -> Trellis:
        """Put together a sequence; ``controls[t]`` drove the move to step t, as for a filter."""
        drives = [
            Drive(None if controls is None else controls[t], beliefs[t].elapsed, beliefs[t].clock)
            for t in range(1, len(beliefs))
        ]
        return cls(smoother, beliefs, drives)

    def step(self, t: int) -> BackwardStep:
        """Return the step from belief t + 1 back to belief t; the same at every call."""
        return self.smoother.back(self.beliefs[t], self.drives[t])

    def weights(self, lag: int | None = None) -> list[FloatArray | None]:
        """Return the smoothed weights of all steps, given all observations, or those up to ``lag`` steps later.

        None at the last step, and where smoothed weights cannot be trusted: the filter's are kept.
        """
        last = len(self.beliefs) - 1
        if lag is None:
            found: list[FloatArray | None] = [None]
            for t in range(last - 1, -1, -1):
                found.append(self._back(t, self.step(t), found[-1]))
            return found[::-1]
        steps = [self.step(t) for t in range(last)]
        return [self._from(min(t + lag, last), t, steps) for t in range(last + 1)]

    def _from(self, latest: int, t: int, steps: Sequence[BackwardStep]) -> FloatArray | None:
        weights = None
        for earlier in range(latest - 1, t - 1, -1):
            weights = self._back(earlier, steps[earlier], weights)
        return weights

    def _back(self, t: int, step: BackwardStep, later: FloatArray | None) -> FloatArray | None:
        return step.given(self.smoother.later(self.beliefs[t + 1], later))


class SmoothedBelief(Belief):
    """A belief that knows later observations. No step continues from it, which would use them twice.

    ``calibrate`` learns factors of its own for it, from smoothed left-out sequences.

    Parameters
    ----------
    filtered : Belief
        What the filter believed.
    weights : array (n,), optional
        The smoothed weights of the same states. None: those of the filter, where nothing was observed later or what
        was cannot be used; then steps may continue.
    unsmoothed : bool
        Whether the filter's weights were kept because smoothed ones could not be trusted.
    """

    def __init__(self, filtered: Belief, weights: FloatArray | None, *, unsmoothed: bool = False) -> None:
        own = filtered.weights if filtered.source is None else filtered.source
        super().__init__(
            filtered.states,
            own if weights is None else weights,
            resampled=filtered.resampled if weights is None else None,
            kernel=filtered.kernel,
            angles=filtered.angles,
            time=filtered.time,
            stream=filtered.stream,
            report=filtered.report,
            rejections=filtered.rejections,
            clock=filtered.clock,
            elapsed=filtered.elapsed,
            calibration=filtered.calibration,
        )
        self.filtered = filtered
        self.unsmoothed = unsmoothed
        self._latest = weights is None

    @property
    def alarm_reason(self) -> str:
        """Why the step raised an alarm when it was filtered; empty if it did not."""
        return self.filtered.alarm_reason

    @property
    def _stretch(self) -> Stretch | None:
        known = self.calibration
        return super()._stretch if self._latest or known is None else known.smoothed

    @property
    def final(self) -> bool:
        """Whether no step may continue from here."""
        return not self._latest

    def __repr__(self) -> str:
        return super().__repr__().replace("Belief(", "SmoothedBelief(", 1)


def formed(belief: Belief) -> FloatArray:
    """Return a belief's own weights; where an engine did not form them, they are not kept."""
    return copy.copy(belief).weights if belief.unformed else belief.weights


def unsigned(belief: Belief) -> FloatArray:
    """Return a belief's weights or, where some are negative, the shares of the states that were resampled from it.

    Herded states stand for the same kernel mean without signs, which ratios would make cancel; measured on the paper's
    models and on recorded tracks, they gave errors as small or smaller.
    """
    resampled = belief.resampled
    if resampled is None or not (belief.unformed or np.any(belief.weights < 0.0)):
        return belief.weights
    return np.bincount(resampled, minlength=len(belief)) / len(resampled)


def _heavy(weights: FloatArray) -> IntArray:
    """Return the states that carry all but a negligible share of the weights, in order."""
    sizes = np.abs(weights)
    order = np.argsort(sizes)
    light = np.cumsum(sizes[order]) <= NEGLIGIBLE * sizes.sum()
    return np.sort(order[~light])
