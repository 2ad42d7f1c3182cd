"""``kmcf bench kernels``, ``rooms``, ``speeds``: what observation kernels gain, and how long kernels take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console

from kmcf_lab.commands.bench_options import BenchOptions, error_table, save_rows
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.kernels import KernelRow


def kernels(console: Console, options: BenchOptions) -> None:
    """Compare observation kernels on the paper's models."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.kernels import measure_models

    models, repetitions = options.model or PAPER_MODELS, 2 if options.quick else 20
    rows: list[dict[str, Any]] = []
    for size in options.n or [200]:
        console.print(f"n = {size}: root mean squared error over that of the oracle particle filter")
        measured = measure_models(models, size, repetitions, report=console.print)
        console.print(error_table(f"RMSE ÷ oracle, n = {size}", measured))
        rows += [{"n": size, **asdict(row)} for row in measured]
        save_rows(console, rows, options.out / "bench_kernels.json")


def rooms(console: Console, options: BenchOptions) -> None:
    """Compare observation kernels on signal strengths, and posteriors where examples are missing."""
    from kmcf_lab.bench.rooms import measure_ble, measure_dependent, measure_uncovered

    rows: list[dict[str, Any]] = []
    few, many = (2, 2) if options.quick else (10, 20)
    studies: dict[str, Callable[[], list[KernelRow]]] = {
        "recorded Bluetooth tracks, leave one out": lambda: measure_ble(report=console.print),
        "simulated room": lambda: measure_dependent(few, report=console.print),
        "RMSE ÷ oracle, poorly covered states": lambda: measure_uncovered(many, report=console.print),
    }
    for title, measure in studies.items():
        measured = measure()
        console.print(error_table(title, measured))
        rows += [asdict(row) for row in measured]
        save_rows(console, rows, options.out / "bench_rooms.json")


def speeds(console: Console, options: BenchOptions) -> None:
    """Time kernel matrices."""
    from kmcf_lab.bench.speeds import measure_speeds

    sizes = options.n or [200 if options.quick else 1000]
    rows = [row for size in sizes for row in measure_speeds(size, report=console.print)]
    table = new_table("One thread", ("kernel", "objects", "n", "n × n matrix, s", "one against n, ms"), left=2)
    for row in rows:
        table.add_row(row.kernel, row.objects, f"{row.n}", f"{row.matrix_seconds:.2f}", f"{row.step_milliseconds:.1f}")
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_speeds.json")
