"""One line per step of a run: gathered as the beliefs come by, completed on demand where that takes the weights."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from kmcf.filter.belief import Belief
from kmcf.objects import is_numeric

SCALARS = (
    "ess",
    "weight_sum",
    "negative_mass",
    "herding_loss",
    "coverage",
    "observation_coverage",
    "state_coverage",
    "rejected",
    "missing",
)
NAMES = ("time", "mean", "covariance", "mode", *SCALARS)
AT_ONCE = 512


class Summaries:
    """The summary columns of one sequence.

    Engines that do not form weights leave some entries open (the mode, say); the first use of such a column forms the
    weights of all those steps together, block by block, and fills every open entry.
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in NAMES}
        self._open: dict[int, Belief] = {}
        self._arrays: dict[str, Any] = {}

    def add(self, belief: Belief) -> None:
        """Append the summary of one more belief."""
        position = len(self._columns["time"])
        if belief.lazy is not None:
            self._open[position] = copy.copy(belief)  # the user may form the weights of the original
        for name, value in _summary(belief).items():
            self._columns[name].append(value)

    def column(self, name: str) -> Any:
        """Return a column as an array; a list where its entries are objects, None where it is not defined."""
        if name not in self._arrays:
            values = self._columns[name]
            if self._open and any(value is None for value in values):
                self._complete()
            numeric = name != "mode" or self._columns["mean"][0] is not None
            self._arrays[name] = None if values[0] is None else np.array(values) if numeric else values
        return self._arrays[name]

    def _complete(self) -> None:
        """Fill the open entries."""
        positions = list(self._open)
        for start in range(0, len(positions), AT_ONCE):
            some = positions[start : start + AT_ONCE]
            self._complete_some(some)
            for position in some:
                del self._open[position]  # with the weights that were formed on the way

    def _complete_some(self, positions: list[int]) -> None:
        beliefs = [self._open[position] for position in positions]
        recipes = [belief.lazy for belief in beliefs]
        assert recipes[0] is not None
        found = recipes[0].summarise(recipes)
        for k, (position, belief) in enumerate(zip(positions, beliefs, strict=True)):
            entries = {
                "ess": 1.0 / float(found.sum_of_squares[k]),
                "negative_mass": float(found.negative_mass[k]),
                "mode": belief.states[int(found.largest[k])],
            }
            if self._columns["covariance"][position] is None and is_numeric(belief.states):
                entries["covariance"] = belief.covariance()
            for name, value in entries.items():
                if self._columns[name][position] is None:
                    self._columns[name][position] = value


def summarise(beliefs: Iterable[Belief], *, keep: bool) -> tuple[Summaries, tuple[Belief, ...] | None]:
    """Run through beliefs as they are made; return their summaries, and the beliefs themselves if ``keep``."""
    summaries = Summaries()
    kept: list[Belief] = []
    for belief in beliefs:
        summaries.add(belief)
        if keep:
            kept.append(belief)
    return summaries, tuple(kept) if keep else None


def _summary(belief: Belief) -> dict[str, Any]:
    """Say what is known of a belief without forming its weights; None for the rest."""
    known = _from_recipe(belief) if belief.lazy is not None else _from_weights(belief)
    report = {name: getattr(belief.report, name) for name in SCALARS if hasattr(belief.report, name)}
    return {"time": belief.time, **known, **report}


def _from_weights(belief: Belief) -> dict[str, Any]:
    numeric = is_numeric(belief.states)
    return {
        "mean": belief.mean() if numeric else None,
        "covariance": belief.covariance() if numeric else None,
        "mode": belief.mode(),
        "ess": belief.ess,
        "negative_mass": belief.negative_mass,
    }


def _from_recipe(belief: Belief) -> dict[str, Any]:
    recipe = belief.lazy
    assert recipe is not None
    mean, squares = recipe.mean(), recipe.sum_of_squares()
    return {
        "mean": None if mean is None else mean.reshape(belief.states.shape[1:]),
        "covariance": recipe.covariance(),
        "mode": None,
        "ess": None if squares is None else 1.0 / squares,
        "negative_mass": None,
    }
