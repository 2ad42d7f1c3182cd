"""What is done to one chunk where it lies, block by block, so that a worker holds little besides the chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule.declared import DeclaredFunctions
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.tensors import Tensors
from kmcf.distributed.chunks import as_rows
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.circles import wrapped_columns

BLOCK = 20_000
"""Rows that are worked on at a time."""


class Missed(NamedTuple):
    """The rows that the pivots miss most."""

    sizes: FloatArray
    """How much they miss, relative to what is usual."""
    numbers: IntArray
    states: FloatArray
    observations: FloatArray


@dataclass(frozen=True)
class Work:
    """What the workers need to know of the fit so far."""

    states: KernelFeatures
    observations: KernelFeatures
    declared: DeclaredFunctions
    angles: tuple[int, ...]
    usual: tuple[float, float]
    """What the pivots miss at most of the sample's states and observations."""
    squares: bool
    """Whether to add up the tensor of Σ w²."""
    most: int = 0
    """How many rows a search for missed ones returns at most."""

    def sums(self, _offset: int, states: Any, observations: Any) -> Tensors:
        """Add up the tensors of a chunk."""
        total = None
        for x, y, _ in self._blocks(states, observations):
            U, V = self.states.of_many(x)[0], self.observations.of_many(y)[0]
            part = Tensors.of(U, V, self.declared.values(x), squares=self.squares)
            total = part if total is None else total + part
        return self._nothing() if total is None else total

    def missed(self, offset: int, states: Any, observations: Any) -> Missed:
        """Return the rows of a chunk that the pivots miss by more than is usual."""
        found = [self._empty(states, observations)]
        for x, y, first in self._blocks(states, observations):
            ratios = [
                features.of_many(rows)[2] / usual
                for features, rows, usual in zip((self.states, self.observations), (x, y), self.usual, strict=True)
            ]
            sizes = np.maximum(*ratios)
            rows = np.flatnonzero(sizes > 1.0)
            found.append(Missed(sizes[rows], offset + first + rows, x[rows], y[rows]))
            found = [most_missed(*found, most=self.most)]
        return found[0]

    def join_missed(self, *parts: Missed) -> Missed:
        """Return the rows that are missed most, of several chunks."""
        return most_missed(*parts, most=self.most)

    def _blocks(self, states: Any, observations: Any) -> Any:
        x, y = wrapped_columns(as_rows(states), self.angles), as_rows(observations)
        for first in range(0, len(x), BLOCK):
            yield x[first : first + BLOCK], y[first : first + BLOCK], first

    def _nothing(self) -> Tensors:
        p, q, K = self.states.rank, self.observations.rank, self.declared.count
        return Tensors.of(np.zeros((0, p)), np.zeros((0, q)), np.zeros((0, K)), squares=self.squares)

    @staticmethod
    def _empty(states: Any, observations: Any) -> Missed:
        return Missed(np.zeros(0), np.zeros(0, np.intp), as_rows(states)[:0], as_rows(observations)[:0])


def add_up(*parts: Tensors) -> Tensors:
    """Add several tensors, in order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def most_missed(*parts: Missed, most: int) -> Missed:
    """Return the rows of several parts that are missed most; of equals, the first."""
    sizes, numbers, states, observations = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.lexsort((numbers, -sizes))[:most]
    return Missed(sizes[kept], numbers[kept], states[kept], observations[kept])
