"""One thread for linear algebra on small matrices, where several mostly wait for each other.

Where other programs keep the cores busy, they wait long: a fit can take twice the time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

SMALL = 2000
"""Up to so many rows one thread is at least as fast."""


class _Limited:
    """How many parts of the program ask for one thread now; the last to end gives the others back."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asking = 0
        self._limits: threadpool_limits | None = None

    def begin(self) -> None:
        with self._lock:
            if self._asking == 0:
                self._limits = threadpool_limits(limits=1, user_api="blas")
            self._asking += 1

    def end(self) -> None:
        with self._lock:
            self._asking -= 1
            if self._asking == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_LIMITED = _Limited()


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
    _LIMITED.begin()
    try:
        yield
    finally:
        _LIMITED.end()
