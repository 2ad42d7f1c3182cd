"""Functions of the state whose expectations the compressed engine gives without forming the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kmcf.bayes_rule.tensors import pair_positions
from kmcf.numerics.arrays import FloatArray, array_namespace
from kmcf.numerics.objects import Objects, is_numeric

Function = Callable[[Any], Any]


class DeclaredFunctions:
    """The state's first two moments, and the functions that the user declared at fit.

    Moments are taken about the mean of the example states, so that covariances far from the origin keep their digits.

    Parameters
    ----------
    states : array or list
        The example states.
    angles : sequence of int
        Columns that are angles: their means are circular, and the covariance is left to the weights.
    functions : sequence of callables
        Each takes all n states and returns n values, or an array with first axis n.
    centre : array (d,), optional
        What moments are taken about, if it was chosen before.
    """

    def __init__(
        self,
        states: Objects,
        angles: Sequence[int],
        functions: Sequence[Function],
        centre: FloatArray | None = None,
    ) -> None:
        self.functions = tuple(functions)
        self.angles = tuple(angles)
        if centre is None and is_numeric(states):
            centre = np.asarray(states).reshape(len(states), -1).mean(axis=0)
        self.centre = centre
        self._shapes = [self._evaluate(f, states).shape[1:] for f in self.functions]

    @property
    def count(self) -> int:
        """K, the number of columns of :meth:`values`."""
        d, pairs, r = self._sizes()
        return d + pairs + 2 * r + sum(int(np.prod(shape)) for shape in self._shapes)

    def values(self, states: Objects) -> FloatArray:
        """Return the values of all functions at some states, one column each, (n, K)."""
        columns = [self._evaluate(f, states).reshape(len(states), -1) for f in self.functions]
        if self.centre is not None:
            rows = np.asarray(states).reshape(len(states), -1)
            deviations = rows - self.centre
            angles = rows[:, list(self.angles)]
            columns = [deviations, self._products(deviations), np.cos(angles), np.sin(angles), *columns]
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(states), 0))

    def mean(self, expectations: FloatArray) -> FloatArray | None:
        """Read the mean state off the expectations of all functions; None if states are objects."""
        if self.centre is None:
            return None
        d, pairs, r = self._sizes()
        mean = self.centre + expectations[:d]
        if not r:
            return mean
        cosines, sines = expectations[d + pairs : d + pairs + r], expectations[d + pairs + r : d + pairs + 2 * r]
        xp = array_namespace(expectations)
        position = np.array([self.angles.index(j) if j in self.angles else 0 for j in range(d)])
        return xp.where(np.isin(np.arange(d), self.angles), xp.arctan2(sines, cosines)[position], mean)

    def covariance(self, expectations: FloatArray) -> FloatArray | None:
        """Read off the centred covariance; None with angles, whose deviations wrap around a mean not yet known."""
        if self.centre is None or self.angles:
            return None
        d, pairs, _ = self._sizes()
        mean = expectations[:d]
        return expectations[d : d + pairs][pair_positions(d)] - mean[:, None] * mean[None, :]

    def value(self, function: Function, expectations: FloatArray) -> FloatArray | None:
        """Read off the expectation of one function; None if it was not declared."""
        if function not in self.functions:
            return None
        position = self.functions.index(function)
        widths = [int(np.prod(shape)) for shape in self._shapes]
        d, pairs, r = self._sizes()
        start = d + pairs + 2 * r + sum(widths[:position])
        return expectations[start : start + widths[position]].reshape(self._shapes[position])

    def _sizes(self) -> tuple[int, int, int]:
        d = 0 if self.centre is None else len(self.centre)
        return d, d * (d + 1) // 2, len(self.angles) if d else 0

    @staticmethod
    def _products(rows: FloatArray) -> FloatArray:
        first, second = np.triu_indices(rows.shape[1])
        return rows[:, first] * rows[:, second]

    @staticmethod
    def _evaluate(function: Function, states: Objects) -> FloatArray:
        values = np.asarray(function(states), dtype=np.float64)
        if values.ndim == 0 or len(values) != len(states):
            raise ValueError(
                f"a declared function returned an array of shape {values.shape} for {len(states)} states; its first "
                "axis must have one entry per state."
            )
        return values
