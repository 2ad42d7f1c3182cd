"""What all studies of ``kmcf bench`` share: the options typed, the table of errors, the file with the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from kmcf.cli.showing import command_line
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.baselines import BaselineRow
    from kmcf_lab.bench.kernels import KernelRow


@dataclass(frozen=True)
class BenchOptions:
    """The options as typed; a study ignores those that do not concern it."""

    n: list[int] | None
    model: list[str] | None
    steps: int | None
    out: Path
    learnt: bool
    trials: int
    batch: list[int] | None
    quick: bool
    path: Path | None = None
    """Data that do not come with the package."""


def error_table(title: str, rows: Sequence[KernelRow | BaselineRow]) -> Table:
    """Return a table with a line per problem, or per method if there is only one problem."""
    problems, methods = (
        list(dict.fromkeys(column)) for column in zip(*((r.problem, r.method) for r in rows), strict=True)
    )
    cells = {(row.problem, row.method): f"{row.mean:.3f} ± {row.standard_error:.3f}" for row in rows}
    by_problem = len(problems) > 1
    lines, columns = (problems, methods) if by_problem else (methods, problems)
    table = new_table(title, ["problem" if by_problem else "method", *columns])
    for line in lines:
        keys = [(line, column) if by_problem else (column, line) for column in columns]
        table.add_row(line, *(cells[key].removesuffix(" ± nan") for key in keys))
    return table


def save_rows(console: Console, rows: list[dict[str, Any]], path: Path) -> None:
    """Write rows and the command that measured them as JSON; add them to the history of such runs."""
    write_rows(rows, path)
    console.print(f"saved {path}", soft_wrap=True)
    tell_slower(console, rows, path)


def write_rows(rows: list[dict[str, Any]], path: Path) -> None:
    """Write rows and the command that measured them as JSON; also those of a study that is not finished."""
    from kmcf.support.plain_json import write_json

    write_json(path, {"command": command_line(), "rows": rows})


def tell_slower(console: Console, rows: list[dict[str, Any]], path: Path) -> None:
    """Add rows to the history beside their file, and print what became slower than in the last run there."""
    from kmcf_lab.bench.history import remember

    for slower in remember(rows, path):
        times = f"{slower.before:.3g} → {slower.now:.3g}"
        console.print(f"slower than the last run by more than the noise: {slower.what}, {times}", soft_wrap=True)
