"""Ctrl-C: recognised behind the errors that compiled code makes of it, and kept waiting where something must be whole.

Python delivers Ctrl-C between two of its own instructions. Where that happens inside the call of a compiled function,
Numba reports a ``SystemError`` that was caused by the ``KeyboardInterrupt``; whoever catches exceptions would then take
it for a failure and go on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def was_interrupted(error: BaseException) -> bool:
    """Say whether Ctrl-C is behind an error.

    Examples
    --------
    >>> was_interrupted(KeyboardInterrupt()), was_interrupted(ValueError())
    (True, False)
    """
    return isinstance(error, KeyboardInterrupt) or (error.__cause__ is not None and was_interrupted(error.__cause__))


@contextmanager
def honoured() -> Iterator[None]:
    """Turn errors that were caused by Ctrl-C back into Ctrl-C.

    Examples
    --------
    >>> try:
    ...     with honoured():
    ...         raise SystemError from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     print("stopped")
    stopped
    """
    try:
        yield
    except Exception as error:
        if not was_interrupted(error):
            raise
        stop = KeyboardInterrupt()
        for note in getattr(error, "__notes__", ()):
            stop.add_note(note)
        raise stop from error


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Make Ctrl-C wait until the block is done; a second one does not wait."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[FrameType | None] = []

    def remember(number: int, frame: FrameType | None) -> None:
        if came:
            before(number, frame)
        came.append(frame)

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(signal.SIGINT, came[0])
