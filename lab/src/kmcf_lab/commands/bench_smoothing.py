"""``kmcf bench smoothing``: what later observations gain."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console

from kmcf_lab.commands.bench_options import BenchOptions, save_rows
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.smoothing import SmoothingRow

COLUMNS = ("problem", "filtered", "smoothed", "gain", "difference", "÷ oracle: filtered", "smoothed", "cost",
           "left alone")  # fmt: skip
DATA_SETS, CALIBRATED = 12, 8
"""Of each model: for errors, and for calibrated intervals."""

COVERED = (
    "problem",
    "filtered",
    "smoothed",
    "calibrated: filtered",
    "smoothed",
    "lag 3",
    "score: filtered",
    "smoothed",
)


def smoothing(console: Console, options: BenchOptions) -> None:
    """Smooth the paper's models, the Bluetooth tracks and the rat's track, beside oracles where there are any."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.smoothing import geometric_means, measure_smoothing

    quick, chosen = options.quick, options.model is not None
    n = (options.n or [500])[0]
    _coverage(console, options)
    rows = []
    for row in measure_smoothing(
        options.model or (("1a", "2b") if quick else PAPER_MODELS),
        n,
        steps=options.steps or 200,
        repetitions=2 if quick else DATA_SETS,
        tracks=0 if chosen else 1 if quick else 9,
        spikes=not (chosen or quick),
        away=not chosen,
    ):
        rows.append(row)
        save_rows(console, [asdict(row) for row in rows], options.out / "bench_smoothing.json")
    table = new_table(f"Filtering and smoothing; models with n = {n} examples", COLUMNS)
    for row in rows:
        table.add_row(row.problem, *_cells(row))
    console.print(table)
    models = [row for row in rows if row.problem in PAPER_MODELS]
    if models:
        filtered, smoothed = geometric_means(models)
        console.print(f"÷ oracle, geometric mean over models: filtered {filtered:.3f}, smoothed {smoothed:.3f}")


def _coverage(console: Console, options: BenchOptions) -> None:
    """Count how often intervals hold the truth."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.smoothing_intervals import measure_coverage

    rows = []
    for row in measure_coverage(
        options.model or (("1a",) if options.quick else PAPER_MODELS),
        (options.n or [300])[0],
        steps=options.steps or 200,
        repetitions=1 if options.quick else CALIBRATED,
    ):
        rows.append(row)
        save_rows(console, [asdict(row) for row in rows], options.out / "bench_smoothing_intervals.json")
    table = new_table("True states inside 95 % intervals", COVERED)
    for row in rows:
        shares = (row.filtered, row.smoothed, row.filtered_calibrated, row.smoothed_calibrated, row.lagging_calibrated)
        scores = (row.filtered_score, row.smoothed_score)
        table.add_row(row.problem, *(f"{share:.3f}" for share in shares), *(f"{score:.2f}" for score in scores))
    console.print(table)


def _cells(row: SmoothingRow) -> tuple[str, ...]:
    known = row.oracle_smoothed == row.oracle_smoothed
    ratios = (row.filtered / row.oracle_filtered, row.smoothed / row.oracle_smoothed) if known else ()
    return (
        f"{row.filtered:.3f}",
        f"{row.smoothed:.3f}",
        f"{row.gain:.1%}",
        f"{row.difference:+.3f} ± {row.standard_error:.3f}",
        *(tuple(f"{ratio:.3f}" for ratio in ratios) or ("", "")),
        f"{row.cost:.1f}",
        f"{row.unsmoothed:.1%}",
    )
