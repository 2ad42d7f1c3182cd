"""How long the parts of a long computation take, and who is told when one is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from kmcf.support.extras import progress_bar

SLOW_SECONDS = 3.0
_told: ContextVar[Callable[[], object] | None] = ContextVar("told", default=None)


class Phases:
    """Seconds by name of the part.

    Examples
    --------
    >>> phases = Phases()
    >>> with phases("nothing"):
    ...     pass
    >>> list(phases.seconds)
    ['nothing']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure a part; a second one of the same name is added to the first."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
        told = _told.get()
        if told is not None:
            told()


@contextmanager
def bar_if_slow(total: int, description: str, *, show: bool) -> Iterator[None]:
    """Show a progress bar over the parts that are measured meanwhile, if they take longer than three seconds.

    Examples
    --------
    >>> with bar_if_slow(2, "fitting", show=False):
    ...     pass
    """
    with progress_bar(total, description, show=show, unit="part", delay=SLOW_SECONDS) as advance:
        token = _told.set(advance)
        try:
            yield
        finally:
            _told.reset(token)
