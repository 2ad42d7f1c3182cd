"""The columns of a run for other programs (CSV, Parquet, xarray) or to load again (NPZ)."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter.results.smoothed import SMOOTHED
from kmcf.filter.results.summaries import NAMES, SCALARS, UNSMOOTHED
from kmcf.store.container import Container, write_container
from kmcf.store.errors import FileError
from kmcf.store.files import about
from kmcf.support.atomic import replacing
from kmcf.support.extras import require

ENDINGS = (".npz", ".csv", ".parquet")
FILTERED = "filtered_"
"""How the columns of the run that was smoothed begin, in the file of a smoothed run."""


class RunColumns(NamedTuple):
    """All summaries of a run, and how to read them."""

    columns: Mapping[str, Any]
    angles: Sequence[int]
    batch: bool
    """Whether the columns have a leading axis for several sequences."""
    filtered: Mapping[str, Any] = MappingProxyType({})
    """Of a smoothed run: the filter's columns where smoothing changed them."""


def write_run(path: str | os.PathLike[str], run: RunColumns, table: Callable[[], Any]) -> None:
    """Write a run in the format that the ending of ``path`` names: ``.npz``, ``.csv`` or ``.parquet``.

    Parameters
    ----------
    path : path
        Where to.
    run : RunColumns
        What NPZ holds.
    table : callable
        Returns the data frame that CSV and Parquet hold.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"a run is saved as {', '.join(ENDINGS)}, but {str(path)!r} ends in {ending or 'nothing'!r}.")
    if ending == ".npz":
        _write_npz(path, run)
        return
    frame = table().reset_index()
    buffer = io.BytesIO()
    if ending == ".csv":
        frame.to_csv(buffer, index=False)
    else:
        require("pyarrow", "tables")
        frame.to_parquet(buffer, index=False)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def _write_npz(path: str | os.PathLike[str], run: RunColumns) -> None:
    columns = {name: np.asarray(values) for name, values in run.columns.items()}
    columns |= {f"{FILTERED}{name}": np.asarray(values) for name, values in run.filtered.items()}
    if columns["mode"].dtype.kind == "O":
        raise TypeError(
            "the states of this run are objects, which NPZ cannot hold; save it as .csv or .parquet, or pickle it."
        )
    manifest = {**about("run"), "angles": [int(j) for j in run.angles], "batch": run.batch}
    write_container(path, manifest, columns, {})


def read_columns(container: Container) -> RunColumns:
    """Read what was written as NPZ."""
    if container.manifest["kind"] != "run":
        raise FileError(f"it holds a {container.manifest['root']['object']}, not a run.")
    columns = {name: container.array(name) for name in container.names}
    known = {*NAMES, UNSMOOTHED, *(f"{FILTERED}{name}" for name in SMOOTHED)}
    if "time" not in columns or not set(columns) <= known:
        raise FileError(f"its columns are not those of a run: {', '.join(columns)}.")
    axes = columns["time"].shape
    angles, several = container.manifest["angles"], container.manifest["batch"]
    if len(axes) != (2 if several else 1) or columns["time"].size == 0:
        raise FileError(f"its steps have the shape {axes}, which no run has.")
    if not all(type(angle) is int and angle >= 0 for angle in angles):
        raise FileError(f"its angles are {angles!r}, which are no columns.")
    for name, values in columns.items():
        if values.shape[: len(axes)] != axes:
            raise FileError(f"its column {name} has shape {values.shape}, which does not match the steps, {axes}.")
    before = {name.removeprefix(FILTERED): columns.pop(name) for name in list(columns) if name.startswith(FILTERED)}
    return RunColumns(columns, angles, bool(several), before)


def labelled(columns: Mapping[str, Any], *, batch: bool, filtered: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the columns of a run as an xarray Dataset, with those of the run that was smoothed."""
    xarray = require("xarray", "tables")
    lead = ["sequence", "time"] if batch else ["time"]
    variables: dict[str, Any] = {name: (lead, columns[name]) for name in (*SCALARS, UNSMOOTHED) if name in columns}
    coordinates: dict[str, Any] = {"time": columns["time"][0] if batch else columns["time"]}
    if "times" in columns:
        coordinates["times"] = (lead, columns["times"])
    if "mean" not in columns:
        variables["mode"] = (lead, np.array(columns["mode"], dtype=object))
        # Of objects there is nothing to compare but modes.
        if filtered:
            variables[f"{FILTERED}mode"] = (lead, np.array(filtered["mode"], dtype=object))
        return xarray.Dataset(variables, coords=coordinates)
    axes = columns["mean"].ndim - len(lead)
    state = ["state"] if axes == 1 else [f"state_{j}" for j in range(axes)]
    flat = "state" if axes == 1 else "row"  # intervals and covariances are of flattened states
    variables |= {
        "mean": ([*lead, *state], columns["mean"]),
        "mode": ([*lead, *state], columns["mode"]),
        "covariance": ([*lead, "row", "column"], columns["covariance"]),
        "interval": ([*lead, "bound", flat], columns["interval"]),
    }
    coordinates["bound"] = ["lower", "upper"]
    variables |= {f"{FILTERED}{name}": (variables[name][0], values) for name, values in filtered.items()}
    return xarray.Dataset(variables, coords=coordinates)
