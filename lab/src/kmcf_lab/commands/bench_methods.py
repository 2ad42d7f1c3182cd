"""How good the filter is, beside others: ``kmcf bench`` baselines, intervals, calibration, kidnapping, tuning."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

from rich.console import Console

from kmcf_lab.commands.bench_options import BenchOptions, error_table, save_rows, write_rows
from kmcf_lab.commands.printing import new_table


def baselines(console: Console, options: BenchOptions) -> None:
    """Compare all methods on the paper's models."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.baselines import measure_baselines

    rows: list[dict[str, Any]] = []
    models, repetitions = options.model or PAPER_MODELS, 2 if options.quick else 10
    for size in options.n or [200]:
        measured = measure_baselines(models, size, repetitions, options.trials, report=console.print)
        how = f"tuned by {options.trials} trials" if options.trials else "untuned"
        console.print(error_table(f"Root mean squared error, n = {size}, {how}", measured))
        rows += [asdict(row) for row in measured]
        save_rows(console, rows, options.out / "bench_baselines.json")


def peers(console: Console, options: BenchOptions) -> None:
    """Compare with other packages, where they are installed."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.peers import measure_peers

    models, (size,) = options.model or PAPER_MODELS, options.n or [200]
    rows = measure_peers(models, size, 2 if options.quick else 10, report=console.print)
    columns = ("model", "method", "RMSE", "±", "ms per step")
    table = new_table(f"Beside other packages, n = {size}; processor time of one thread", columns, left=2)
    for row in rows:
        table.add_row(
            row.problem, row.method, f"{row.mean:.3f}", f"{row.standard_error:.3f}", f"{row.milliseconds:.2f}"
        )
    console.print(table)
    missing = [name for name in ("particles", "stonesoup") if not find_spec(name)]
    if missing:
        console.print(f"not installed, so not compared: {', '.join(missing)} (pip install --no-deps {missing[0]} …)")
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_peers.json")


def intervals(console: Console, options: BenchOptions) -> None:
    """Count how often intervals contain the true state."""
    from kmcf_lab.bench.intervals import measure_intervals

    rows = measure_intervals(
        options.n or [100, 300, 1000], repetitions=2 if options.quick else 10, report=console.print
    )
    columns = ("model", "n", "95 % interval", "± standard error", "mean ± 1.96 sd")
    table = new_table("Share of true states inside", columns, left=0)
    for row in rows:
        shares = (f"{row.interval:.3f}", f"{row.standard_error:.3f}", f"{row.normal_band:.3f}")
        table.add_row(row.model, f"{row.n}", *shares)
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_intervals.json")


def calibration(console: Console, options: BenchOptions) -> None:
    """Count the same before and after calibration, and rank true states among their beliefs' quantiles."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.calibration import draw_ranks, measure_calibration, summarise

    sizes, models = options.n or [100, 300, 1000], options.model or list(PAPER_MODELS)
    cells = measure_calibration(models, sizes, repetitions=2 if options.quick else 30, report=console.print)
    rows = summarise(cells)
    columns = ("model", "n", "method", "95 % interval", "± over data sets", "width", "CRPS", "interval score")
    table = new_table("Share of true states inside; the rest divided by the oracle's", columns, left=0)
    for row in rows:
        numbers = (f"{row.inside:.3f}", f"{row.spread:.3f}")
        ratios = (f"{number:.2f}" for number in (row.width, row.crps, row.interval_score))
        table.add_row(row.model, f"{row.n}", row.method, *numbers, *ratios)
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_calibration.json")
    for path in draw_ranks(rows, options.out):
        console.print(f"saved {path}", soft_wrap=True)


def tuning(console: Console, options: BenchOptions) -> None:
    """Measure what tuning costs and gains."""
    from kmcf_lab.bench.tuning import measure_tuning

    rows = measure_tuning(
        ["1a"] if options.quick else ["1a", "2a", "3a", "4b"],
        (options.n or [400])[0],
        n_trials=20 if options.quick else 60,
        repetitions=1 if options.quick else 3,
        report=console.print,
    )
    columns = ("model", "n", "trials", "pruned", "seconds", "untuned", "tuned")
    table = new_table("RMSE on new data, one core", columns, left=0)
    for row in rows:
        numbers = (f"{row.seconds:.1f}", f"{row.untuned:.3f}", f"{row.tuned:.3f}")
        table.add_row(row.model, f"{row.n}", f"{row.trials}", f"{row.pruned}", *numbers)
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_tuning.json")


def kidnapping(console: Console, options: BenchOptions) -> None:
    """Let the state jump, and count the observations until each filter is back; compare errors without a jump."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.kidnapping import measure_kidnapping
    from kmcf_lab.bench.kidnapping_calm import measure_calm

    rows = measure_kidnapping(
        options.model or (["1a"] if options.quick else ["1a", "2a"]),
        (options.n or [300])[0],
        repetitions=2 if options.quick else 20,
        tracks=1 if options.quick else 9,
        report=console.print,
        robots=options.path,
        done=lambda rows: write_rows([asdict(row) for row in rows], options.out / "bench_kidnapping.json"),
    )
    table = new_table("After a jump", ["problem", "method", "observations", "back", "error", "jumps"], left=2)
    for row in rows:
        shown = (f"{row.median:g}", f"{row.back:.0%}", f"{row.error:.3f}", str(row.jumps))
        table.add_row(row.problem, row.method, *shown)
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_kidnapping.json")
    calm = measure_calm(
        options.model or (["1a"] if options.quick else PAPER_MODELS),
        options.n or ([60] if options.quick else [200, 300]),
        repetitions=2 if options.quick else 20,
        report=console.print,
        done=lambda rows: write_rows([asdict(row) for row in rows], options.out / "bench_kidnapping_calm.json"),
    )
    table = new_table("Without a jump", ["model", "n", "method", "error", "loss", "looks"], left=3)
    for found in calm:
        loss = f"{found.loss:+.1%} ± {found.loss_error:.1%}"
        table.add_row(found.model, str(found.n), found.method, f"{found.error:.3f}", loss, f"{found.looks:.1%}")
    console.print(table)
    save_rows(console, [asdict(row) for row in calm], options.out / "bench_kidnapping_calm.json")
