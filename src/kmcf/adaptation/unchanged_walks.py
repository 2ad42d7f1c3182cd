"""How much a change seems to gain where there is none: walks over the examples, with what was observed there.

The chain's sensor is a Student distribution by column. Where the real one is something else (folded, dependent columns,
another shape of noise) a change can make unchanged observations more probable, and on all blocks alike. So the gain is
compared with that of the same search on walks: moves of the chain, with what was observed at the examples on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcf.adaptation.chain_likelihood import Likelihood
from kmcf.adaptation.change_search import WAYS, ChangeSearch
from kmcf.numerics.arrays import FloatArray

WALKS = 20
"""So many walks: what is like them gains more than all of them with a chance of less than one in twenty."""
AT_ONCE = 5
"""They are searched so many at a time, and no more of them once one gains as much."""


@dataclass(frozen=True, eq=False)
class UnchangedWalks:
    """Walks as long as the sequences, over the examples."""

    likelihood: Likelihood
    """Of the observations that were made."""
    examples: FloatArray
    """What was observed at the examples, (n, q)."""
    seed: int

    def gain_as_much(self, way: str, gain: float) -> bool:
        """Say whether walks gain as much as was gained, by the same way to change.

        All walks go over the same n examples, which are a sample themselves: a new run of T steps differs from them by
        more than they do from each other, √(1 + T/n) times as much for a mean.
        """
        found: list[float] = []
        for part in range(WALKS // AT_ONCE):
            found += self.gains(way, part).tolist()
            if max(found) >= gain:
                return True
        steps = sum(len(one) for one in self.likelihood.seen)
        wider = np.sqrt(1.0 + steps / len(self.examples))
        return bool(np.mean(found) + wider * (max(found) - np.mean(found)) >= gain)

    def gains(self, way: str, part: int = 0) -> FloatArray:
        """Return how much more probable the change that a way finds makes some of the walks, (AT_ONCE,)."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(2, 2, part)))
        chain = self.likelihood.chain
        near = chain.neighbours or [np.array([node]) for node in range(len(self.examples))]
        seen = []
        for number, made in enumerate(self.likelihood.seen):
            # One of the examples next to a node, by chance: walks come to the same node again and again.
            nodes = chain.walks(number, len(made), AT_ONCE, rng)
            rows = self.examples[[[rng.choice(near[node]) for node in walk] for walk in nodes]]
            seen.append(np.where(np.isfinite(made), rows, np.nan))  # with the same gaps
        likelihood = Likelihood(chain, seen, [np.ones(rows.shape[:2]) for rows in seen])
        found = WAYS[way](ChangeSearch(likelihood, self.examples))
        return likelihood.total(likelihood.emissions(found)) - likelihood.total(likelihood.emissions(likelihood.none))
