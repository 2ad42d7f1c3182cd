"""Rows of names and numbers as compact Parquet files: typed columns, and what holds for all rows once."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.support.atomic import write_atomically
from kmcf.support.extras import require
from kmcf_lab.cells import Row

ABOUT = b"about"
"""Under this key of a file's metadata is, as JSON, what holds for all its rows."""
_JSON = {b"as": b"json"}


def write_parquet(path: Path, rows: Sequence[Row], about: Mapping[str, Any], names: Sequence[str] = ()) -> Path:
    """Write rows, whole or not at all; the same rows always give the same bytes.

    Parameters
    ----------
    path : Path
        The file.
    rows : sequence of mappings
        Numbers, strings and booleans by name; where a row lacks a name, the file has a null. A column with integers
        and floating point numbers holds floating point numbers; one of other types holds JSON.
    about : mapping
        What holds for all rows, to be written as JSON.
    names : sequence of str
        The first columns; the others follow as they occur.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> read_parquet(write_parquet(path, [{"n": 10, "x": 0.5}, {"n": 20}], {"version": "1"}))
    ([{'n': 10, 'x': 0.5}, {'n': 20}], {'version': '1'})
    """
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    found = dict.fromkeys((*names, *(name for row in rows for name in row)))
    columns = [_column(arrow, name, [row.get(name) for row in rows]) for name in found]
    schema = arrow.schema([field for field, _ in columns], metadata={ABOUT: json.dumps(about)})
    table = arrow.Table.from_arrays([values for _, values in columns], schema=schema)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd", compression_level=19)
    return write_atomically(path, buffer.getvalue())


def read_parquet(path: Path) -> tuple[list[Row], dict[str, Any]]:
    """Read rows as they were written, and what holds for all of them."""
    table = require("pyarrow.parquet", "tables").read_table(path)
    columns = [_values(table.schema.field(name), table.column(name)) for name in table.column_names]
    rows = [
        {name: value for name, value in zip(table.column_names, line, strict=True) if value is not None}
        for line in zip(*columns, strict=True)
    ]
    return rows, json.loads((table.schema.metadata or {}).get(ABOUT, b"{}"))


def _column(arrow: Any, name: str, values: list[Any]) -> tuple[Any, Any]:
    """Return the description of a column, and its values."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    types = {bool: arrow.bool_(), int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    if kinds == {int, float}:
        kinds = {float}
    if len(kinds) == 1 and (kind := kinds.pop()) in types:
        with suppress(OverflowError):  # integers that need more than 64 bits
            # from_pandas=False: NaN is a number that was computed, null one that was not
            return arrow.field(name, types[kind]), arrow.array(values, types[kind], from_pandas=False)
    texts = [None if value is None else json.dumps(value) for value in values]
    return arrow.field(name, arrow.string(), metadata=_JSON), arrow.array(texts, arrow.string())


def _values(field: Any, column: Any) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if (field.metadata or {}).get(b"as") != b"json":
        return values
    return [None if value is None else json.loads(value) for value in values]
