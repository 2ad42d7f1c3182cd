"""The search for the change that makes observations most probable, by EM on a chain of examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kmcf.adaptation.affine import LEAST_SCALE, MOST_SCALE, matched_change
from kmcf.adaptation.chain_likelihood import Likelihood
from kmcf.adaptation.example_chain import Changes
from kmcf.numerics.arrays import FloatArray, positive_or_one

CYCLES = 5
"""So often EM is extrapolated: it is slow where the states follow whatever is seen."""
MOST_HASTE = 64.0
"""By no more than so many steps at once."""
MOST_COLUMNS = 4
"""So many single columns can be found shifted."""


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """Searches for changes, for each copy of the data."""

    likelihood: Likelihood
    examples: FloatArray

    @cached_property
    def unit(self) -> FloatArray:
        """What shifts are measured in, (q,)."""
        spread = self.examples.std(axis=0)
        return positive_or_one(spread)

    def climb(self, start: Changes, *, scaled: bool, pivot: Any = None) -> tuple[Changes, FloatArray]:
        """Return what EM leads to, by squared extrapolation (SQUAREM) that does not lower the likelihood; and this."""
        likelihood, columns = self.likelihood, range(len(self.unit))

        def better(changes: Changes) -> tuple[Changes, FloatArray]:
            states, total = likelihood.states(likelihood.emissions(changes))
            return likelihood.improved(changes, states, columns, scaled=scaled, pivot=pivot), total

        now = start
        for _ in range(CYCLES):
            first, _ = better(now)
            second, level = better(first)
            beyond, reached = better(self._extrapolated(now, first, second))
            now = beyond.where(reached >= level, second)
        return now, likelihood.total(likelihood.emissions(now))

    def _extrapolated(self, zero: Changes, one: Changes, two: Changes) -> Changes:
        places = [np.stack([np.log(each.scale), each.shift / self.unit]) for each in (zero, one, two)]
        step, bend = places[1] - places[0], places[2] - 2.0 * places[1] + places[0]
        lengths = [np.sqrt((part**2).sum(axis=(0, 2))) for part in (step, bend)]
        haste = np.clip(lengths[0] / np.maximum(lengths[1], 1e-12), 1.0, MOST_HASTE)[:, None]
        found = places[0] + 2.0 * haste * step + haste**2 * bend
        return Changes(np.clip(np.exp(found[0]), LEAST_SCALE, MOST_SCALE), found[1] * self.unit)

    @cached_property
    def matched(self) -> tuple[Changes, Changes]:
        """The changes that make medians those of the examples, and medians with mean deviations."""
        tables, counted = np.concatenate(self.likelihood.seen, axis=-2), np.concatenate(self.likelihood.counted, axis=1)
        tables = np.broadcast_to(tables, (*counted.shape, tables.shape[-1]))
        found = []
        for scaled in (False, True):
            parts = [
                matched_change(table[use > 0], self.examples, scaled=scaled)
                for table, use in zip(tables, counted, strict=True)
            ]
            found.append(Changes(np.stack([one.scale for one in parts]), np.stack([one.shift for one in parts])))
        return found[0], found[1]

    def of_gain(self) -> Changes:
        """Multiply all columns, as a changed gain does: what was zero stays so."""
        none = self.likelihood.none
        found, total = self.climb(none, scaled=True, pivot=(none.shift, none.shift))
        start = Changes(self.matched[1].scale, none.shift)
        other, level = self.climb(start, scaled=True, pivot=(none.shift, none.shift))
        return other.where(level > total, found)

    def of_all(self, *, scaled: bool) -> Changes:
        """Change all columns; from no change and from the medians, whichever becomes more probable."""
        found, total = self.climb(self.likelihood.none, scaled=scaled)
        other, level = self.climb(self.matched[int(scaled)], scaled=scaled)
        return other.where(level > total, found)

    def of_some(self) -> Changes:
        """Shift single columns: always the one whose shift, seen from the other columns, gains most.

        Each has to gain half the logarithm of the number of steps (the Bayesian information criterion).
        """
        likelihood, width = self.likelihood, len(self.unit)
        changes = likelihood.none
        emissions = likelihood.emissions(changes)
        total = likelihood.total(emissions)
        cost = 0.5 * np.log(sum(seen.shape[-2] for seen in likelihood.seen))
        chosen = np.zeros((len(total), width), dtype=bool)
        for _ in range(min(MOST_COLUMNS, width // 2)):
            tried = [self._seen_from_others(changes, emissions, c) for c in range(width)]
            levels = np.where(chosen, -np.inf, np.stack([level for _, level in tried], axis=1))
            which, taken = levels.argmax(axis=1), levels.max(axis=1) > total + cost
            if not taken.any():
                break
            for c in range(width):
                changes = tried[c][0].where(taken & (which == c), changes)
            chosen[np.arange(len(total)), which] |= taken
            emissions = likelihood.emissions(changes)
            total = np.where(taken, levels.max(axis=1), total)
        return changes

    def _seen_from_others(
        self, changes: Changes, emissions: Sequence[FloatArray], c: int
    ) -> tuple[Changes, FloatArray]:
        """Return changes with a shift of column c that the states show which the other columns see; and the total."""
        likelihood = self.likelihood
        others = [all_ - one for all_, one in zip(emissions, likelihood.emissions(changes, [c]), strict=True)]
        states, _ = likelihood.states(others)
        for _ in range(3):  # weights of Student distributions follow the shift
            changes = likelihood.improved(changes, states, [c], scaled=False)
        own = likelihood.emissions(changes, [c])
        return changes, likelihood.total([rest + one for rest, one in zip(others, own, strict=True)])


WAYS: dict[str, Callable[[ChangeSearch], Changes]] = {
    "shift of some columns": ChangeSearch.of_some,
    "gain": ChangeSearch.of_gain,
    "shift": lambda search: search.of_all(scaled=False),
    "shift and scale": lambda search: search.of_all(scaled=True),
}
"""The ways to estimate a change that compete, the simplest first."""


def search_changes(search: ChangeSearch) -> dict[str, Changes]:
    """Return what each way finds; shifts of some columns only where there are several."""
    several = len(search.unit) > 1
    return {name: way(search) for name, way in WAYS.items() if several or "some" not in name}
