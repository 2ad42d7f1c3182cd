"""Examples in files that need not fit into memory, by Dask's own readers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kmcf.datasets.columns import NamedColumns
from kmcf.datasets.recording import Recording
from kmcf.datasets.tables import Names, Roles, recordings_of
from kmcf.support.extras import require

FIRST = 100_000
"""Rows from which a transition can be learnt."""


class ChunkedTables(NamedTuple):
    """Examples in files."""

    recordings: list[Recording]
    """The first rows, in memory: enough to learn a transition from."""
    states: Any
    """All states, as a Dask collection."""
    observations: Any


def read_tables(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    state: Names,
    observation: Names,
    control: Names = (),
    time: str | None = None,
    sequence: str | None = None,
    angles: Names = (),
    gaps: str = "keep",
    first: int = FIRST,
) -> ChunkedTables:
    """Read examples from Parquet or CSV files, a Zarr group, or a folder of NPY stacks.

    Parameters
    ----------
    files : path or list of paths
        Tables by their ending; a group (``.zarr``) or a folder holds one array (n, d) per name, as
        ``dask.array.to_zarr`` and ``to_npy_stack`` write them.
    state, observation, control : str or list of str
        Columns by name or pattern; of a group or folder, one array each.
    time, sequence, angles, gaps
        As for :func:`kmcf.datasets.read_tables`; they concern the first rows only.
    first : int
        How many rows to read into memory at once, at most those of the first chunk.

    Examples
    --------
    >>> import tempfile, pandas
    >>> path = Path(tempfile.mkdtemp()) / "walk.parquet"
    >>> pandas.DataFrame({"x": [0.0, 1.0, 2.0], "s": [3.0, 4.0, 5.0]}).to_parquet(path)
    >>> recordings, states, observations = read_tables(path, state="x", observation="s")
    >>> recordings, states.npartitions
    ([Recording('walk', 3 steps)], 1)
    """
    paths = [Path(files)] if isinstance(files, str | os.PathLike) else [Path(file) for file in files]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"there is no file {str(path)!r}.")
    if paths[0].is_dir() and (len(paths) > 1 or paths[0].suffix != ".parquet"):
        return _from_arrays(paths, state, observation, Roles(control=control, time=time, sequence=sequence), first)
    frame = _frame(paths)
    head = frame.head(first, npartitions=1)
    columns = NamedColumns({str(name): head[name].to_numpy() for name in head.columns}, str(paths[0]))
    roles = Roles(state, observation, control, time, sequence)
    recordings = recordings_of(columns, roles, name=paths[0].stem, angles=angles, gaps=gaps)
    names = recordings[0].names
    return ChunkedTables(recordings, frame[list(names["states"])], frame[list(names["observations"])])


def _frame(paths: list[Path]) -> Any:
    """Return the tables as one Dask dataframe."""
    readers = {".parquet": "read_parquet", ".csv": "read_csv"}
    endings = {path.suffix for path in paths}
    if len(endings) > 1 or not endings <= set(readers):
        raise ValueError(
            f"{', '.join(sorted(endings))}: chunks are read from Parquet or from CSV files, from a Zarr group or "
            "from a folder of NPY stacks."
        )
    frames = require("dask.dataframe", "distributed")
    return getattr(frames, readers[endings.pop()])([str(path) for path in paths])


def _from_arrays(paths: list[Path], state: Names, observation: Names, roles: Roles, first: int) -> ChunkedTables:
    arrays = require("dask.array", "distributed")
    names = [name if isinstance(name, str) else " ".join(name) for name in (state, observation)]
    if len(paths) > 1 or roles != Roles():
        raise ValueError("of a Zarr group or a folder of NPY stacks give one, with one array each for -s and -y.")
    folder = paths[0]
    for name in names:
        if not (folder / name).is_dir():
            known = sorted(part.name for part in folder.iterdir() if part.is_dir())
            raise ValueError(f"{str(folder)!r} has no array {name!r}; it has {', '.join(known) or 'none'}.")
    if folder.suffix == ".zarr":
        states, observations = (arrays.from_zarr(str(folder), component=name) for name in names)
    else:
        states, observations = (arrays.from_npy_stack(str(folder / name), mmap_mode="r") for name in names)
    heads = [part[: min(first, part.chunks[0][0])].compute() for part in (states, observations)]
    rows = {
        f"{name}_{j}": head.reshape(len(head), -1)[:, j]
        for name, head in zip(names, heads, strict=True)
        for j in range(head.reshape(len(head), -1).shape[1])
    }
    chosen = [[column for column in rows if column.rpartition("_")[0] == name] for name in names]
    roles = Roles(chosen[0], chosen[1])
    recordings = recordings_of(NamedColumns(rows, str(folder)), roles, name=folder.stem)
    return ChunkedTables(recordings, states, observations)
