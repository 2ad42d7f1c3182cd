"""A hidden Markov model whose states are examples: exact likelihood and smoothed states, fast enough to search with.

From each of some example states the transition is simulated; where a move ends, the nearest state is the next. States
that it reaches beyond the examples are nodes, too: otherwise a sensor would seem to have changed where the state goes
further than it did in the examples.
What the sensor shows there is a Student distribution by column, with the mean and variance that
:class:`~kmcf.adaptation.left_out_moments.LeftOutMoments` knows, scaled and shifted by the change in question.
Everything is done for several copies of the sequences at once, each with a change of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import gammaln

from kmcf.adaptation.affine import CORE, FREEDOM
from kmcf.adaptation.observation_moments import Moments
from kmcf.filter.clock import Drive
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import evenly_spaced

MOST_NODES, FEWEST_NODES = 250, 50
BEYOND, HOPS = 40, 10
"""At most so many states beyond the examples are nodes, which the transition reaches from these in so many moves."""
APART = -0.125
"""They are at least half a bandwidth from all others: the logarithm of a Gaussian kernel there."""
NEIGHBOURS = 5
"""So many examples are next to each other, and all that are as near."""
DRAWS = 20
"""So many moves are simulated from each node."""
MOST_NUMBERS = 5e7
"""If every step has moves of its own, their probabilities are no more numbers than this."""
LEAVE, STAY = 0.02, 0.9
"""The probabilities of leaving what the examples cover, and of staying there: no example, no evidence of a change."""
BROAD = 1.5
"""Out there anything is seen that is seen at all: a Student distribution as wide as the data, times this."""
CONSTANT = float(gammaln((FREEDOM + 1.0) / 2.0) - gammaln(FREEDOM / 2.0) - 0.5 * np.log(FREEDOM * np.pi))


class Changes(NamedTuple):
    """One affine change of the columns per copy of the data, (B, q) each."""

    scale: FloatArray
    shift: FloatArray

    @classmethod
    def none(cls, copies: int, width: int) -> Self:
        """Return that nothing has changed."""
        return cls(np.ones((copies, width)), np.zeros((copies, width)))

    def where(self, chosen: Any, other: Changes) -> Changes:
        """Return these for some copies (B,), and others elsewhere."""
        mask = np.asarray(chosen)[:, None]
        return Changes(np.where(mask, self.scale, other.scale), np.where(mask, self.shift, other.shift))


@dataclass(frozen=True, eq=False)
class ExampleChain:
    """The chain, and what its sensor shows."""

    means: FloatArray
    """(n, q)."""
    variances: FloatArray
    start: FloatArray
    """(n,)."""
    moves: Sequence[Sequence[FloatArray] | FloatArray]
    """By sequence: one matrix of probabilities (n, n), or one for each step."""
    neighbours: Sequence[IntArray] | None = None
    """The examples at or next to each of the first nodes; there are none next to the others."""

    @classmethod
    def of(
        cls,
        flt: Any,
        moments: Moments,
        states: FloatArray,
        lengths: Sequence[int],
        drives: Sequence[tuple[Any, Any]],
    ) -> Self:
        """Simulate moves between some of the states, with the controls and times of each sequence.

        Parameters
        ----------
        flt : filter
            Whose transition, start and kernel on states are used.
        moments : Moments
            What the sensor shows at a state.
        states : array (n, d)
            Of the examples.
        lengths : sequence of int
            Of the sequences.
        drives : sequence of pairs
            Controls and times of each sequence, or None.
        """
        driven = any(one is not None for drive in drives for one in drive)
        most = np.sqrt(MOST_NUMBERS / max(sum(lengths), 1)) if driven else np.inf
        most = int(np.clip(most, FEWEST_NODES, MOST_NODES))
        some = evenly_spaced(len(states), most)
        nodes = Nodes.of(flt, states[some], drives[0], lengths[0])
        always = None if driven else nodes.moves(Drive(), 2)
        moves = [
            [nodes.moves(_drive(drive, t), t + 1) for t in range(1, length)] if always is None else always
            for length, drive in zip(lengths, drives, strict=True)
        ]
        return cls(*moments.at(nodes.states), nodes.start(), moves, neighbours_of(flt, states, some))

    def log_emissions(self, seen: FloatArray, changes: Changes, c: int) -> FloatArray:
        """Return log densities of column c of what is seen at the nodes, given changes, (B, T, n).

        All copies see the same, (T, q), or each of them something else, (B, T, q).
        """
        column = seen[..., c]
        found = np.zeros((len(changes.scale), column.shape[-1], len(self.start)))
        known = np.isfinite(column)
        off, log_spread = self.deviations(seen, changes, c)
        values = CONSTANT - log_spread[:, None] - 0.5 * (FREEDOM + 1.0) * np.log1p(off / FREEDOM)
        found[:, :, :-1] = np.where(known[..., None], values, 0.0)
        broad = broad_densities(column) if column.ndim == 1 else np.stack([*map(broad_densities, column)])
        found[:, :, -1] = np.where(known, broad, 0.0)
        return found

    def deviations(self, seen: FloatArray, changes: Changes, c: int) -> tuple[FloatArray, FloatArray]:
        """Return squared deviations from what is expected, in spreads (B, T, n), and logarithms of these (B, n)."""
        scale, shift = changes.scale[:, c, None], changes.shift[:, c, None]
        core = CORE * self.variances[:, c]
        expected = scale * self.means[:, c] + shift
        apart = np.nan_to_num(seen[..., c])[..., None] - expected[:, None]
        return apart**2 / (scale**2 * core)[:, None], np.log(scale) + 0.5 * np.log(core)

    def forward(self, sequence: int, logs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return filtered states (B, T, n), scaled likelihoods of the steps, and log densities of the steps (B, T)."""
        top = logs.max(axis=2, keepdims=True)
        likelihood = np.exp(logs - top)
        filtered, density = np.empty_like(likelihood), np.empty(logs.shape[:2])
        prior = np.broadcast_to(self.start, likelihood[:, 0].shape)
        for t in range(logs.shape[1]):
            if t:
                prior = filtered[:, t - 1] @ self._move(sequence, t)
            joint = prior * likelihood[:, t]
            density[:, t] = joint.sum(axis=1)
            filtered[:, t] = joint / density[:, t, None]
        return filtered, likelihood, np.log(density) + top[:, :, 0]

    def smooth(self, sequence: int, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of the nodes given all observations (B, T, n), and the steps' log densities."""
        filtered, likelihood, density = self.forward(sequence, logs)
        after = np.ones_like(filtered[:, 0])
        for t in range(logs.shape[1] - 1, -1, -1):
            filtered[:, t] *= after
            filtered[:, t] /= filtered[:, t].sum(axis=1, keepdims=True)
            if t:
                after = (likelihood[:, t] * after) @ self._move(sequence, t).T
                after /= after.max(axis=1, keepdims=True)
        return filtered, density

    def walks(self, sequence: int, length: int, copies: int, rng: np.random.Generator) -> IntArray:
        """Return nodes along walks that never leave the examples, (B, T)."""
        found = np.empty((copies, length), dtype=np.intp)
        count = len(self.start) - 1 if self.neighbours is None else len(self.neighbours)
        for t in range(length):
            chances = self._move(sequence, t)[found[:, t - 1]] if t else np.tile(self.start, (copies, 1))
            chances = chances[:, :count] + 1e-300  # if all moves lead away, it does not matter where to
            reached = np.cumsum(chances, axis=1)
            found[:, t] = (reached < rng.random((copies, 1)) * reached[:, -1:]).sum(axis=1)
        return found

    def _move(self, sequence: int, t: int) -> FloatArray:
        moves = self.moves[sequence]
        return moves if isinstance(moves, np.ndarray) else moves[t - 1]


class Nodes(NamedTuple):
    """States between which moves are simulated; the last state of the chain is none of them."""

    states: FloatArray
    kernel: Any
    """The kernel on states, on these."""
    motion: Any
    seed: int

    @classmethod
    def of(cls, flt: Any, states: FloatArray, drive: tuple[Any, Any], length: int) -> Self:
        """Return nodes at some examples, and beyond them where moves from there lead to."""
        kernel, motion = flt.state_kernel_, flt.host_motion()
        rng = np.random.default_rng(np.random.SeedSequence(flt.seed_, spawn_key=(2, 3)))
        reached, moved = [], states
        for t in range(1, min(HOPS + 1, length)):
            moved = np.asarray(motion.move(moved, _drive(drive, t), rng, t + 1), dtype=np.float64)
            reached.append(moved)
        ends = np.concatenate([states[:0], *reached])
        nearness = kernel.on_examples(states).log_against(ends).max(axis=0) if len(ends) else np.zeros(0)
        chosen: list[int] = []
        while len(chosen) < BEYOND and len(ends) and nearness.min() < APART:
            chosen.append(int(nearness.argmin()))  # the furthest first
            other = kernel.on_examples(ends[chosen[-1:]]).log_against(ends)[0]
            nearness = np.maximum(nearness, other)
        nodes = np.concatenate([states, ends[chosen]])
        return cls(nodes, kernel.on_examples(nodes), motion, flt.seed_)

    def nearest(self, states: Any) -> IntArray:
        """Return to which node each state is nearest."""
        return np.asarray(self.kernel.log_against(states).argmax(axis=0), dtype=np.intp)

    def start(self) -> FloatArray:
        """Return the probabilities at the first step."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(2, 0)))
        drawn = self.nearest(self.motion.draw(4 * len(self.states), rng))
        begins = np.bincount(drawn, minlength=len(self.states)) + 0.1
        return np.asarray(np.append((1.0 - LEAVE) * begins / begins.sum(), LEAVE), dtype=np.float64)

    def moves(self, drive: Drive, time: int) -> FloatArray:
        """Return the probabilities of moves, by simulation; with the same random numbers at every step."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(2, 1)))
        count = len(self.states)
        ends = self.nearest(self.motion.move(np.repeat(self.states, DRAWS, axis=0), drive, rng, time))
        places = np.repeat(np.arange(count), DRAWS) * (count + 1) + ends
        found = np.bincount(places, minlength=(count + 1) ** 2).reshape(count + 1, count + 1) * ((1.0 - LEAVE) / DRAWS)
        found[:-1, -1], found[-1, :-1], found[-1, -1] = LEAVE, (1.0 - STAY) / count, STAY
        return np.asarray(found, dtype=np.float64)


def neighbours_of(flt: Any, states: FloatArray, some: IntArray) -> list[IntArray]:
    """Return which examples are next to each of some of them; many may be at the same place."""
    nearness = flt.state_kernel_.on_examples(states[some]).log_against(states)
    least = np.sort(nearness, axis=1)[:, -min(NEIGHBOURS, len(states))]
    return [np.flatnonzero(row >= level) for row, level in zip(nearness, least, strict=True)]


def _drive(drive: tuple[Any, Any], t: int) -> Drive:
    controls, times = drive
    control = None if controls is None else controls[t]
    if times is None:
        return Drive(control)
    return Drive(control, float(times[t]) - float(times[t - 1]), float(times[t]))


def broad_densities(values: FloatArray) -> FloatArray:
    """Return log densities of numbers (T,) by a Student distribution with their own median and deviation.

    Examples
    --------
    >>> bool(broad_densities(np.arange(9.0)).argmax() == 4)
    True
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return np.zeros(len(values))
    centre = float(np.median(known))
    spread = max(BROAD * float(np.median(np.abs(known - centre))) / 0.741, 1e-12 + 1e-9 * abs(centre))
    off = ((np.nan_to_num(values) - centre) / spread) ** 2
    return np.asarray(CONSTANT - np.log(spread) - 0.5 * (FREEDOM + 1.0) * np.log1p(off / FREEDOM))
