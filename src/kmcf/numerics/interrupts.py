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


class _Honoured:
    """What :func:`honoured` returns; a class, since every step of a filter passes through it several times."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if not isinstance(error, Exception) or not was_interrupted(error):
            return
        stop = KeyboardInterrupt()
        for note in getattr(error, "__notes__", ()):
            stop.add_note(note)
        raise stop from error


def honoured() -> _Honoured:
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
    return _Honoured()


_came: list[int] = []
"""Signals that came inside :func:`noticed`."""


@contextmanager
def noticed() -> Iterator[None]:
    """Remember Ctrl-C inside the block, so that :func:`raise_if_lost` can honour it where it was lost.

    Python prints and forgets what is raised where nobody can catch it: in a function that compiled code calls back
    (looking for the libraries whose threads are to be limited is one), or while an object is deleted.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def remember(number: int, frame: FrameType | None) -> None:
        _came.append(number)
        signal.default_int_handler(number, frame)

    _came.clear()
    signal.signal(signal.SIGINT, remember)
    try:
        yield
        raise_if_lost()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _came.clear()


def raise_if_lost() -> None:
    """Raise ``KeyboardInterrupt`` if Ctrl-C came inside :func:`noticed` and the program still goes on."""
    if _came and threading.current_thread() is threading.main_thread():
        _came.clear()
        raise KeyboardInterrupt


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
