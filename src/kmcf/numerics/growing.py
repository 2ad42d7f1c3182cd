"""Collections that grow at the end without copying what they hold."""

from __future__ import annotations

import numpy as np

from kmcf.numerics.arrays import Array
from kmcf.numerics.objects import Objects


class _Buffer:
    """Rows with room for more behind them, shared by all collections that hold its first rows."""

    def __init__(self, rows: Array, room: int) -> None:
        self.rows = np.empty((room, *rows.shape[1:]), dtype=rows.dtype)
        self.rows[: len(rows)] = rows
        self.used = len(rows)

    def has_room(self, start: int, stop: int) -> bool:
        """Return whether nobody has written behind row ``start`` yet, and there are ``stop`` rows."""
        return self.used == start and stop <= len(self.rows)

    def write(self, rows: Array, stop: int) -> Array:
        """Write rows behind those in use, up to row ``stop``; return all rows up to there."""
        self.rows[self.used : stop] = rows
        self.used = stop
        return self.rows[:stop]


class Growing:
    """Objects with room to spare. Growing returns a new object; the old one keeps what it held.

    Arrays live in a buffer whose room doubles when it runs out, so that appending b rows costs O(b) on average, however
    many there are already. Lists are simply joined.

    Parameters
    ----------
    objects : array (n, ...) or list of n objects
        What is held; an array becomes read-only.
    buffer : _Buffer, optional
        Where these rows lie, if there is room behind them.

    Examples
    --------
    >>> few = Growing(np.array([[1.0], [2.0]]))
    >>> more = few.append(np.array([[3.0]]))
    >>> few.objects.ravel(), more.objects.ravel()
    (array([1., 2.]), array([1., 2., 3.]))
    """

    def __init__(self, objects: Objects, buffer: _Buffer | None = None) -> None:
        self.objects: Objects = objects
        """What is held; arrays are read-only."""
        self._buffer = buffer
        if isinstance(objects, np.ndarray):
            objects.flags.writeable = False

    def append(self, objects: Objects) -> Growing:
        """Return a collection with further objects at its end."""
        if not isinstance(self.objects, np.ndarray):
            return Growing([*self.objects, *objects])
        start, stop = len(self.objects), len(self.objects) + len(objects)
        buffer = self._buffer
        if buffer is None or not buffer.has_room(start, stop):
            buffer = _Buffer(self.objects, max(2 * start, stop))
        return Growing(buffer.write(objects, stop), buffer)
