"""``kmcf bench jax``: filter steps per second on the device that JAX finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from kmcf.cli.showing import command_line
from kmcf.support.extras import require
from kmcf_lab.commands.bench_options import BenchOptions
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.jax import JaxRow


def jax(console: Console, options: BenchOptions) -> None:
    """Measure speed over batch sizes, the kinds of herding, the parts of a step, variants, the precision; save it."""
    require("jax", "jax").config.update("jax_enable_x64", True)
    from kmcf.support.plain_json import write_json
    from kmcf_lab.bench import jax as study
    from kmcf_lab.bench import jax_variants

    setting = study.environment(command_line())
    console.print(f"{setting['device']}, jax {setting['versions']['jax']}, {setting['date']}")
    quick = options.quick
    sizes = options.n or ([256] if quick else [1024, 4096, 100_000])
    batches = options.batch or ([1, 16] if quick else [1, 64, 1024, 8192])
    length = options.steps or (10 if quick else 50)
    ends = [batches[0], batches[-1]]
    rows = study.measure_speed(sizes, batches, steps=length, report=console.print)
    kinds = study.measure_algebras(sizes[0], ends, steps=length, report=console.print)
    parts = [part for size in ends for part in study.measure_parts(sizes[0], size, console.print)]
    firsts = [study.measure_first(size, batch=16 if quick else 4096, steps=length) for size in sizes]
    for first in firsts:
        console.print(
            f"n = {first.n}, {first.particles} particles, {first.batch} sequences: the first call took "
            f"{first.first_seconds:.1f} s, a later one {first.later_seconds:.2f} s"
        )
    some = options.batch or ([1, 16] if quick else [1, 64, 1024])
    variants = jax_variants.measure_variants(sizes[:1], some, steps=length, report=console.print)
    precision = [study.measure_precision(size, 20 if quick else 200) for size in sizes]
    console.print(_speeds(rows))
    for row in precision:
        console.print(
            f"float32, n = {row.n}: posterior means differ by {row.median_difference:.1e} sd (median; largest "
            f"{row.largest_difference:.1e}) on the same particles; RMSE {row.error_single:.4f} instead of "
            f"{row.error_double:.4f}."
        )
    tables: dict[str, Sequence[Any]] = {
        "speed": rows,
        "ways": kinds,
        "parts": parts,
        "first": firsts,
        "variants": variants,
        "precision": precision,
    }
    path = options.out / "bench_jax.json"
    write_json(path, {**setting, **{name: [asdict(row) for row in table] for name, table in tables.items()}})
    console.print(f"saved {path}", soft_wrap=True)


def _speeds(rows: Sequence[JaxRow]) -> Table:
    columns = ("n", "p, q", "precision", "batch", "steps/s", "ms/step", "filter()", "NumPy", "compile s")
    table = new_table("Model 1a, compiled loop", columns, left=0, no_wrap=True)
    for row in rows:
        table.add_row(
            f"{row.n}",
            f"{row.ranks[0]}, {row.ranks[1]}",
            row.dtype,
            f"{row.batch}",
            f"{row.steps_per_second:,.0f}",
            f"{row.milliseconds_per_step:.3f}",
            f"{row.through_filter:,.0f}",
            f"{row.numpy_steps_per_second:,.0f}",
            f"{row.compile_seconds:.1f}",
        )
    return table
