"""Collections that grow at the end without copying what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.objects import Objects


class Growing:
    """Objects with room to spare. Growing returns a new object; the old one keeps what it held.

    Arrays live in a buffer whose room is doubled when it runs out, so appending b rows costs O(b) on average, whatever
    the number of rows before. Lists are simply joined.

    Examples
    --------
    >>> few = Growing(np.array([[1.0], [2.0]]))
    >>> more = few.append(np.array([[3.0]]))
    >>> few.objects.ravel(), more.objects.ravel()
    (array([1., 2.]), array([1., 2., 3.]))
    """

    def __init__(self, objects: Objects) -> None:
        self._buffer: Any = objects
        self._tail = [len(objects)]  # where the next owner may write; shared by all objects on this buffer
        self.objects: Objects = objects
        """What is held; arrays are read-only."""
        if isinstance(objects, np.ndarray):
            objects.flags.writeable = False

    def append(self, objects: Objects) -> Growing:
        """Return a collection with some objects more."""
        if not isinstance(self.objects, np.ndarray):
            return Growing([*self.objects, *objects])
        start, stop = len(self.objects), len(self.objects) + len(objects)
        grown = Growing.__new__(Growing)
        room = self._buffer.flags.writeable and self._tail[0] == start and stop <= len(self._buffer)
        if room:
            grown._buffer, grown._tail = self._buffer, self._tail
        else:
            grown._buffer = np.empty((max(2 * start, stop), *self.objects.shape[1:]), dtype=self.objects.dtype)
            grown._buffer[:start] = self.objects
            grown._tail = [start]
        grown._buffer[start:stop] = objects
        grown._tail[0] = stop
        grown.objects = grown._buffer[:stop]
        grown.objects.flags.writeable = False
        return grown
