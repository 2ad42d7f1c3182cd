"""Work on a Dask cluster: options, and the statements that use one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.group import note
from kmcf.cli.script import Code, call
from kmcf.cli.table_files import TableFiles

CLUSTER = "Cluster"
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on the Dask cluster at this address (kmcf fit then does not read all examples into memory).",
        rich_help_panel=CLUSTER,
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="The same with so many processes of this machine.",
        rich_help_panel=CLUSTER,
    ),
]


def check_cluster(files: TableFiles, motion: options.TransitionOptions, *, calibrate: bool) -> None:
    """Refuse what needs all examples in memory."""
    refused = {
        "--sensor": bool(files.sensors),
        "--window": files.window is not None,
        "--calibrate": calibrate,
        "--recovery": bool(motion.recovery),
    }
    for name, given in refused.items():
        if given:
            raise ValueError(f"{name} needs all examples in memory: leave out --scheduler and --workers.")


def reading_chunks(files: TableFiles) -> str:
    """Return the statement that reads the first rows as ``recordings``, and all as Dask collections."""
    named = {
        name: value
        for name, value in (
            ("state", list(files.state)),
            ("observation", list(files.observation)),
            ("control", list(files.control)),
            ("time", files.time),
            ("sequence", files.sequence),
            ("angles", list(files.angles)),
            ("gaps", files.gaps if files.time is not None else None),
        )
        if value
    }
    reading = call("kmcf.distributed.read_tables", list(files.files), **named)
    return f"recordings, states, observations = {reading}"


def on_the_cluster(statement: str, scheduler: str | None, workers: int | None) -> Code:
    """Return a statement that runs another one on a cluster."""
    check_one_cluster(scheduler, workers)
    where: dict[str, Any] = {} if workers is None else {"workers": workers}
    connected = call("kmcf.distributed.connect", *([] if scheduler is None else [scheduler]), **where)
    return Code(f"with {connected}:\n    {statement}")


def check_one_cluster(scheduler: str | None, workers: int | None) -> None:
    """Refuse to work in two places."""
    if scheduler is not None and workers is not None:
        raise ValueError("give --scheduler, a cluster that runs, or --workers, processes of this machine; not both.")


def cluster_of(scheduler: str | None, workers: int | None) -> AbstractContextManager[Any]:
    """Return what uses a cluster, where one was asked for."""
    check_one_cluster(scheduler, workers)
    if scheduler is None and workers is None:
        return nullcontext()
    from kmcf.distributed import connect

    return connect(scheduler) if workers is None else connect(scheduler, workers=workers)


def tell_first(names: dict[str, Any]) -> None:
    """Say what the transition is learnt from."""
    rows = sum(len(recording) for recording in names["recordings"])
    note(f"the transition is learnt from the first {rows} rows.")


def fitted_to(flt: Any, states: Any) -> int:
    """Return how many examples a filter was fitted to, in memory or in chunks."""
    from kmcf.filter.fitting.chunked import summed_over

    return summed_over(flt.learnt_) or (len(states) if hasattr(states, "dtype") else len(flt.states_))
