"""``kmcf bench``: how fast, how exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from kmcf.cli.showing import command_line

if TYPE_CHECKING:
    from kmcf_lab.bench.baselines import BaselineRow
    from kmcf_lab.bench.engines import Row
    from kmcf_lab.bench.kernels import KernelRow


class Study(StrEnum):
    """What to measure."""

    engines = "engines"
    curve = "curve"
    fit = "fit"
    ranks = "ranks"
    kernels = "kernels"
    rooms = "rooms"
    speeds = "speeds"
    intervals = "intervals"
    tolerance = "tolerance"
    tuning = "tuning"
    baselines = "baselines"
    jax = "jax"


class EngineFamily(StrEnum):
    """Which array library computes."""

    numpy = "numpy"
    jax = "jax"


def bench(
    study: Annotated[
        Study,
        typer.Argument(
            help="engines: time per step and difference to the literal formulas over n. curve: the same over tolerance "
            "and rank, for ten-dimensional observations. fit: memory and time for very many examples. ranks: error at "
            "low rank on the paper's eight models. kernels: untuned errors with plain and learnt observation kernels "
            "on the paper's "
            "models; rooms: the same on real and made-up signal strengths, and with poorly covered states. "
            "speeds: time per kernel matrix. intervals: how often 95 % intervals hold the truth. "
            "tolerance: how posterior means change with it. tuning: what tuning costs and what it gains. "
            "baselines: errors of all methods on the paper's models. "
            "jax: filter steps per second over batch sizes, on whatever device JAX finds."
        ),
    ] = Study.engines,
    n: Annotated[list[int] | None, typer.Option("--n", min=20, help="Number of examples; repeat for several.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model of the paper (1a to 4b); repeat for several.")] = None,
    steps: Annotated[int | None, typer.Option(min=5, help="Steps measured per size.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the table (JSON) and the figure.")] = Path("bench"),
    learnt: Annotated[bool, typer.Option("--learnt", help="engines, curve: use a learnt observation kernel.")] = False,
    trials: Annotated[int, typer.Option(min=0, help="baselines: tune every method by so many trials.")] = 0,
    engine: Annotated[
        EngineFamily, typer.Option(help="engines: which library computes; jax is the study of that name.")
    ] = EngineFamily.numpy,
    batch: Annotated[list[int] | None, typer.Option(min=1, help="jax: batch size; repeat for several.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A version that takes about a minute.")] = False,
) -> None:
    """Measure time per step and accuracy, interleaved in one run on one thread; print and save a table and a figure."""
    console = Console()
    console.print(f"[dim]measuring: {study}[/dim]")
    studies = {
        Study.fit: _fit,
        Study.ranks: _ranks,
        Study.kernels: _kernels,
        Study.rooms: _rooms,
        Study.speeds: _speeds,
        Study.intervals: _intervals,
        Study.tolerance: _tolerance,
        Study.tuning: _tuning,
    }
    if study is Study.engines and engine is EngineFamily.jax:
        study = Study.jax
    if study is Study.jax:
        from kmcf_lab.commands.bench_jax import bench_jax

        bench_jax(console, n, batch, steps, out, quick)
    elif study in (Study.engines, Study.curve):
        _steps(console, study, n, model, steps, out, quick=quick, learnt=learnt)
    elif study is Study.baselines:
        _baselines(console, n, model, trials, out, quick)
    else:
        studies[study](console, n, out, quick)


def _steps(
    console: Console, study: Study, n: Any, model: Any, steps: Any, out: Path, *, quick: bool, learnt: bool
) -> None:
    from kmcf_lab.bench.engines import CURVE_VARIANTS, run_bench

    curve = study is Study.curve
    sizes = [200, 1000] if quick else [200, 500, 1000, 2000, 10_000, 100_000]
    if curve:
        sizes = [300] if quick else [1000]
    rows = run_bench(
        model or (["3a"] if curve else ["1a", "3a"]),
        n or sizes,
        steps=steps or (15 if quick else 40),
        variants=CURVE_VARIANTS if curve else None,
        learnt=learnt,
        report=console.print,
    )
    _show(console, rows, out)


def _fit(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.fit import measure_fit

    rows = [measure_fit(size) for size in n or ([1000, 100_000] if quick else [1000, 100_000, 1_000_000])]
    table = Table(title="Fitting the compressed engine, model 1a", title_justify="left")
    for name in ("n", "ranks p, q", "fit s", "its matrix products alone s", "ratio", "peak GB", "ms/step"):
        table.add_column(name, justify="right")
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
    _save_json(console, [asdict(row) for row in rows], out / "bench_fit.json")


def _ranks(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.ranks import measure_ranks

    rows = measure_ranks((10, 20), repetitions=2 if quick else 10, report=console.print)
    columns = list(dict.fromkeys((row.rank, row.reading) for row in rows))
    table = Table(title="Root mean squared error (± standard error)", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("model")
    for rank, reading in columns:
        table.add_column("exact" if rank is None else f"rank {rank}, {reading}", justify="right")
    for name in dict.fromkeys(row.model for row in rows):
        found = [row for row in rows if row.model == name]
        table.add_row(name, *(f"{row.mean:.3f} ± {row.standard_error:.3f}" for row in found))
    console.print(table)
    _save_json(console, [asdict(row) for row in rows], out / "bench_ranks.json")


def _kernels(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.kernels import measure_models

    rows: list[dict[str, Any]] = []
    for size in n or [200]:
        console.print(f"n = {size}: root mean squared error over that of the oracle particle filter")
        found = measure_models(size, repetitions=2 if quick else 20, report=console.print)
        console.print(_error_table(f"RMSE ÷ oracle, n = {size}", found))
        rows += [{"n": size, **asdict(row)} for row in found]
        _save_json(console, rows, out / "bench_kernels.json")


def _rooms(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.kernels import measure_ble, measure_dependent, measure_uncovered

    rows: list[dict[str, Any]] = []
    studies: dict[str, Callable[[], list[KernelRow]]] = {
        "real Bluetooth tracks, leave one out": lambda: measure_ble(report=console.print),
        "made-up room": lambda: measure_dependent(2 if quick else 10, report=console.print),
        "RMSE ÷ oracle, poorly covered states": lambda: measure_uncovered(2 if quick else 20, report=console.print),
    }
    for title, measure in studies.items():
        found = measure()
        console.print(_error_table(title, found))
        rows += [asdict(row) for row in found]
        _save_json(console, rows, out / "bench_rooms.json")


def _speeds(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.speeds import measure_speeds

    rows = [row for size in n or [200 if quick else 1000] for row in measure_speeds(size, report=console.print)]
    table = Table(title="One thread", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("kernel", "objects", "n", "n × n matrix, s", "one against n, ms"):
        table.add_column(name, justify="left" if name in ("kernel", "objects") else "right")
    for row in rows:
        table.add_row(row.kernel, row.objects, f"{row.n}", f"{row.matrix_seconds:.2f}", f"{row.step_milliseconds:.1f}")
    console.print(table)
    _save_json(console, [asdict(row) for row in rows], out / "bench_speeds.json")


def _intervals(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.intervals import measure_intervals

    rows = measure_intervals(n or [100, 300, 1000], repetitions=2 if quick else 10, report=console.print)
    table = Table(title="Share of true states inside", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("model", "n", "95 % interval", "± standard error", "mean ± 1.96 sd"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.model, f"{row.n}", f"{row.interval:.3f}", f"{row.standard_error:.3f}", f"{row.normal_band:.3f}"
        )
    console.print(table)
    _save_json(console, [asdict(row) for row in rows], out / "bench_intervals.json")


def _tolerance(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.tolerance import measure_tolerances

    rows = measure_tolerances(n or ([150] if quick else [300, 800]), report=console.print)
    table = Table(
        title="Change of posterior means in posterior sd, worst over models, sizes and regularisers",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for name in ("tolerance", "largest median", "largest of all steps"):
        table.add_column(name, justify="left" if name == "tolerance" else "right")
    for label in dict.fromkeys(row.tolerance for row in rows):
        some = [row for row in rows if row.tolerance == label]
        table.add_row(label, f"{max(row.median for row in some):.1e}", f"{max(row.largest for row in some):.1e}")
    console.print(table)
    _save_json(console, [asdict(row) for row in rows], out / "bench_tolerance.json")


def _tuning(console: Console, n: Any, out: Path, quick: bool) -> None:
    from kmcf_lab.bench.tuning import measure_tuning

    rows = measure_tuning(
        ["1a"] if quick else ["1a", "2a", "3a", "4b"],
        (n or [400])[0],
        n_trials=20 if quick else 60,
        repetitions=1 if quick else 3,
        report=console.print,
    )
    table = Table(title="RMSE on new data, one core", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("model", "n", "trials", "pruned", "seconds", "untuned", "tuned"):
        table.add_column(name, justify="right")
    for row in rows:
        numbers = (f"{row.seconds:.1f}", f"{row.untuned:.3f}", f"{row.tuned:.3f}")
        table.add_row(row.model, f"{row.n}", f"{row.trials}", f"{row.pruned}", *numbers)
    console.print(table)
    _save_json(console, [asdict(row) for row in rows], out / "bench_tuning.json")


def _baselines(console: Console, n: Any, model: Any, trials: int, out: Path, quick: bool) -> None:
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.baselines import measure_baselines

    rows: list[dict[str, Any]] = []
    for size in n or [200]:
        found = measure_baselines(model or PAPER_MODELS, size, 2 if quick else 10, trials, report=console.print)
        how = f"tuned by {trials} trials" if trials else "untuned"
        console.print(_error_table(f"Root mean squared error, n = {size}, {how}", found))
        rows += [asdict(row) for row in found]
        _save_json(console, rows, out / "bench_baselines.json")


def _error_table(title: str, rows: Sequence[KernelRow | BaselineRow]) -> Table:
    """Make a table with a line per problem, or per method if there is one problem only."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    problems, methods = (
        list(dict.fromkeys(column)) for column in zip(*((r.problem, r.method) for r in rows), strict=True)
    )
    cells = {(row.problem, row.method): f"{row.mean:.3f} ± {row.standard_error:.3f}" for row in rows}
    lines, columns = (problems, methods) if len(problems) > 1 else (methods, problems)
    table.add_column("problem" if len(problems) > 1 else "method")
    for column in columns:
        table.add_column(column, justify="right")
    for line in lines:
        keys = [(line, column) if len(problems) > 1 else (column, line) for column in columns]
        table.add_row(line, *(cells[key].removesuffix(" ± nan") for key in keys))
    return table


