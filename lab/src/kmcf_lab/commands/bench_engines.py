"""``kmcf bench engines``, ``curve``, ``fit``, ``ranks``, ``tolerance``: how fast and how exact the engines are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from kmcf.cli.showing import command_line
from kmcf_lab.commands.bench_options import BenchOptions, save_rows, tell_slower
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.engines import EngineRow

_LEGEND = (
    "One thread, interleaved. ×: speed-up over the literal formulas. median, largest: differences of posterior means "
    "to them, given the same particles; in sd: the median in units of the posterior sd. same: share of the steps of a "
    "free run before the first herded point that differs."
)


def engines(console: Console, options: BenchOptions) -> None:
    """Measure every engine over the number of examples."""
    from kmcf_lab.bench.engines import measure_engines

    sizes = [200, 1000] if options.quick else [200, 500, 1000, 2000, 10_000, 100_000]
    rows = measure_engines(
        options.model or ["1a", "3a"],
        options.n or sizes,
        steps=options.steps or (15 if options.quick else 40),
        learnt=options.learnt,
        report=console.print,
    )
    _show(console, rows, options)


def curve(console: Console, options: BenchOptions) -> None:
    """Measure speed against error over tolerances and ranks."""
    from kmcf_lab.bench.engines import CURVE_VARIANTS, measure_engines

    rows = measure_engines(
        options.model or ["3a"],
        options.n or ([300] if options.quick else [1000]),
        steps=options.steps or (15 if options.quick else 40),
        variants=CURVE_VARIANTS,
        learnt=options.learnt,
        report=console.print,
    )
    _show(console, rows, options)


def fit(console: Console, options: BenchOptions) -> None:
    """Measure time and memory of fitting very many examples."""
    from kmcf_lab.bench.fit import measure_fit

    sizes = [1000, 100_000] if options.quick else [1000, 100_000, 1_000_000]
    rows = [measure_fit(size) for size in options.n or sizes]
    columns = ("n", "ranks p, q", "fit s", "its matrix products alone s", "ratio", "peak GB", "ms/step")
    table = new_table("Fitting the compressed engine, model 1a", columns, left=0)
    for row in rows:
        table.add_row(
            f"{row.n}",
            f"{row.ranks[0]}, {row.ranks[1]}",
            f"{row.seconds:.2f}",
            f"{row.products_seconds:.2f}",
            f"{row.seconds / row.products_seconds:.2f}",
            f"{row.peak_gigabytes:.2f}",
            f"{row.milliseconds_per_step:.2f}",
        )
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_fit.json")


def world(console: Console, options: BenchOptions) -> None:
    """Follow an object through a world far larger than what the state kernel sees."""
    from kmcf_lab.bench.world import measure_world

    sizes = [3000, 30_000] if options.quick else [10_000, 100_000, 1_000_000]
    rows = [row for size in options.n or sizes for row in measure_world(size, steps=options.steps or 100)]
    columns = ("n", "start", "engine", "fit s", "first step ms", "ms/step", "solved for", "error m", "peak GB")
    table = new_table("One example per square metre, kernel width 2 m, processor time of one thread", columns, left=0)
    for row in rows:
        times = (f"{row.fit_seconds:.2f}", f"{row.first_milliseconds:.1f}", f"{row.milliseconds_per_step:.2f}")
        rest = (f"{row.solved_for:.0f}", f"{row.error:.2f}", f"{row.peak_gigabytes:.2f}")
        table.add_row(f"{row.n}", row.start, row.engine, *times, *rest)
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_world.json")


def distributed(console: Console, options: BenchOptions) -> None:
    """Fit on Dask chunks, beside fits in memory."""
    from kmcf_lab.bench.distributed import IN_MEMORY, measure_distributed

    sizes = options.n or ([20_000, 100_000] if options.quick else [100_000, 1_000_000, 10_000_000])
    with TemporaryDirectory() as folder:
        rows = [
            measure_distributed(n, workers, Path(folder))
            for n in sizes
            for workers in (0, 1, 2)
            if workers or n <= IN_MEMORY
        ]
    columns = ("n", "workers", "fit s", "peak GB", "moved MB", "ranks p, q", "kept", "RMSE", "ms/step")
    table = new_table("Fits on Dask chunks of 500 000 examples, model 1a (0 workers: in memory)", columns, left=0)
    for row in rows:
        sizes_of = (f"{row.ranks[0]}, {row.ranks[1]}", f"{row.kept}")
        costs = (f"{row.fit_seconds:.1f}", f"{row.peak_gigabytes:.2f}", f"{row.moved_megabytes:.1f}")
        table.add_row(
            f"{row.n}", f"{row.workers}", *costs, *sizes_of, f"{row.error:.4f}", f"{row.milliseconds_per_step:.2f}"
        )
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_distributed.json")


def ranks(console: Console, options: BenchOptions) -> None:
    """Measure the error at low rank."""
    from kmcf_lab.bench.ranks import measure_ranks

    rows = measure_ranks((10, 20), repetitions=2 if options.quick else 10, report=console.print)
    variants = dict.fromkeys((row.rank, row.reading) for row in rows)
    columns = ["exact" if rank is None else f"rank {rank}, {reading}" for rank, reading in variants]
    table = new_table("Root mean squared error (± standard error)", ["model", *columns])
    for name in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == name]
        table.add_row(name, *(f"{row.mean:.3f} ± {row.standard_error:.3f}" for row in own))
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_ranks.json")


def tolerance(console: Console, options: BenchOptions) -> None:
    """Measure how posterior means change with the tolerance."""
    from kmcf_lab.bench.tolerance import measure_tolerances

    rows = measure_tolerances(options.n or ([150] if options.quick else [300, 800]), report=console.print)
    title = "Change of posterior means in posterior sd, worst over models, sizes and regularisers"
    table = new_table(title, ("tolerance", "largest median", "largest of all steps"))
    for label in dict.fromkeys(row.tolerance for row in rows):
        some = [row for row in rows if row.tolerance == label]
        table.add_row(label, f"{max(row.median for row in some):.1e}", f"{max(row.largest for row in some):.1e}")
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_tolerance.json")


def _show(console: Console, rows: Sequence[EngineRow], options: BenchOptions) -> None:
    from kmcf_lab.bench.engines_report import save_engines

    console.print(_LEGEND)
    for model, n in dict.fromkeys((row.model, row.n) for row in rows):
        some = [row for row in rows if (row.model, row.n) == (model, n)]
        console.print(_times(f"model {model}, n = {n}", some))
        console.print(_shares(f"model {model}, n = {n}: where the time of a step goes", some))
    for path in save_engines(rows, options.out, command_line()):
        console.print(f"saved {path}", soft_wrap=True)
    tell_slower(console, [asdict(row) for row in rows], options.out / "bench.json")


def _times(title: str, rows: Sequence[EngineRow]) -> Table:
    columns = ("method", "p, q", "ms/step", "×", "median", "largest", "in sd", "same")
    table = new_table(title, columns, no_wrap=True)
    for row in rows:
        table.add_row(
            f"{row.method} ({row.engine})" if row.method == "auto" else row.method,
            "" if row.ranks is None or row.engine in ("literal", "exact") else f"{row.ranks[0]}, {row.ranks[1]}",
            f"{row.milliseconds:.2f}",
            _number(row.speed_up, ".1f"),
            _number(row.median_difference, ".0e"),
            _number(row.largest_difference, ".0e"),
            _number(row.difference_in_sd, ".0e"),
            _number(row.agreement, ".0%"),
        )
    return table


def _shares(title: str, rows: Sequence[EngineRow]) -> Table:
    parts = ("kernel", "solve", "herding", "transition", "rest")
    table = new_table(title, ("method", *parts), no_wrap=True)
    for row in rows:
        if row.shares:
            table.add_row(row.method, *(f"{row.shares[part]:.0%}" for part in parts))
    return table


def _number(value: float, form: str) -> str:
    return "" if value != value else format(value, form)
