"""``kmcf bench endurance``: what long runs, kills, interrupts and damaged files do."""

from __future__ import annotations

from dataclasses import asdict, replace

from rich.console import Console

from kmcf.cli.showing import command_line
from kmcf_lab.commands.bench_options import BenchOptions
from kmcf_lab.commands.printing import new_table


def endurance(console: Console, options: BenchOptions) -> None:
    """Try everything that could break a run or lose a file; print and save how often it held."""
    from kmcf.support.atomic import write_atomically
    from kmcf.support.plain_json import write_json
    from kmcf_lab.bench.endurance import Sizes, as_markdown, measure_endurance
    from kmcf_lab.versions import versions

    sizes = Sizes.quick() if options.quick else Sizes()
    if options.steps is not None:
        sizes = replace(sizes, steps=options.steps)
    rows = measure_endurance(sizes, report=console.print)
    table = new_table("Endurance", ("trial", "tried", "held", "measured", "s"))
    for row in rows:
        table.add_row(row.trial, f"{row.tried}", f"{row.held}", row.measured, f"{row.seconds:.0f}")
    console.print(table)
    for row in rows:
        if row.first_failure:
            console.print(f"failed: {row.trial}: {row.first_failure}", markup=False, style="red")
    data = options.out / "bench_endurance.json"
    write_json(data, {"command": command_line(), **versions(), "rows": [asdict(row) for row in rows]})
    page = write_atomically(options.out / "report.md", as_markdown(rows, command_line()))
    for path in (data, page):
        console.print(f"saved {path}", soft_wrap=True)
