"""``kmcf bench defaults``: what a filter costs and errs as a new user gets it."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console

from kmcf_lab.commands.bench_options import BenchOptions, save_rows
from kmcf_lab.commands.printing import new_table


def defaults(console: Console, options: BenchOptions) -> None:
    """Measure the default filter on observations of many dimensions."""
    from kmcf_lab.bench.defaults import measure_defaults

    rows = measure_defaults(options.n or ([600] if options.quick else [1000, 3000, 4302, 6371]), report=console.print)
    columns = ("problem", "n", "tolerance", "kernel", "engine", "ranks p, q", "fit s", "ms/step", "RMSE", "\u00b1")
    table = new_table("Defaults, processor time of one thread", columns, left=0)
    for row in rows:
        how = (row.tolerance, row.kernel, row.engine, f"{row.ranks[0]}, {row.ranks[1]}")
        numbers = (f"{row.fit_seconds:.1f}", f"{row.milliseconds:.2f}", f"{row.error:.3g}", f"{row.standard_error:.1g}")
        table.add_row(row.problem, f"{row.n}", *how, *numbers)
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_defaults.json")
