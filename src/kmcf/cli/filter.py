"""``kmcf filter``: observations in, estimates out."""

from __future__ import annotations

import io
import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TextIO

import typer

from kmcf.cli import options
from kmcf.cli.filtering import Smoothing, add_filtering
from kmcf.cli.group import counted, note, tell_alarms
from kmcf.cli.models import LoadedModel, load_model
from kmcf.cli.reporting import ReportOptions, add_report
from kmcf.cli.script import Code, Script, call
from kmcf.cli.showing import can_show_progress
from kmcf.cli.table_files import TableFiles
from kmcf.cli.targets import check_target

STDIN = Path("-")
ObservationFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILES...", help="Observations: CSV, Parquet or NPZ; - reads CSV lines from stdin."),
]
EstimatesOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="File for the estimates: .csv, .parquet, or .jsonl with --json. Without it: stdout.",
        rich_help_panel=options.OUTPUT,
    ),
]
JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="One JSON object per estimate and line.", rich_help_panel=options.OUTPUT)
]


def filter_(
    model: options.ModelArgument,
    files: ObservationFiles,
    *,
    out: EstimatesOut = None,
    smooth: options.SmoothOption = False,
    lag: options.LagOption = None,
    columns: options.ColumnOptions,
    page: ReportOptions,
    as_json: JsonLinesOption = False,
    python: options.PythonOption = False,
) -> None:
    """Estimate the state for every row of observations.

    Columns are those that the model was fitted to, unless named here. Each row gives mean, 95 % interval (calibrated,
    if the model is: kmcf fit --calibrate), mode and covariance of the state, effective sample size, coverage by the
    examples (and a flag where it is low), whether the observation was rejected or missing, and whether the estimate
    should not be believed (alarm, alarm_reason). Empty cells are missing: an observation is used with what it has.

    With - as file, lines are read from stdin as they come and every estimate is written at once.

    With --smooth or --lag K estimates know later observations, too, and stand beside the filter's (filtered_mean).

    For example:

        kmcf filter model.kmcf walk.csv -o states.csv

        sensor | kmcf filter model.kmcf - | tee states.csv

        kmcf filter model.kmcf walk.parquet --gaps fill --json

        kmcf filter model.kmcf walk.csv --smooth -o states.csv
        kmcf filter model.kmcf walk.csv -o states.csv --report walk.html --unit m
    """
    from kmcf.datasets.column_files import column_names

    _check_ending(out, as_json, streaming=STDIN in files)
    smoothing = Smoothing.asked(smooth, lag)
    script = Script("kmcf filter")
    loaded = load_model(script, model, columns.window)
    tables = replace(loaded.tables(files, **asdict(columns)), state=(), velocities=False)
    if STDIN in files:
        if len(files) > 1 or python:
            raise ValueError("- reads lines from stdin: with it there can be no other file, and no --python.")
        if smooth:
            raise ValueError("--smooth needs the end of the data, and - has none: --lag K answers K rows later.")
        if page.report is not None:
            raise ValueError("- reads lines from stdin without end, so there can be no --report; name a file.")
        _stream(loaded, tables, out, as_json, lag)
        return
    tables = tables.fitting(column_names(files[0], columns.encoding), files[0].name)
    progress = can_show_progress() and out is not None
    kept = False if page.report is None else None  # a page shows beliefs, where they fit into memory
    add_filtering(script, loaded, tables, roles=("observation",), progress=progress, keep=kept, smoothing=smoothing)
    _add_writing(script, loaded, tables, out, as_json)
    add_report(script, loaded, page, f"{loaded.name} on {', '.join(file.name for file in files)}")
    if python:
        typer.echo(script.text())
        return
    check_target(out, files)
    check_target(page.report)
    with tables.pointing():
        runs = script.run()["runs"]
    tell_alarms(Counter(str(reason) for run in runs for reason in run.alarm_reason), _steps(runs))
    if out is not None:
        estimates = counted(_steps(runs), "estimate")
        rejected = counted(sum(int(run.rejected.sum()) for run in runs), "observation")
        note(f"saved {out}: {estimates} of {counted(len(runs), 'sequence')}, {rejected} rejected.")
    if page.report is not None:
        note(f"saved {page.report}, a page for your browser.")
    lost = sum(int(run.relocated.sum()) for run in runs)
    if lost:
        note(f"observations contradicted the prediction {counted(lost, 'time')}; the state was looked for elsewhere.")


def _steps(runs: Any) -> int:
    return sum(len(run.time) for run in runs)


def _check_ending(out: Path | None, as_json: bool, streaming: bool) -> None:
    """Refuse a file whose name promises another format than it would hold, or a model in place of a table."""
    if out is None:
        return
    ending = out.suffix.lower()
    if ending == ".parquet" and streaming:
        raise ValueError(f"{out}: Parquet cannot be written line by line; with - write .csv, or --json to .jsonl.")
    if ending in (".json", ".jsonl") and not as_json:
        raise ValueError(f"{out}: add --json to write one JSON object per line, or choose a name that ends in .csv.")
    if ending in (".kmcf", ".npz", ".xlsx", ".xls", ".ods"):
        raise ValueError(f"{out}: estimates are written as .csv, as .parquet or, with --json, as .jsonl.")


def _add_writing(script: Script, model: LoadedModel, tables: TableFiles, out: Path | None, as_json: bool) -> None:
    """Add the statements that write the estimates."""
    from kmcf.export.estimates import FORMATS

    ending = "" if out is None else out.suffix.lower()
    wanted = "parquet" if ending == ".parquet" else _line_format(as_json)
    several = len(tables.files) > 1 and tables.sequence is None
    given: dict[str, Any] = {
        "states": model.states,
        "sequence": "file" if several else None,
        "step": tables.step if tables.time else None,
        "format": None if FORMATS.get(ending) == wanted else wanted,
    }
    given = {name: value for name, value in given.items() if value is not None}
    what = (Code("recordings"), Code("runs"))
    if out is None:
        script.add(call("kmcf.export.write_estimates", Code("sys.stdout"), *what, **given), needs=("sys",))
    else:
        script.add_folder(out.parent)
        script.add(call("kmcf.export.write_estimates", out, *what, **given))


def _text_into(file: BinaryIO) -> TextIO:
    return io.TextIOWrapper(file, encoding="utf-8", newline="")


def _line_format(as_json: bool) -> str:
    return "jsonl" if as_json else "csv"


def _stream(model: LoadedModel, tables: TableFiles, out: Path | None, as_json: bool, lag: int | None) -> None:
    from kmcf.cli.streaming import EstimateStream, write_lines
    from kmcf.support.atomic import naming, opened

    stream = EstimateStream(model, tables, sys.stdin.buffer, lag)
    if out is not None:
        check_target(out)
        out.parent.mkdir(parents=True, exist_ok=True)
    with naming(out or "stdout"), nullcontext(sys.stdout) if out is None else _text_into(opened(out)) as output:
        try:
            write_lines(stream, output, _line_format(as_json))
        finally:
            tell_alarms(stream.reasons, stream.reasons.total())
