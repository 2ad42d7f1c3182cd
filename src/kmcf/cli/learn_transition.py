"""``kmcf learn-transition``: what is not known about the motion, from files of observations without states."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.filtering import driven, start_reading
from kmcf.cli.group import note
from kmcf.cli.models import LoadedModel
from kmcf.cli.script import Code, call
from kmcf.cli.showing import print_columns, print_json
from kmcf.cli.targets import check_target

if TYPE_CHECKING:
    from kmcf.cli.table_files import TableFiles

LEARNING = "Learning"


class Method(StrEnum):
    """How a transition is learnt."""

    evidence = "evidence"
    em = "em"


LearntOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="MODEL",
        help="The model with the transition learnt; without it, the estimates are only shown.",
        rich_help_panel=options.OUTPUT,
    ),
]


def learn_transition(
    model: options.ModelArgument,
    files: options.FilesArgument,
    *,
    parameter: Annotated[
        list[str],
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME[=LOW:HIGH]",
            help="What to learn, by name: scale, alpha1=0.001:1. Can be given several times.",
            rich_help_panel=LEARNING,
        ),
    ],
    columns: options.ColumnOptions,
    repeats: Annotated[
        int, typer.Option(min=1, help="Filter each sequence so many times.", rich_help_panel=LEARNING)
    ] = 1,
    method: Annotated[
        Method,
        typer.Option(
            help="evidence: search for the transition that predicts best; em: expectation maximisation through the "
            "smoother.",
            rich_help_panel=LEARNING,
        ),
    ] = Method.evidence,
    out: LearntOut = None,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Learn parameters of a model's transition from observations alone: no states are needed.

    Give files that the model has not seen. The transition is the one that kmcf fit chose; kmcf inspect shows its
    parameters. The model is filtered with one value after the other, and the one that predicts the observations
    best is taken, with a 95 % interval.

    For example:

        kmcf learn-transition model.kmcf later.csv -p scale

        kmcf learn-transition model.kmcf later.csv -p scale=0.05:2 -o better.kmcf

        kmcf learn-transition model.kmcf later.csv -p scale --method em
    """
    bounds = dict(read_parameter(words) for words in parameter)
    script, loaded, tables = start_reading("kmcf learn-transition", model, files, columns, sensors=True)
    script.add(f"result = {learning(loaded, tables, bounds, repeats, method)}")
    if out is not None:
        script.add_folder(out.parent)
        notes = Code(f"{call('kmcf.store.describe_file', model)}['notes']")
        script.add(call("kmcf.store.save", Code("result.best_filter"), out, notes=notes))
    if python:
        typer.echo(script.text("print(result.estimates, result.intervals)"))
        return
    check_target(out, files)
    with tables.pointing():
        summary = script.run()["result"].summary()
    _show(summary, out, as_json)


def learning(
    model: LoadedModel, tables: TableFiles, bounds: dict[str, Any], repeats: int, method: Method = Method.evidence
) -> str:
    """Return the call that learns from ``recordings``."""
    seen = "by_sensor()" if tables.sensors else "observations"
    sequences = Code(f"[recording.{seen} for recording in recordings]")
    given: dict[str, Any] = {"repeats": repeats} if repeats != 1 else {}
    if method is not Method.evidence:
        given["method"] = method.value
    return call("kmcf.learn_transition", Code("flt"), sequences, bounds, **given, **driven(model, tables))


def read_parameter(words: str) -> tuple[str, tuple[float, float] | None]:
    """Read a parameter as it was typed.

    Examples
    --------
    >>> read_parameter("scale"), read_parameter("alpha1=0.01:1")
    (('scale', None), ('alpha1', (0.01, 1.0)))
    """
    name, equals, bounds = words.partition("=")
    low, colon, high = bounds.partition(":")
    if not name.strip() or (equals and not colon):
        raise ValueError(f"--parameter {words}: name a parameter, as scale, or with bounds, as scale=0.1:2.")
    if not equals:
        return name.strip(), None
    try:
        return name.strip(), (float(low), float(high))
    except ValueError:
        raise ValueError(f"--parameter {words}: the bounds {bounds} are not two numbers, as 0.1:2.") from None


def _show(summary: dict[str, Any], out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(summary if out is None else {"model": str(out), **summary})
        return
    rows = [{"parameter": name, **found} for name, found in summary["parameters"].items()]
    print_columns(f"Learnt from {summary['steps']} steps, {summary['trials']} transitions tried", rows)
    if summary["gain"] < -2.0 * summary["gain_error"]:
        note("the transition learnt predicts clearly worse than the one that the model had: do not use it.")
    elif not summary["improved"]:
        note("the transition learnt does not predict clearly better than the one that the model had.")
    if out is not None:
        note(f"saved {out}; its intervals are not calibrated: see kmcf calibrate.")
