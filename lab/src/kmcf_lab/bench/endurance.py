"""Endurance: very long runs, threads, processes, kills, interrupts, damaged files and mutated tables, as one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from kmcf_lab.bench import endurance_files, endurance_runs, endurance_stops
from kmcf_lab.bench.endurance_cases import Endured
from kmcf_lab.quiet import quiet


@dataclass(frozen=True)
class Sizes:
    """How much of everything is tried."""

    steps: int = 100_000
    """Online steps of one long run."""
    sequences: int = 16
    """Sequences that are filtered by threads, and by processes."""
    saves: int = 60
    """Programs killed while they save a model."""
    stops: int = 60
    """Studies that are killed or interrupted."""
    files: int = 10_000
    """Damaged files."""
    sealed: int = 2_500
    """Files changed behind a right checksum."""
    tables: int = 6_000
    """Mutated tables."""

    @classmethod
    def quick(cls) -> Sizes:
        """Return sizes that take some seconds."""
        return cls(steps=2_000, sequences=4, saves=6, stops=6, files=300, sealed=200, tables=300)


@dataclass(frozen=True)
class EnduranceRow:
    """What was tried, how often, and how often it held."""

    trial: str
    tried: int
    held: int
    measured: str
    """Further numbers, in words."""
    first_failure: str
    seconds: float


TRIALS: dict[str, Callable[[Sizes], Endured]] = {
    "online steps: finite, the first 1000 equal to the batch": lambda sizes: endurance_runs.long_run(sizes.steps),
    "sequences by four threads: equal to one thread": lambda sizes: endurance_runs.in_threads(sizes.sequences),
    "sequences by two processes: equal to one process": lambda sizes: endurance_runs.in_processes(sizes.sequences),
    "programs killed while saving: the old or the new file": lambda sizes: endurance_stops.killed_saves(sizes.saves),
    "studies killed or interrupted: no trial lost or wrong": lambda sizes: endurance_stops.stopped_studies(sizes.stops),
    "runs interrupted by Ctrl-C: stopped as such": lambda sizes: endurance_stops.interrupted_runs(sizes.stops),
    "damaged files: refused": lambda sizes: endurance_files.damaged_files(sizes.files),
    "files changed behind a right checksum: refused or loaded": lambda sizes: endurance_files.sealed_files(
        sizes.sealed
    ),
    "mutated tables: read or refused": lambda sizes: endurance_files.mutated_tables(sizes.tables),
}


def measure_endurance(sizes: Sizes, report: Callable[[str], None] = print) -> list[EnduranceRow]:
    """Try everything; return a row for each.

    Parameters
    ----------
    sizes : Sizes
        How much.
    report : callable
        Gets a line before each.
    """
    rows = []
    for name, trial in TRIALS.items():
        report(name)
        began = perf_counter()
        with quiet():
            endured = trial(sizes)
        first = endured.failures[0] if endured.failures else ""
        rows.append(
            EnduranceRow(name, endured.tried, endured.held, endured.measured, first, round(perf_counter() - began, 1))
        )
    return rows


def as_markdown(rows: list[EnduranceRow], command: str) -> str:
    """Return a page with the table."""
    lines = [
        "# Endurance",
        "",
        f"    {command}",
        "",
        "Each row says how often something was tried and how often it held; nothing may fail. Where and how often",
        "programs are stopped, files damaged and tables mutated follows from fixed seeds; the moment at which a signal",
        "arrives depends on the machine. Runs are compared bit by bit. A file that was changed and sealed again may be",
        "loaded, with other numbers; what must not happen is any error but the one that says what is wrong.",
        "",
        "| trial | tried | held | measured | s |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {row.trial} | {row.tried} | {row.held} | {row.measured} | {row.seconds:.0f} |" for row in rows]
    failures = [f"- {row.trial}: {row.first_failure}" for row in rows if row.first_failure]
    if failures:
        lines += ["", "What failed first:", "", *failures]
    return "\n".join(lines) + "\n"