def _show(console: Console, rows: Sequence[Row], out: Path) -> None:
    from kmcf_lab.bench.engines import save_bench

    console.print(
        "One thread, interleaved. ×: speed-up over the literal formulas. median, largest: differences of posterior "
        "means "
        "to them, given the same particles; in sd: the median in units of the posterior sd. same: share of the steps "
        "of a "
        "free run before the first herded point that differs."
    )
    for model, n in dict.fromkeys((row.model, row.n) for row in rows):
        some = [row for row in rows if (row.model, row.n) == (model, n)]
        console.print(_times(f"model {model}, n = {n}", some))
        console.print(_shares(f"model {model}, n = {n}: where the time of a step goes", some))
    for path in save_bench(rows, out, command_line()):
        console.print(f"saved {path}", soft_wrap=True)


def _times(title: str, rows: Sequence[Row]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("method", "p, q", "ms/step", "×", "median", "largest", "in sd", "same"):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
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


def _shares(title: str, rows: Sequence[Row]) -> Table:
    parts = ("kernel", "solve", "herding", "transition", "rest")
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("method", *parts):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for row in rows:
        if row.shares:
            table.add_row(row.method, *(f"{row.shares[part]:.0%}" for part in parts))
    return table


def _number(value: float, form: str) -> str:
    return "" if value != value else format(value, form)


def _save_json(console: Console, rows: list[dict[str, Any]], path: Path) -> None:
    from kmcf.support.plain_json import write_json

    write_json(path, {"command": command_line(), "rows": rows})
    console.print(f"saved {path}", soft_wrap=True)
