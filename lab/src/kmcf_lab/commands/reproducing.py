"""What the commands under ``kmcf reproduce`` share: options, statements on the terminal, files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from kmcf.cli.cluster import SchedulerOption, WorkersOption, cluster_of
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf.report import Report, Statement
    from kmcf_lab.cells import Result


class WorkerKind(StrEnum):
    """The kinds of joblib's workers."""

    loky = "loky"
    threading = "threading"
    multiprocessing = "multiprocessing"


@dataclass(frozen=True)
class StudyOptions:
    """How much of a study is computed, and how: the options of every command under ``kmcf reproduce``."""

    repetitions: Annotated[int | None, typer.Option(min=2, help="Independent repetitions (the paper has 20).")] = None
    jobs: Annotated[int, typer.Option(min=1, help="Workers that compute in parallel.")] = 1
    backend: Annotated[WorkerKind, typer.Option("--backend", help="The kind of joblib's workers.")] = WorkerKind.loky
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A smaller version that takes less than a minute; of Section 6.2 a few minutes."),
    ] = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was stopped; nothing is computed twice.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives independent results.")] = 0
    scheduler: SchedulerOption = None
    workers: WorkersOption = None

    def cluster(self) -> AbstractContextManager[Any]:
        """Return what uses the cluster that was asked for, if any."""
        return cluster_of(self.scheduler, self.workers)

    def running(self, usual: int, quick: int) -> dict[str, Any]:
        """Return what all studies are told: repetitions, as given or as usual, workers, seed."""
        return {
            "repetitions": self.repetitions or (quick if self.quick else usual),
            "seed": self.seed,
            "jobs": self.jobs,
            "backend": self.backend.value,
            "resume": self.resume,
            "progress": True,
        }


OUT = "Folder for table, figures and report."


@contextmanager
def resumable(console: Console) -> Iterator[None]:
    """Tell someone who interrupts a run, or loses the cluster, how to continue it."""
    try:
        yield
    except KeyboardInterrupt as stop:
        console.print(f"{stopped_words(stop)}; the same command with --resume continues from here", soft_wrap=True)
        raise typer.Exit(130) from None
    except ConnectionError as lost:
        if kept := getattr(lost, "__notes__", None):
            continued = "the same command with --resume continues from here."
            raise ConnectionError(f"{lost} {'; '.join(kept)}; {continued}") from lost
        raise


def stopped_words(stop: BaseException) -> str:
    """Say that a run was stopped, and what was kept.

    Examples
    --------
    >>> stop = KeyboardInterrupt()
    >>> stop.add_note("3 of 10 cells are kept in out/cells")
    >>> stopped_words(stop)
    'stopped; 3 of 10 cells are kept in out/cells'
    """
    return "; ".join(["stopped", *getattr(stop, "__notes__", ())])


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
    for path in [write_cells(out / "cells.parquet", results), *figures, *written]:
        console.print(f"saved {path}", soft_wrap=True)
