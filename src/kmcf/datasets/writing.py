"""Tables as files: one row per step, for other programs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.numerics.arrays import FloatArray
from kmcf.support.atomic import replacing
from kmcf.support.extras import require


def write_table(recordings: Recording | Sequence[Recording], path: str | os.PathLike[str]) -> None:
    """Write recordings to one CSV or Parquet file: time, sequence, then states, observations and controls by name.

    Parameters
    ----------
    recordings : Recording or several
        What to write; several have the same columns.
    path : str or path
        A file that ends in ``.csv`` or ``.parquet``.

    Examples
    --------
    >>> import tempfile
    >>> from kmcf.datasets import ble_tracks
    >>> path = Path(tempfile.mkdtemp()) / "tracks.csv"
    >>> write_table(ble_tracks()[:2], path)
    >>> path.read_text()[:30]
    'sequence,time,x,y,000000000101'
    """
    several = [recordings] if isinstance(recordings, Recording) else list(recordings)
    table: dict[str, Any] = {
        "sequence": [recording.name for recording in several for _ in recording.time],
        "time": np.concatenate([recording.time for recording in several]),
    }
    for role in ("states", "observations", "controls"):
        if any(getattr(recording, role) is None for recording in several):
            continue
        rows = np.concatenate([_numeric_rows(recording, role) for recording in several])
        names = several[0].names.get(role) or tuple(f"{role[:-1]}_{j}" for j in range(rows.shape[1]))
        table |= {_free(name, table): rows[:, j] for j, name in enumerate(names)}
    write_rows(path, list(table), zip(*table.values(), strict=True))


def write_rows(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows to a CSV or Parquet file, by the ending of ``path``, whole or not at all."""
    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        pandas = require("pandas", "tables")
        buffer = io.BytesIO()
        pandas.DataFrame(list(rows), columns=list(header)).to_parquet(buffer, index=False)
        data = buffer.getvalue()
    elif ending in (".csv", ""):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([cell(value) for value in row] for row in rows)
        data = text.getvalue().encode()
    else:
        raise ValueError(f"a table is written as .csv or .parquet, but {str(path)!r} ends in {ending!r}.")
    with replacing(path) as file:
        file.write(data)


def cell(value: Any) -> str:
    """Return a value as the text of a cell: all digits of a number, nothing for NaN.

    Examples
    --------
    >>> cell(np.float64(0.1)), cell(float("nan")), cell(True), cell("a")
    ('0.1', '', 'true', 'a')
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    return "" if value is None else str(value)


def _numeric_rows(recording: Recording, role: str) -> FloatArray:
    values = getattr(recording, role)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        raise TypeError(f"the {role} of {recording.name!r} are objects, which a table cannot hold.")
    return values.reshape(len(values), -1)


def _free(name: str, table: dict[str, Any]) -> str:
    return name if name not in table else _free(f"{name}_", table)
