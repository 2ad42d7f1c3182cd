"""Independent tasks on a cluster: results as they are finished, and a sentence when they can no longer be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import islice
from time import monotonic
from typing import Any, TypeVar

from kmcf.distributed.cluster import PATIENCE, lost
from kmcf.support.extras import require

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

AHEAD = 2
"""Tasks per thread of the cluster that are under way or wait there; the others are not even asked for yet."""
_LOOK = 2.0
"""Seconds after which to look whether the cluster is still there."""


def as_finished(
    client: Any, work: Callable[[Item], Outcome], items: Iterable[Item], *, patience: float = PATIENCE
) -> Iterator[tuple[Item, Outcome]]:
    """Do work on a cluster, and yield what comes of it as it is finished, in any order.

    A worker that dies costs time: others do its tasks again. An error of the work itself is raised here.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    work : callable
        From an item to its outcome. It travels to the workers, as do items and outcomes.
    items : iterable
        Read as workers become free.
    patience : float
        Seconds that a cluster may be without workers.

    Raises
    ------
    ConnectionError
        If the scheduler is gone, or all workers are.

    Examples
    --------
    >>> with connect(workers=2) as client:  # doctest: +SKIP
    ...     print(sorted(as_finished(client, abs, [-2, -1, 0])))
    [(-2, 2), (-1, 1), (0, 0)]
    """
    cluster, remaining = _Watched(client, patience), iter(items)
    under_way: dict[Any, Item] = {}  # forgetting a future tells the cluster that nobody waits for it
    while True:
        for item in islice(remaining, max(AHEAD * cluster.threads() - len(under_way), 0 if under_way else 1)):
            under_way[client.submit(work, item, pure=False)] = item
        if not under_way:
            return
        for future in cluster.finished(list(under_way)):
            item = under_way.pop(future)
            yield item, cluster.outcome(future, item)


class _Watched:
    """A cluster that is looked at from time to time."""

    def __init__(self, client: Any, patience: float) -> None:
        self.client, self.patience = client, patience
        self._distributed = require("distributed", "distributed")
        self.address = client.scheduler.address
        self._known, self._looked, self._manned = 0, -_LOOK, monotonic()

    def threads(self) -> int:
        """Return how many threads all workers have; complain if there have been none for too long."""
        now = monotonic()
        if now - self._looked < _LOOK:
            return self._known
        with self._there():
            found = self.client.sync(self.client.scheduler.ncores, callback_timeout=self.patience)
        self._known, self._looked = sum(found.values()), now
        if self._known:
            self._manned = now
        elif now - self._manned > self.patience:
            raise ConnectionError(f"the scheduler at {self.address!r} has had no workers for {self.patience:g} s.")
        return self._known

    def finished(self, futures: list[Any]) -> list[Any]:
        """Wait until some are finished, or a while; return those that are."""
        with self._there(), suppress(TimeoutError):
            self._distributed.wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED")
        return [future for future in futures if future.done()]

    def outcome(self, future: Any, item: Any) -> Any:
        """Return what came of a finished task, or raise the error of the work itself."""
        if future.status != "error":
            with self._there():
                return future.result()
        error = future.exception()
        if isinstance(error, self._distributed.KilledWorker):
            raise RuntimeError(f"every worker that took {item!r} died, perhaps for want of memory.") from error
        raise error

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Turn the many ways to notice that a scheduler is gone into one sentence."""
        try:
            yield
            if self.client.status != "running":
                raise OSError("the connection is lost")
        except (OSError, TimeoutError, CancelledError) as error:
            raise lost(self.address) from error
