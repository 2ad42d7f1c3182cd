"""Results for people (tables) and for machines (JSON)."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kmcf.support.plain_text import printable


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["kmcf", *(word for word in sys.argv[1:] if word != "--python")])


def can_show_progress() -> bool:
    """Say whether a progress bar can be shown: on a terminal, where the package for it is installed."""
    return sys.stderr.isatty() and find_spec("tqdm") is not None


def tell_page(path: Path | None) -> None:
    """Say where a page is, as something to click on, if there is one."""
    if path is not None:
        Console().print(f"Report, for your browser: {path.resolve().as_uri()}", soft_wrap=True, markup=False)


def print_json(data: Any) -> None:
    """Print one line of JSON, with null for what is not a number."""
    from kmcf.support.plain_json import without_nan

    typer.echo(json.dumps(without_nan(data), allow_nan=False))


def print_table(title: str, rows: Mapping[str, Any]) -> None:
    """Print names and values."""
    table = Table(title=_shown(title), title_justify="left", box=SIMPLE_HEAD, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(_shown(name.replace("_", " ")), _shown(readable(value)))
    Console().print(table)


def print_columns(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same names."""
    table = Table(title=_shown(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for position, name in enumerate(rows[0]):
        table.add_column(_shown(name.replace("_", " ")), justify="right" if position else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_shown(readable(value)) for value in row.values()))
    Console().print(table)


def _shown(text: str) -> Text:
    """Return a text from anywhere as a table shows it: no markup, no control characters."""
    return Text(printable(text))


def readable(value: Any) -> str:
    """Return a value as people read it.

    Examples
    --------
    >>> readable(0.123456), readable(["x", "y"]), readable([])
    ('0.1235', 'x, y', '–')
    """
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(readable, value))
    return str(value)
