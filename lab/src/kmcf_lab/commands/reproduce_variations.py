"""``kmcf reproduce abc`` and ``normalisation``: what the paper mentions, and does not show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kmcf.cli.showing import command_line
from kmcf_lab.commands.reproduce import reproduce, study_command
from kmcf_lab.commands.reproducing import (
    OUT,
    StudyOptions,
    print_statements,
    resumable,
    write_results,
)

__all__ = ["abc", "normalisation", "reproduce"]


@study_command
def abc(
    out: Annotated[Path, typer.Option(help=OUT)] = Path("reproduce/abc"),
    *,
    study: StudyOptions,
) -> None:
    """Section 2: observations that can only be simulated; KMCF and an ABC filter with equally many simulations."""
    from kmcf_lab.abc.checks import statements
    from kmcf_lab.abc.figures import draw_errors
    from kmcf_lab.abc.report import abc_report
    from kmcf_lab.abc.study import BUDGETS, LENGTHS, MODELS, run_abc

    console = Console()
    with resumable(console), study.cluster():
        results = run_abc(
            out / "cells",
            MODELS[:2] if study.quick else MODELS,
            BUDGETS[:2] if study.quick else BUDGETS,
            LENGTHS,
            **study.running(5, 3),
        )
    print_statements(console, statements(results), "Who does better")
    write_results(console, results, out, draw_errors(results, out), abc_report(results, command_line()))


@study_command
def normalisation(
    out: Annotated[Path, typer.Option(help=OUT)] = Path("reproduce/normalisation"),
    *,
    study: StudyOptions,
) -> None:
    """Section 4.3: the filter without line 16 of Algorithm 3, and the sums of its weights."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.normalisation.checks import statements
    from kmcf_lab.normalisation.figures import draw_ratios, draw_sums
    from kmcf_lab.normalisation.report import normalisation_report
    from kmcf_lab.normalisation.study import SIZES, TRIALS, run_normalisation

    console = Console()
    with resumable(console), study.cluster():
        results = run_normalisation(
            out / "cells",
            PAPER_MODELS[::2] if study.quick else PAPER_MODELS,
            SIZES[:3] if study.quick else SIZES,
            **study.running(12, 4),
            trials=3 if study.quick else TRIALS,
        )
    print_statements(console, statements(results))
    figures = [*draw_ratios(results, out), *draw_sums(results, out)]
    write_results(console, results, out, figures, normalisation_report(results, command_line()))
