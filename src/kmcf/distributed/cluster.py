"""Clusters: this machine's cores, or a scheduler somewhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kmcf._version import __version__
from kmcf.support.extras import require

PATIENCE = 30.0
"""Seconds to wait for a scheduler."""


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
        # Processes of their own, rather than copies of this one: a script that uses them needs no main guard.
        local = require("distributed.deploy.subprocess", "distributed").SubprocessCluster
        with (
            local(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            client.wait_for_workers(workers, timeout=patience)
            yield from _used(client)
        return
    try:
        client = distributed.Client(scheduler, timeout=patience)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(f"no scheduler answers at {scheduler!r} within {patience:g} s ({error}).") from None
    with client:
        check_versions(client)
        yield from _used(client)


def _used(client: Any) -> Iterator[Any]:
    with require("joblib", "all").parallel_config(backend="dask"):
        yield client


def check_versions(client: Any) -> None:
    """Refuse a cluster without workers, and workers that have another version of this package, or none."""
    versions = client.run(_version_here)
    if not versions:
        raise ConnectionError(f"the scheduler at {client.scheduler.address!r} has no workers.")
    for worker, version in versions.items():
        if version != __version__:
            have = "does not have kmcf" if version is None else f"has kmcf {version}"
            raise RuntimeError(
                f"the worker {worker} {have}, but this machine has {__version__}: install the same version there."
            )


def _version_here() -> str | None:
    try:
        from kmcf._version import __version__ as version
    except ImportError:
        return None
    return str(version)
