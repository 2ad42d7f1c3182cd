"""Estimates that come some rows late, because they wait for the observations after them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from kmcf.filter import Belief
from kmcf.filter.backward.fixed_lag import FixedLag


class Answer(NamedTuple):
    """A belief, and what its row says besides."""

    belief: Belief
    time: float
    missed: int


class Delay:
    """Keeps the answers of one sequence until the observations after them have come.

    Parameters
    ----------
    late : FixedLag
        Before the first step.
    """

    def __init__(self, late: FixedLag) -> None:
        self._late = late
        self._waiting: deque[Answer] = deque()

    def after(self, answers: Iterable[Answer], control: object) -> list[Answer]:
        """Take in what the filter said, the last one driven by this control; return what can be said now."""
        said = []
        for answer in answers:
            self._late = self._late.after(answer.belief, control)
            self._waiting.append(answer)
            if self._late.smoothed is not None:
                said.append(self._waiting.popleft()._replace(belief=self._late.smoothed))
        return said

    def rest(self) -> list[Answer]:
        """Return what is left at the end of the sequence."""
        beliefs = self._late.rest()
        left = [answer._replace(belief=belief) for answer, belief in zip(self._waiting, beliefs, strict=True)]
        self._waiting.clear()
        return left
