"""Recorded moves, and the search for those that began near given states."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace, positive_or_one

APART = 10
"""Moves so many rows before and after one are its own past and future, and say little about others."""


class Moves:
    """Recorded moves: where they began, what they were, how long they took.

    Parameters
    ----------
    states : array (n, d)
        Where they began.
    moves : array (n, d)
        By how much each column changed.
    durations : array (n,), optional
        How long they took. None: all equally long, and times do not count.
    angles : tuple of int
        Columns that are angles.

    Examples
    --------
    >>> known = Moves(np.array([[0.0], [1.0], [9.0]]), np.array([[1.0], [2.0], [3.0]]))
    >>> known.nearest(np.array([[8.0]]), 1.0, 2)
    array([[2, 1]])
    """

    def __init__(
        self, states: FloatArray, moves: FloatArray, durations: FloatArray | None = None, angles: tuple[int, ...] = ()
    ) -> None:
        if states.shape != moves.shape or not len(states):
            raise ValueError(f"states have the shape {states.shape} and moves {moves.shape}; they must be alike.")
        self.states, self.moves = states, moves
        self._angles = [column % states.shape[1] for column in angles]
        self._straight = [column for column in range(states.shape[1]) if column not in self._angles]
        self._times = np.ones(len(states)) if durations is None else durations
        self._timed = durations is not None and bool(np.ptp(durations) > 0)
        features = self._features(states)
        variances = features.var(axis=0)
        for k in range(len(self._angles)):  # a cosine and its sine have one scale: the circle stays round
            pair = [len(self._straight) + k, len(self._straight) + len(self._angles) + k]
            variances[pair] = variances[pair].sum()
        self._scale = positive_or_one(np.sqrt(variances))
        self._rows = features / self._scale
        if self._timed:
            self._rows = np.concatenate([self._rows, np.log(self._times)[:, None]], axis=1)
        self._tree: Any = None

    def stretched(self, time: Any) -> Any:
        """Return by how much moves are stretched over a time: 1 if it is among the recorded ones."""
        return time / array_namespace(time).clip(time, self._times.min(), self._times.max())

    def nearest(self, states: Array, time: Any, count: int) -> Array:
        """Return which moves began nearest to each state and took about that time, (m, count), or all if fewer."""
        count = min(count, len(self.states))
        xp = array_namespace(states, time)
        rows = self._features(states) / self._scale
        if self._timed:
            log = xp.log(xp.clip(time, self._times.min(), self._times.max()))
            rows = xp.concatenate([rows, xp.broadcast_to(log, (len(rows), 1))], axis=1)
        if xp is not np:
            products = rows @ xp.asarray(self._rows).T
            closer = products - 0.5 * xp.asarray((self._rows**2).sum(axis=1))
            return xp.argpartition(-closer, count - 1, axis=1)[:, :count]
        return self._found(np.ascontiguousarray(rows, dtype=np.float64), count)

    def nearest_recorded(self, count: int) -> IntArray:
        """Return which moves began nearest to each recorded one, itself among them, (n, count), or all if fewer."""
        return self._found(np.ascontiguousarray(self._rows), min(count, len(self.states)))

    def _found(self, rows: FloatArray, count: int) -> IntArray:
        if not np.isfinite(rows).all():
            raise ValueError("states contain NaN or infinity, so that no recorded state is near them.")
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(self._rows)
        # Particles are often copies of a few states, and to tell these takes less time than to search for all.
        keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        _, found = self._tree.query(rows[first], k=range(1, count + 1))
        return np.asarray(found[place.reshape(-1)], dtype=np.intp)

    def _features(self, states: Array) -> Array:
        """Return states with angles on the circle."""
        if not self._angles:
            return states
        xp = array_namespace(states)
        turned = states[:, self._angles]
        return xp.concatenate([states[:, self._straight], xp.cos(turned), xp.sin(turned)], axis=1)


def neighbours_left_out(known: Moves, count: int) -> IntArray:
    """Return for each recorded move the nearest others, not those shortly before and after it, (n, count).

    Examples
    --------
    >>> states = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> neighbours_left_out(Moves(states, states), 1).ravel()
    array([2, 3, 0, 1])
    """
    size = len(known.states)
    apart = min(APART, max(0, (size - 1 - count) // 2))
    count = min(count, size - 1)
    found = known.nearest_recorded(count + 2 * apart + 1)
    near = np.abs(found - np.arange(size)[:, None]) <= apart
    order = np.argsort(near, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(found, order, axis=1)
