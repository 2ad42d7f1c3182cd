"""Tables: numbers to the right, the best ones marked, sortable in the browser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from kmcf.report.numbers import shown
from kmcf.report.templates import fill


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error.

    Examples
    --------
    >>> str(Estimate(0.8961, 0.0123)), str(Estimate(0.125, float("nan")))
    ('0.896 ± 0.012', '0.125')
    """

    value: float
    error: float

    def __str__(self) -> str:
        if not math.isfinite(self.error) or self.error <= 0:
            return shown(self.value)
        # The value is written as precisely as two digits of its error allow.
        decimals = 1 - math.floor(math.log10(self.error))
        if not 0 <= decimals <= 6 or not math.isfinite(self.value):
            return f"{shown(self.value)} ± {shown(self.error, 2)}"
        return f"{self.value:.{decimals}f} ± {self.error:.{decimals}f}".replace("-", "−")


TableEntry = str | int | float | Estimate | None
Best = Literal["lowest", "highest"]


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    columns : sequence of str
        The headings.
    rows : sequence of sequences
        Texts, numbers, :class:`Estimate` or None, one per column.
    caption : str
        Text above.
    best : {"lowest", "highest"}, optional
        Mark the best number …
    within : {"row", "column"}
        … of each row or of each column.

    Examples
    --------
    >>> table = Table(["model", "ours", "theirs"], [["1a", 0.9, 1.1]], best="lowest", within="row")
    >>> '<td class="number best" data-value="0.9">' in table.html("table-1")
    True
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[TableEntry]]
    caption: str = ""
    best: Best | None = None
    within: Literal["row", "column"] = "column"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells but the table has {len(self.columns)} columns: {row!r}.")

    def html(self, name: str) -> str:
        """Write the table, in a box of its own that scrolls, under an id."""
        values = np.array([[_value(cell) for cell in row] for row in self.rows]).reshape(-1, len(self.columns))
        marked = self._marked(values)
        numeric = [bool(self.rows) and any(_is_number(row[j]) for row in self.rows) for j in range(len(self.columns))]
        heads = zip(self.columns, numeric, strict=True)
        rows = [
            [_cell(cell, float(value), bool(best)) for cell, value, best in zip(*parts, strict=True)]
            for parts in zip(self.rows, values, marked, strict=True)
        ]
        # The caption stays outside of the box that scrolls, so that it can be read on a phone.
        return fill("table.html", name=name, caption=self.caption, heads=heads, rows=rows)

    def _marked(self, values: np.ndarray) -> np.ndarray:
        """Return which cells hold the best number; nothing is best where there is no other to compare with."""
        if self.best is None or values.size == 0:
            return np.zeros(values.shape, dtype=bool)
        axis = 1 if self.within == "row" else 0
        losses = np.where(np.isfinite(values), values if self.best == "lowest" else -values, np.inf)
        enough = np.isfinite(losses).sum(axis=axis, keepdims=True) > 1
        return np.isfinite(losses) & (losses == losses.min(axis=axis, keepdims=True)) & enough


def _is_number(cell: TableEntry) -> bool:
    return isinstance(cell, int | float | Estimate) and not isinstance(cell, bool)


def _value(cell: TableEntry) -> float:
    if isinstance(cell, Estimate):
        return cell.value
    return float(cell) if isinstance(cell, int | float) else math.nan


class _Cell(NamedTuple):
    """A cell as it is written: its words, and the number by which it is sorted."""

    words: str
    number: bool = False
    best: bool = False
    value: str | None = None


def _cell(cell: TableEntry, value: float, best: bool) -> _Cell:
    if not _is_number(cell):
        return _Cell("" if cell is None else str(cell))
    words = str(cell) if isinstance(cell, Estimate) else shown(value)
    return _Cell(words, True, best, f"{value:.9g}" if math.isfinite(value) else None)
