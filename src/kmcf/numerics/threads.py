"""One thread for linear algebra on small matrices, where several mostly wait for each other.

Where other programs keep the cores busy, they wait long: a fit can take twice the time.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from weakref import WeakSet

from threadpoolctl import threadpool_limits

from kmcf.numerics.interrupts import uninterrupted

SMALL = 2000
"""Up to so many rows one thread is at least as fast."""


class _Part:
    """A part of the program that asks for one thread."""

    def __init__(self) -> None:
        self.thread = get_ident()


class _Limited:
    """Which parts of the program ask for one thread now; when the last one ends, the others come back.

    Parts are known by weak references only: one that Ctrl-C kept from ending is found gone by the next.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a part that was forgotten may end while another one begins
        self._asking: WeakSet[_Part] = WeakSet()
        self._limits: threadpool_limits | None = None

    def begin(self, part: _Part) -> None:
        """Count a part, and limit the threads if it is the only one."""
        with self._lock:
            self._settle()
            if self._limits is None:
                with uninterrupted():  # nobody else knows how many there were
                    self._limits = threadpool_limits(limits=1, user_api="blas")
            self._asking.add(part)

    def end(self, part: _Part) -> None:
        """Count a part no more, also one that Ctrl-C kept from beginning."""
        with self._lock:
            self._asking.discard(part)
            self._settle()

    def after_fork(self) -> None:
        """Forget the parts in threads that the new process does not have, and a lock that one of these may hold."""
        self._lock = RLock()
        self._asking = WeakSet(part for part in self._asking if part.thread == get_ident())

    def _settle(self) -> None:
        if not self._asking and self._limits is not None:
            self._limits.restore_original_limits()
            self._limits = None


_LIMITED = _Limited()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMITED.after_fork)


@contextmanager
def one_thread(rows: int = 0) -> Iterator[None]:
    """Use one thread for linear algebra inside, unless the matrices have many rows.

    Parameters
    ----------
    rows : int
        How many they have; with more than ``SMALL`` nothing changes.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     product = np.eye(2) @ np.ones((2, 1))
    """
    if rows > SMALL:
        yield
        return
    part = _Part()
    try:
        _LIMITED.begin(part)
        yield
    finally:
        _LIMITED.end(part)
