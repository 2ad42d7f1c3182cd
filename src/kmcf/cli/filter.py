"""``kmcf filter``: observations in, estimates out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli import options as words
from kmcf.cli.code import call
from kmcf.cli.config import Config
from kmcf.cli.estimates import Layout, csv_line, json_line
from kmcf.cli.fit import tell_gaps
from kmcf.cli.group import Debug, note
from kmcf.cli.showing import can_show_progress

if TYPE_CHECKING:
    from kmcf.cli.models import Model
    from kmcf.cli.recipe import Source
    from kmcf.datasets import Recording

STDIN = Path("-")
Observations = Annotated[
    list[Path],
    typer.Argument(metavar="FILES...", help="Observations: CSV, Parquet or NPZ; - reads CSV lines from stdin."),
]
StatesOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="File for the estimates: .csv or .parquet. Without it: stdout.",
        rich_help_panel=words.OUTPUT,
    ),
]


def filter_(
    model: words.Model,
    files: Observations,
    out: StatesOut = None,
    observation: words.OtherObservation = None,
    control: words.Control = None,
    time: words.Time = None,
    sequence: words.Sequence = None,
    encoding: words.Encoding = "utf-8",
    gaps: words.GapsOption = words.Gaps.KEEP,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per estimate and line.", rich_help_panel=words.OUTPUT)
    ] = False,
    python: words.Python = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Estimate the state for every row of observations.

    Columns are those that the model was fitted to, unless named here. Each row gives mean, 95 % interval, mode and
    covariance of the state, effective sample size, coverage by the examples (and a flag where it is low), and whether
    the observation was rejected or missing. Empty cells are missing observations: the state is predicted.

    With - as file, lines are read from stdin as they come and every estimate is written at once.

    For example:

        kmcf filter model.kmcf walk.csv -o states.csv

        sensor | kmcf filter model.kmcf - | tee states.csv

        kmcf filter model.kmcf walk.parquet --gaps fill --json
    """
    del config, debug
    from kmcf.cli.models import load_model
    from kmcf.datasets.column_files import column_names

    _check_ending(out, as_json, streaming=STDIN in files)
    loaded = load_model(model)
    chosen = {"observation": observation, "control": control, "time": time, "sequence": sequence}
    source = replace(loaded.source(files, **chosen, encoding=encoding, gaps=gaps.value), state=())
    if STDIN in files:
        if len(files) > 1 or python:
            raise ValueError("- reads lines from stdin: with it there can be no other file, and no --python.")
        _stream(loaded, source, out, as_json)
        return
    source = source.fitting(column_names(files[0], encoding), files[0].name)
    if python:
        typer.echo(script(model, source, out))
    else:
        _all_at_once(loaded, source, out, as_json)


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


def script(model: Path, source: Source, out: Path | None) -> str:
    """Return code that gives the same numbers."""
    lines = [
        "import pandas",
        "",
        "import kmcf",
        "",
        *runs_code(model, source),
        "names = [recording.name for recording in recordings]",
        "table = pandas.concat([run.to_dataframe() for run in runs], keys=names, names=['sequence'])",
        "print(table)" if out is None else str(call(f"table.{_writer(out)}", out)),
    ]
    return "\n".join(lines)


def runs_code(model: Path, source: Source) -> list[str]:
    """Return the lines of a script that load the model, read the recordings and filter them."""
    return [
        f"flt = {call('kmcf.load', model)}",
        source.code(),
        "runs = flt.filter_many(",
        "    [recording.observations for recording in recordings], [recording.controls for recording in recordings]",
        ")",
    ]


def _writer(out: Path) -> str:
    return "to_parquet" if out.suffix.lower() == ".parquet" else "to_csv"


def filtered(model: Model, recordings: list[Recording], source: str, progress: bool) -> list[Any]:
    """Filter recordings, after comparing their columns with the model's."""
    import numpy as np

    model.check("observation", recordings[0].names["observations"], source)
    for recording in recordings:
        if recording.controls is not None and np.isnan(recording.controls[1:]).any():
            step = int(np.flatnonzero(np.isnan(recording.controls[1:]).any(axis=1))[0]) + 2
            raise ValueError(f"row {step} of the sequence {recording.name!r} in {source} has no control.")
    observations = [recording.observations for recording in recordings]
    controls = [recording.controls for recording in recordings]
    runs: list[Any] = model.filter.filter_many(observations, controls, progress=progress, keep_beliefs=False)
    return runs


def _all_at_once(model: Model, source: Source, out: Path | None, as_json: bool) -> None:
    import numpy as np

    from kmcf.datasets.tables import DATES, missed_steps, usual_step
    from kmcf.store.tables import write_rows
    from kmcf.support.atomic import replacing

    recordings = source.read()
    tell_gaps(recordings, source.gaps)
    runs = filtered(model, recordings, source.files[0].name, can_show_progress() and out is not None)
    dates = recordings[0].units.get("time") == DATES
    layout = Layout(model.states, source.time, source.sequence or ("file" if len(source.files) > 1 else None), dates)
    step = usual_step(recordings) if source.step is None else source.step
    rows = (
        row
        for recording, run in zip(recordings, runs, strict=True)
        for row in layout.rows(
            run, recording.name, recording.time, missed_steps(np.diff(recording.time, prepend=np.nan), step)
        )
    )
    if out is None:
        for line in _lines(layout, rows, as_json):
            sys.stdout.write(line)
        sys.stdout.flush()
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix.lower() == ".parquet":
        write_rows(out, layout.header(), rows)
    else:
        with replacing(out) as file:
            for line in _lines(layout, rows, as_json):
                file.write(line.encode())
    steps, rejected = sum(len(run.time) for run in runs), sum(int(run.rejected.sum()) for run in runs)
    note(f"saved {out}: {steps} estimates of {len(runs)} sequences, {rejected} observations rejected.")


def _lines(layout: Layout, rows: Iterator[list[Any]], as_json: bool) -> Iterator[str]:
    write = json_line if as_json else csv_line
    yield write(layout, None)
    yield from (write(layout, row) for row in rows)


def _stream(model: Model, source: Source, out: Path | None, as_json: bool) -> None:
    from kmcf.cli.streaming import Stream, write_lines

    stream = Stream(model, source, sys.stdin.buffer)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8", newline="") as output:
        write_lines(stream, output, json_line if as_json else csv_line)
