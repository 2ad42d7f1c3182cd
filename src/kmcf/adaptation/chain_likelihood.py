"""How probable affine changes make sequences, by a chain of examples; and EM with its smoothed states as labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.adaptation.affine import CORE, FREEDOM, LEAST_SCALE, MOST_SCALE
from kmcf.adaptation.example_chain import Changes, ExampleChain
from kmcf.numerics.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Sequences, and how probable changes make them: several copies, of which different steps count."""

    chain: ExampleChain
    seen: Sequence[FloatArray]
    """By sequence, (T, q); or (B, T, q), where each copy sees something else."""
    counted: Sequence[FloatArray]
    """By sequence, which steps changes are estimated from, (B, T), 0 or 1; the others only help to find the states."""

    @property
    def none(self) -> Changes:
        """No change, in any copy."""
        return Changes.none(len(self.counted[0]), self.seen[0].shape[-1])

    def emissions(self, changes: Changes, columns: Sequence[int] | None = None) -> list[FloatArray]:
        """Return log densities at the nodes, summed over columns, by sequence (B, T, n)."""
        columns = range(changes.scale.shape[1]) if columns is None else columns
        parts = []
        for seen in self.seen:
            part = self.chain.log_emissions(seen, changes, columns[0])
            for c in columns[1:]:
                part += self.chain.log_emissions(seen, changes, c)
            parts.append(part)
        return parts

    def steps(self, emissions: Sequence[FloatArray]) -> FloatArray:
        """Return log densities of all steps given those before, one sequence after the other, (B, T)."""
        return np.concatenate([self.chain.forward(s, logs)[2] for s, logs in enumerate(emissions)], axis=1)

    def total(self, emissions: Sequence[FloatArray]) -> FloatArray:
        """Return the log density of the steps that count, by copy, (B,)."""
        return np.asarray((self.steps(emissions) * np.concatenate(self.counted, axis=1)).sum(axis=1))

    def states(self, emissions: Sequence[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
        """Return smoothed states by sequence (B, T, n), and the log density of the steps that count, (B,)."""
        total = np.zeros(len(self.counted[0]))
        states = []
        for s, (logs, use) in enumerate(zip(emissions, self.counted, strict=True)):
            found, density = self.chain.smooth(s, logs)
            states.append(found)
            total += (density * use).sum(axis=1)
        return states, total

    def improved(
        self, changes: Changes, states: Sequence[FloatArray], columns: Sequence[int], *, scaled: bool,
        pivot: tuple[FloatArray, FloatArray] | None = None,
    ) -> Changes:  # fmt: skip
        """Return more probable changes of some columns, given states: a step of EM for Student distributions.

        With y = a m + b + a √v ε, the shift b is a weighted mean, and the scale a solves n a² + S_ym a − S_yy = 0.

        Parameters
        ----------
        changes : Changes
            The present ones.
        states : list of arrays (B, T, n)
            How probable each node is, by sequence.
        columns : sequence of int
            Whose changes are estimated.
        scaled : bool
            Whether scales are, too.
        pivot : pair of arrays (B, q) and (B, q) or (q,), optional
            What is seen now where the old sensor showed the other: then only scales are estimated, about this.
        """
        scale, shift = changes.scale.copy(), changes.shift.copy()
        for c in columns:
            sums = [
                self._sums(part, seen, changes, c, use)
                for part, seen, use in zip(states, self.seen, self.counted, strict=True)
            ]
            count, weight, y, m, ym, yy = np.sum(sums, axis=0)
            heard = weight > 0
            safe = np.where(heard, weight, 1.0)
            now, old = (y / safe, m / safe) if pivot is None else (pivot[0][:, c], pivot[1][..., c])
            if scaled:
                product = ym - y * old - m * now + weight * now * old
                square = np.maximum(yy - 2.0 * y * now + weight * now**2, 0.0)
                count = np.maximum(count, 1e-12)
                root = (-product + np.sqrt(product**2 + 4.0 * count * square)) / (2.0 * count)
                scale[:, c] = np.where(heard, np.clip(root, LEAST_SCALE, MOST_SCALE), scale[:, c])
            shift[:, c] = np.where(heard, now - scale[:, c] * old, shift[:, c])
        return Changes(scale, shift)

    def _sums(self, states: FloatArray, seen: FloatArray, changes: Changes, c: int, use: FloatArray) -> FloatArray:
        """Return the count, and weighted sums over steps and nodes of 1, y, m, y m and y², (6, B)."""
        chain = self.chain
        off, _ = chain.deviations(seen, changes, c)
        known = np.isfinite(seen[..., c]) * use
        y = np.broadcast_to(np.nan_to_num(seen[..., c]), known.shape)
        weights = states[:, :, :-1] * known[:, :, None] * (FREEDOM + 1.0) / (FREEDOM + off)
        weights /= CORE * chain.variances[:, c]
        by_step, by_mean = weights.sum(axis=2), weights @ chain.means[:, c]
        inside = (states[:, :, :-1].sum(axis=2) * known).sum(axis=1)
        return np.stack([
            inside, by_step.sum(axis=1), (by_step * y).sum(axis=1), by_mean.sum(axis=1), (by_mean * y).sum(axis=1),
            (by_step * y**2).sum(axis=1),
        ])  # fmt: skip
