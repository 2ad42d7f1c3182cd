"""``kmcf bench jax``: filter steps per second on whatever device JAX finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from kmcf.cli.showing import command_line

if TYPE_CHECKING:
    from kmcf_lab.bench.jax import JaxRow


def bench_jax(console: Console, n: Any, batch: Any, steps: Any, out: Path, quick: bool) -> None:
    """Measure speed over batch sizes, the ways to compute, the parts of a step and the precision; print and save."""
    from kmcf.support.extras import require

    require("jax", "jax").config.update("jax_enable_x64", True)
    from kmcf.support.plain_json import write_json
    from kmcf_lab.bench import jax as study

    setting = study.environment(command_line())
    console.print(f"{setting['device']}, jax {setting['versions']['jax']}, {setting['date']}")
    sizes = n or ([256] if quick else [1024, 4096, 100_000])
    batches = batch or ([1, 16] if quick else [1, 64, 1024, 8192])
    length = steps or (10 if quick else 50)
    rows = study.measure_speed(sizes, batches, steps=length, report=console.print)
    ways = study.measure_algebras(sizes[0], [batches[0], batches[-1]], steps=length, report=console.print)
    parts = [part for size in (batches[0], batches[-1]) for part in study.measure_parts(sizes[0], size, console.print)]
    precision = [study.measure_precision(size, 20 if quick else 200) for size in sizes]
    console.print(_jax_table(rows))
    for row in precision:
        console.print(
            f"float32, n = {row.n}: posterior means differ by {row.median_difference:.1e} sd (median; largest "
            f"{row.largest_difference:.1e}) on the same particles; RMSE {row.error_single:.4f} instead of "
            f"{row.error_double:.4f}."
        )
    found = {
        **setting,
        "speed": [asdict(row) for row in rows],
        "ways": [asdict(row) for row in ways],
        "parts": [asdict(row) for row in parts],
        "precision": [asdict(row) for row in precision],
    }
    write_json(out / "bench_jax.json", found)
    console.print(f"saved {out / 'bench_jax.json'}", soft_wrap=True)


def _jax_table(rows: Sequence[JaxRow]) -> Table:
    table = Table(title="Model 1a, compiled loop", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("n", "p, q", "precision", "batch", "steps/s", "ms/step", "filter()", "NumPy", "compile s"):
        table.add_column(name, justify="right", no_wrap=True)
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
