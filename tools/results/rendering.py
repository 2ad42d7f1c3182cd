"""From rows of raw numbers to a table in Markdown: what is shown of a row is a template per column."""

import csv
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean
from string import Formatter
from typing import Any

from kmcf_lab.tables import read_cells

Row = dict[str, Any]
Template = str | tuple[str, ...]  # a tuple: the first whose numbers are all known


class UnknownError(Exception):
    """A number that a template asks for has not been measured."""


class Words(Formatter):
    """Format strings in the style of these pages.

    Examples
    --------
    >>> words = Words()
    >>> words.format("{0:.1%}, {0!p:.1f}, {1:,}, {2:.2f}, {3}", 0.106, 12345, -0.5, [27, 17])
    '10.6 %, 10.6, 12 345, −0.50, 27, 17'
    """

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Let ``!p`` turn a share into per cent."""
        if conversion != "p":
            return super().convert_field(value, conversion)
        return None if value is None else 100 * value

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a number; several as a list."""
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            raise UnknownError
        if isinstance(value, list):
            return ", ".join(format(one, format_spec or "g") for one in value)
        shown = format(value, format_spec)
        if format_spec:  # a number, not words
            shown = shown.replace("%", " %").replace(",", " ")
            shown = shown.replace("-", "−", 1) if shown.startswith("-") else shown
        return shown


def cell(template: Template, row: Mapping[str, Any]) -> str:
    """Return what a template shows of a row, nothing where a number is unknown.

    Examples
    --------
    >>> error = ("{mean:.2f} ± {error:.2f}", "{mean:.2f}")
    >>> cell(error, {"mean": 1, "error": 0.1}), cell(error, {"mean": 1, "error": None}), cell("{x}", {"x": None})
    ('1.00 ± 0.10', '1.00', '')
    """
    for one in (template,) if isinstance(template, str) else template:
        try:
            return Words().vformat(one, (), row)
        except UnknownError:
            continue
    return ""


@dataclass(frozen=True)
class Table:
    """How one table is made.

    Parameters
    ----------
    name : str
        Of its marker: the page has ``<!-- name -->`` in the line above the table.
    source : str
        File with the raw numbers, relative to docs/results.
    columns : sequence of (str, template)
        Heading of each column, and what it shows of a row.
    rows : str
        Where in a JSON file the rows are.
    prepare : callable, optional
        Chooses, joins or summarises the rows first.
    """

    name: str
    source: str
    columns: Sequence[tuple[str, Template]]
    rows: str = "rows"
    prepare: Callable[[list[Row]], list[Row]] = list

    def render(self, folder: Path) -> str:
        """Return the table, with a line break at its end."""
        rows = self.prepare(read(folder / self.source, self.rows))
        lines = [[heading for heading, _ in self.columns]]
        lines += [[cell(template, row) for _, template in self.columns] for row in rows]
        head, *body = (f"| {' | '.join(line)} |\n" for line in lines)
        return head.replace("|  |", "| |") + "|---" * len(self.columns) + "|\n" + "".join(body)


def read(path: Path, rows: str = "rows") -> list[Row]:
    """Return the rows of a JSON file, of a Parquet file of cells, or of a CSV file (numbers as floats)."""
    if path.suffix == ".json":
        found = json.loads(path.read_text())[rows]
        return [found] if isinstance(found, dict) else found
    if path.suffix == ".parquet":
        return [row for result in read_cells(path) for row in result.flat()]
    with path.open() as lines:
        return [{name: _number(word) for name, word in row.items()} for row in csv.DictReader(lines)]


def _number(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def pivot(rows: Sequence[Row], along: Sequence[str], across: Sequence[str]) -> list[Row]:
    """Return a row for each value of ``along`` that holds the rows for all values of ``across`` under their names.

    Examples
    --------
    >>> rows = [{"model": model, "way": way, "error": 1.0} for model, way in (("1a", "a"), ("1a", "b"), ("2a", "a"))]
    >>> [cell("{a[error]:.1f}, {model}", row) for row in pivot(rows, ["model"], ["way"])]
    ['1.0, 1a', '1.0, 2a']
    >>> [cell(("{b[error]:.1f}", "–"), row) for row in pivot(rows, ["model"], ["way"])]
    ['1.0', '–']
    """

    def name(row: Row) -> str:
        return " ".join(str(row[one]) for one in across)

    unknown = {name(row): defaultdict(lambda: None) for row in rows}
    return [first | unknown | {name(row): row for row in group} for first, group in grouped(rows, along)]


def each(names: Iterable[str], *templates: str) -> list[tuple[str, Template]]:
    """Return a column for each name, which stands for the @ of the templates.

    Examples
    --------
    >>> each(["a", "b"], "{@[error]:.1f}")
    [('a', ('{a[error]:.1f}',)), ('b', ('{b[error]:.1f}',))]
    """
    return [(name, tuple(template.replace("@", name) for template in templates)) for name in names]


def means(rows: Sequence[Row], by: Sequence[str], weight: str | None = None) -> list[Row]:
    """Return a row for each value of ``by`` with the means of all numbers, weighted where a column says how.

    Examples
    --------
    >>> means([{"k": 1, "x": 1.0, "steps": 3}, {"k": 1, "x": 5.0, "steps": 1}], ["k"], "steps")
    [{'k': 1, 'x': 2.0, 'steps': 2.5}]
    """
    found = []
    for first, group in grouped(rows, by):
        weights = [row[weight] if weight else 1 for row in group]
        names = [name for name, value in group[0].items() if isinstance(value, int | float) and name not in by]
        found.append(first | {name: fmean([row[name] for row in group], weights) for name in names})
    return found


def grouped(rows: Sequence[Row], by: Sequence[str]) -> list[tuple[Row, list[Row]]]:
    """Return the rows with equal values, in the order in which these come first."""
    keys = list(dict.fromkeys(tuple(row[name] for name in by) for row in rows))
    ordered = sorted(rows, key=lambda row: keys.index(tuple(row[name] for name in by)))
    groups = groupby(ordered, key=lambda row: tuple(row[name] for name in by))
    return [(dict(zip(by, key, strict=True)), list(group)) for key, group in groups]
