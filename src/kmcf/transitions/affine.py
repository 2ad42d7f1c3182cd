"""Affine maps with normal noise, and what comes of making the same one several times."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import Array, array_namespace

_MOST_BITS = 20
"""Compiled code, which cannot see how many repetitions there are, allows for fewer than two to this power."""


class Affine(NamedTuple):
    """The map x → A x + c with noise of covariance Q."""

    matrix: Array
    """A, (d, d)."""
    shift: Array
    """c, (1, d), or one row for each of m states, (m, d)."""
    covariance: Array
    """Q, (d, d)."""

    def mean(self, states: Array) -> Array:
        """Return A x + c for each row x."""
        xp = array_namespace(states, *self)
        return states @ xp.asarray(self.matrix).T + xp.asarray(self.shift)

    def after(self, first: Affine) -> Affine:
        """Return the map that makes ``first`` and then this one."""
        spread = self.matrix @ first.covariance @ self.matrix.T + self.covariance
        return Affine(self.matrix @ first.matrix, first.shift @ self.matrix.T + self.shift, spread)

    def repeated(self, count: Any) -> Affine:
        """Return the map made ``count`` ≥ 1 times, by repeated squaring.

        Examples
        --------
        >>> half = Affine(np.array([[0.5]]), np.array([[1.0]]), np.array([[1.0]]))
        >>> [part.item() for part in half.repeated(2)]
        [0.25, 1.5, 1.25]
        """
        xp = array_namespace(count)
        if xp is np:
            return self._repeated(int(count))
        power = Affine(*(xp.asarray(part) for part in self))
        width = power.matrix.shape[0]
        whole = Affine(xp.eye(width), xp.zeros_like(power.shift), xp.zeros((width, width)))
        for bit in range(_MOST_BITS):
            longer = power.after(whole)
            needed = (count >> bit) & 1
            whole = Affine(*(xp.where(needed, new, old) for new, old in zip(longer, whole, strict=True)))
            power = power.after(power)
        return whole

    def _repeated(self, count: int) -> Affine:
        power, whole = self, None
        while count:
            if count & 1:
                whole = power if whole is None else power.after(whole)
            count >>= 1
            power = power.after(power) if count else power
        assert whole is not None
        return whole
