"""Runs as files: the summaries of every step, for other programs (CSV, Parquet) or to be loaded again (NPZ)."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.store.container import Container, open_container, write_container
from kmcf.store.errors import FileError
from kmcf.support.atomic import replacing
from kmcf.support.extras import require

if TYPE_CHECKING:
    from kmcf.filter.run import FilterRun

ENDINGS = (".npz", ".csv", ".parquet")


def save_run(run: FilterRun, path: str | os.PathLike[str]) -> None:
    """Write a run in the format that the ending of ``path`` names: ``.npz``, ``.csv`` or ``.parquet``.

    All hold the summaries, not the beliefs. NPZ holds them as they are, can be read by :func:`kmcf.load` and by
    ``np.load``; the tables have the columns of ``run.to_dataframe()``, with time (and sequence) first.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"a run is saved as {', '.join(ENDINGS)}, but {str(path)!r} ends in {ending or 'nothing'!r}.")
    if ending == ".npz":
        _write_npz(run, path)
        return
    table = run.to_dataframe().reset_index()
    buffer = io.BytesIO()
    if ending == ".csv":
        table.to_csv(buffer, index=False)
    else:
        require("pyarrow", "tables")
        table.to_parquet(buffer, index=False)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def _write_npz(run: FilterRun, path: str | os.PathLike[str]) -> None:
    from kmcf.store.files import about

    columns = {name: np.asarray(values) for name, values in run.columns().items()}
    if columns["mode"].dtype.kind == "O":
        raise TypeError(
            "the states of this run are objects, which NPZ cannot hold; save it as .csv or .parquet, or pickle it."
        )
    manifest = {**about("run"), "angles": [int(j) for j in run.angles], "batch": run.is_batch}
    write_container(path, manifest, columns, {})


def load_run(path: str | os.PathLike[str]) -> FilterRun:
    """Load a run that was saved as NPZ; the summaries are as they were, the beliefs are not in the file."""
    with open_container(path) as container:
        if container.manifest["kind"] != "run":
            raise FileError(f"it holds a {container.manifest['root']['object']}, not a run.")
        return read_run(container)


def read_run(container: Container) -> FilterRun:
    """Make a run of what was written."""
    from kmcf.filter.run import FilterRun
    from kmcf.filter.summaries import NAMES

    columns: dict[str, Any] = {name: container.array(name) for name in container.names}
    if "time" not in columns or not set(columns) <= set(NAMES):
        raise FileError(f"a run has other columns: {', '.join(columns)}.")
    axes = columns["time"].shape
    for name, values in columns.items():
        if values.shape[: len(axes)] != axes:
            raise FileError(f"its column {name} has the shape {values.shape}, which does not go with {axes}.")
    return FilterRun.of_columns(columns, angles=container.manifest["angles"], batch=bool(container.manifest["batch"]))
