"""Clusters: this machine's cores, or a scheduler somewhere else."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from kmcf._version import __version__
from kmcf.support.extras import require

PATIENCE = 25.0
"""Seconds to wait for a scheduler."""
_client: ContextVar[Any] = ContextVar("client", default=None)


@contextmanager
def connect(scheduler: str | None = None, *, workers: int = 2, patience: float = PATIENCE) -> Iterator[Any]:
    """Use a cluster for everything inside: fits on Dask collections, fleets, and joblib's work (tuning, sweeps).

    Parameters
    ----------
    scheduler : str, optional
        Address of a scheduler, such as ``tcp://host:8786``; None: processes on this machine.
    workers : int
        How many processes, without an address.
    patience : float
        Seconds to wait for the scheduler.

    Examples
    --------
    >>> with connect(workers=1) as client:  # doctest: +SKIP
    ...     flt.fit(states, observations)
    """
    distributed = require("distributed", "distributed")
    if scheduler is None:
        with _local_cluster(workers) as cluster, distributed.Client(cluster) as client:
            client.wait_for_workers(workers, timeout=patience)
            try:
                yield from _used(client)
            finally:
                if client.status != "running":
                    _give_up(cluster)
        return
    try:
        client = distributed.Client(scheduler, timeout=patience)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(f"no scheduler answers at {scheduler!r} within {patience:g} s ({error}).") from None
    with client:
        check_versions(client)
        yield from _used(client)


def _local_cluster(workers: int) -> Any:
    """Start processes of their own, rather than copies of this one: a script that uses them needs no main guard.

    Ctrl-C on a terminal reaches them as well: only this process should say so, not each of them by a traceback.
    """
    start = require("distributed.deploy.subprocess", "distributed").SubprocessCluster
    return start(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL)


def _used(client: Any) -> Iterator[Any]:
    before, address = _client.set(client), client.scheduler.address
    closed = require("distributed.comm", "distributed").CommClosedError
    try:
        with require("joblib", "all").parallel_config(backend="dask"):
            yield client
    except (CancelledError, ConnectionError, closed) as error:
        if client.status == "running" and not isinstance(error, closed):
            raise
        _close_quietly(client)
        if isinstance(error, ConnectionError):  # it says so already
            raise
        raise lost(address) from error
    finally:
        _client.reset(before)


def _give_up(cluster: Any) -> None:
    """Keep a cluster whose scheduler is gone from asking it, for half a minute, to close the workers."""
    with suppress(Exception):
        cluster.sync(cluster.scheduler.close)
    cluster.scheduler_comm.timeout = 0.1


def _close_quietly(client: Any) -> None:
    """Close a client without a connection, which logs pages of tracebacks that would hide the error."""
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        client.close()
    finally:
        logger.setLevel(level)


def lost(address: str) -> ConnectionError:
    """Return the error that says that a scheduler is gone."""
    return ConnectionError(f"the scheduler at {address!r} does not answer any more.")


def connected() -> Any | None:
    """Return the client of the cluster in use, inside :func:`connect`; None elsewhere."""
    return _client.get()


def check_versions(client: Any, package: str = "kmcf", version: str | None = None) -> None:
    """Refuse a cluster without workers, and workers that have another version of a package, or none."""
    wanted = __version__ if version is None else version
    answers = client.run(_version_here, package, on_error="return")
    versions = {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}  # just died
    if not versions:
        raise ConnectionError(f"the scheduler at {client.scheduler.address!r} has no workers.")
    for worker, found in versions.items():
        if found != wanted:
            have = f"has {package} {found}" if isinstance(found, str) else f"does not have {package}"
            raise RuntimeError(
                f"the worker {worker} {have}, but this machine has {wanted}: install the same version there."
            )


def _version_here(package: str) -> str | None:
    try:
        return str(importlib.import_module(f"{package}._version").__version__)
    except ImportError:
        return None
