"""``kmcf reproduce``: the paper's experiments, computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from kmcf.cli.option_groups import with_option_groups
from kmcf.cli.showing import command_line
from kmcf_lab.commands.printing import new_table
from kmcf_lab.commands.reproducing import (
    OUT,
    StudyOptions,
    print_statements,
    resumable,
    write_results,
)

if TYPE_CHECKING:
    from kmcf_lab.cells import Result
    from kmcf_lab.resampling.checks import Quoted
    from kmcf_lab.synthetic.measured import Measured

reproduce = typer.Typer(help="Compute the paper's experiments again and check its statements.", no_args_is_help=True)


def study_command(command: Callable[..., None]) -> Callable[..., None]:
    """Register a command whose options include those of every study."""
    reproduce.command()(with_option_groups(command, shared=False))
    return command


@study_command
def resampling(
    out: Annotated[Path, typer.Option(help=OUT)] = Path("reproduce/resampling"),
    *,
    study: StudyOptions,
) -> None:
    """Section 6.1: the prediction step with and without resampling, the demonstration and the sweep over Σw²."""
    from kmcf_lab.resampling.checks import quoted, statements, typical_result
    from kmcf_lab.resampling.figures import draw_demonstration, draw_sweep
    from kmcf_lab.resampling.report import resampling_report
    from kmcf_lab.resampling.study import draw_of, run_resampling

    console = Console()
    with resumable(console), study.cluster():
        results = run_resampling(
            out / "cells",
            **study.running(20, 5),
            draws=40 if study.quick else 200,
        )
    _print_quoted(console, quoted(results))
    print_statements(console, statements(results))
    pictured = draw_of(typical_result(results).cell)
    figures = [*draw_demonstration(pictured, out), *draw_sweep(results, out)]
    report = resampling_report(results, pictured, command_line())
    write_results(console, results, out, figures, report)


@study_command
def theory(
    out: Annotated[Path, typer.Option(help=OUT)] = Path("reproduce/theory"),
    *,
    study: StudyOptions,
) -> None:
    """Section 5: the three theorems with their proofs, the lemma, the assumptions and the three corollaries."""
    from kmcf_lab.theory.checks import statements
    from kmcf_lab.theory.consistency import SIZES
    from kmcf_lab.theory.figures import draw_benefit, draw_bound, draw_consistency, draw_corollaries, draw_rates
    from kmcf_lab.theory.report import theory_report
    from kmcf_lab.theory.study import run_theory

    console = Console()
    with resumable(console), study.cluster():
        results = run_theory(
            out / "cells",
            **study.running(20, 5),
            draws=100 if study.quick else 300,
            sizes=SIZES[:4] if study.quick else SIZES,
            steps=50 if study.quick else 100,
        )
    print_statements(console, statements(results))
    drawn = (draw_bound, draw_benefit, draw_rates, draw_corollaries, draw_consistency)
    figures = [path for draw in drawn for path in draw(results, out)]
    report = theory_report(results, command_line())
    write_results(console, results, out, figures, report)


@study_command
def synthetic(
    out: Annotated[Path, typer.Option(help=OUT)] = Path("reproduce/synthetic"),
    models: Annotated[list[str] | None, typer.Option(help="A model, 1a to 4b; may be repeated. [default: all]")] = None,
    n: Annotated[
        list[int] | None, typer.Option(min=20, help="A number of examples; may be repeated. [default: 100 200 400]")
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="A method, e.g. KMCF or GP-PF; may be repeated. [default: all]")
    ] = None,
    timed_n: Annotated[
        list[int] | None,
        typer.Option(
            min=20,
            help="A number of examples to measure times at; may be repeated. [default: as --n; without it, 800, too]",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.0, help="Start no cell later than this and report what is done. With 0: only report."),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="A table cells.parquet: its cells are taken as they are, whichever version computed them.",
        ),
    ] = None,
    *,
    study: StudyOptions,
) -> None:
    """Section 6.2: the paper's methods as printed, and ours beside them, on the eight synthetic models.

    Every method has the same number of trials for each parameter it tunes. Every verdict says from which size of
    effect on it can be seen. Data sets are computed one after another for all n, so a stopped run is balanced.
    """
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.synthetic.methods import METHODS, TRIALS_PER_PARAMETER
    from kmcf_lab.synthetic.scaling import SCALED_SIZES
    from kmcf_lab.synthetic.study import (
        QUICK_MODELS,
        QUICK_SCALING,
        QUICK_SIZES,
        QUICK_TRIALS,
        SIZES,
        TIMED_SIZES,
        check_choices,
        run_synthetic,
    )
    from kmcf_lab.tables import read_cells

    console = Console()
    usual = (QUICK_MODELS, QUICK_SIZES) if study.quick else (PAPER_MODELS, SIZES)
    chosen = models or usual[0], n or usual[1], methods or tuple(METHODS)
    try:
        check_choices(*chosen)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    with resumable(console), study.cluster():
        results = run_synthetic(
            out / "cells",
            *chosen,
            **study.running(20, 3),
            timed_at=timed_n or n or (QUICK_SIZES if study.quick else TIMED_SIZES),
            scaling=QUICK_SCALING if study.quick else SCALED_SIZES,
            per_parameter=QUICK_TRIALS if study.quick else TRIALS_PER_PARAMETER,
            known=() if published is None else read_cells(published),
            seconds=None if minutes is None else 60.0 * minutes,
        )
    _show_synthetic(console, results, out)


def _show_synthetic(console: Console, results: Sequence[Result], out: Path) -> None:
    """Print and write what is finished of Section 6.2."""
    from kmcf_lab.synthetic.checks import own_statements, statements
    from kmcf_lab.synthetic.figures import draw_errors, draw_ratios, draw_scaling, draw_times
    from kmcf_lab.synthetic.measured import errors_of
    from kmcf_lab.synthetic.report import shown_size, synthetic_report

    errors = errors_of(results)
    if not errors.values:
        console.print("nothing is finished yet; give it more --minutes, or --resume in a folder that has cells")
        raise typer.Exit(1)
    size = shown_size(errors)
    _print_ratios(console, errors, size)
    print_statements(console, [*statements(results), *own_statements(results)])
    figures = [*draw_errors(results, out), *draw_ratios(results, out, size)]
    figures += [*draw_times(results, out), *draw_scaling(results, out)]
    report = synthetic_report(results, command_line())
    write_results(console, results, out, figures, report)


def _print_quoted(console: Console, numbers: Sequence[Quoted]) -> None:
    title = "Demonstration: squared RKHS errors (lower: share of our draws below the paper's number)"
    table = new_table(title, ("", "paper", "median", "5 %", "95 %", "lower"))
    table.columns[0].min_width = 32
    for one in numbers:
        values = (f"{value:.3g}" for value in (one.paper, one.median, one.low, one.high))
        table.add_row(one.symbol, *values, f"{one.rank:.0%}")
    console.print(table)


def _print_ratios(console: Console, errors: Measured, n: int) -> None:
    title = f"Root mean squared error ÷ that of the oracle, n = {n}"
    table = new_table(title, ("", *errors.models, "all"))
    for method in errors.methods:
        ratios = [errors.ratio(model, n, method) for model in errors.models] + [errors.overall_ratio(n, method)]
        table.add_row(method, *("" if one is None else f"{one.value:.2f}" for one in ratios))
    console.print(table)
