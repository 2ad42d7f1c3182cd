"""What the commands under ``kmcf reproduce`` share: options, statements on the terminal, files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf.report import Report, Statement
    from kmcf_lab.cells import Result


class WorkerKind(StrEnum):
    """The kinds of joblib's workers."""

    loky = "loky"
    threading = "threading"
    multiprocessing = "multiprocessing"


Repetitions = Annotated[int | None, typer.Option(min=2, help="Independent repetitions (the paper has 20).")]
Jobs = Annotated[int, typer.Option(min=1, help="Workers that compute in parallel.")]
Workers = Annotated[WorkerKind, typer.Option("--backend", help="The kind of joblib's workers.")]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller version that takes less than a minute.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped; nothing is computed twice.")]
Seed = Annotated[int, typer.Option(min=0, help="Another seed gives independent results.")]
OUT = "Folder for table, figures and report."


@contextmanager
def resumable(console: Console) -> Iterator[None]:
    """Tell someone who interrupts a run how to continue it."""
    try:
        yield
    except KeyboardInterrupt:
        console.print("stopped; the same command with --resume continues from here")
        raise typer.Exit(130) from None


def print_statements(console: Console, statements: Sequence[Statement], title: str = "The paper's statements") -> None:
    """Print a table of verdicts."""
    table = new_table(title, ("", "statement", "numbers"), left=3)
    colours = {"holds": "green", "does not hold": "red", "not distinguishable": "yellow"}
    for one in statements:
        table.add_row(f"[{colours[one.verdict.value]}]{one.verdict.value}[/]", one.claim, one.numbers)
    console.print(table)


def write_results(
    console: Console, results: Sequence[Result], out: Path, figures: Sequence[Path], report: Report
) -> None:
    """Write the table and the report beside the figures, and print where everything is."""
    from kmcf_lab.tables import write_cells

    pictures = [path for path in figures if path.suffix == ".png"]
    written = [report.write_markdown(out / "report.md", pictures), report.write(out / "report.html")]
    for path in [write_cells(out / "cells.csv", results), *figures, *written]:
        console.print(f"saved {path}", soft_wrap=True)
