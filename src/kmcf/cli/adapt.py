"""``kmcf check-sensor`` and ``kmcf adapt``: sensors that have changed since a model was fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.filtering import driven, start_reading
from kmcf.cli.group import note
from kmcf.cli.script import Code, call
from kmcf.cli.showing import print_columns, print_json, print_table
from kmcf.cli.targets import check_target

SENSOR = "Sensor"
AdaptedOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="MODEL",
        help="The adapted model, if adapting is an improvement; without it, the result is only shown.",
        rich_help_panel=options.OUTPUT,
    ),
]


def check_sensor(
    model: options.ModelArgument,
    files: options.FilesArgument,
    *,
    columns: options.ColumnOptions,
    rate: Annotated[
        float,
        typer.Option(
            min=0.001, max=0.5, help="Share of unchanged sensors that may be reported.", rich_help_panel=SENSOR
        ),
    ] = 0.05,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Test whether the sensor is still the one that the model was fitted to, with a p-value.

    The files are compared with walks over the model's own examples, left out in turn. No states are needed.

    For example:

        kmcf check-sensor model.kmcf today.csv

        kmcf check-sensor model.kmcf today.csv --rate 0.01 --json
    """
    script, loaded, tables = start_reading("kmcf check-sensor", model, files, columns, states=False)
    given: dict[str, Any] = {**driven(loaded, tables), "rate": rate}
    sequences = Code("[recording.observations for recording in recordings]")
    script.add(f"verdict = {call('kmcf.sensor_changed', Code('flt'), sequences, **given)}")
    if python:
        typer.echo(script.text("print(verdict)"))
        return
    with tables.pointing():
        verdict = script.run()["verdict"]
    if as_json:
        print_json(verdict.summary())
    else:
        found = verdict.summary()
        print_table(found.pop("verdict"), found)


def adapt(
    model: options.ModelArgument,
    files: options.FilesArgument,
    *,
    labelled: Annotated[
        bool,
        typer.Option("--labelled", help="The files hold states, too: use them.", rich_help_panel=SENSOR),
    ] = False,
    state: options.OtherStateOption = None,
    columns: options.ColumnOptions,
    out: AdaptedOut = None,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Adapt a model to a sensor that has changed, if that is an improvement on rows left out.

    Without --labelled only observations are used: each column may have been shifted and scaled. With it, rows with
    states are used in whatever way predicts left-out rows best.

    For example:

        kmcf adapt model.kmcf today.csv -o today.kmcf

        kmcf adapt model.kmcf few_rows.csv --labelled -o today.kmcf
    """
    script, loaded, tables = start_reading("kmcf adapt", model, files, columns, states=labelled, state=state)
    if labelled and not tables.state:
        raise ValueError(f"{model} does not say which columns are states; name them with --state.")
    rows = {role: Code(f"[recording.{role} for recording in recordings]") for role in ("observations", "states")}
    if labelled:
        given: dict[str, Any] = {"states": rows["states"]}
    else:
        given = driven(loaded, tables)
    script.add(f"result = {call('kmcf.adapt', Code('flt'), rows['observations'], **given)}")
    if out is not None:
        script.add_folder(out.parent)
        notes = Code(f"{call('kmcf.store.describe_file', model)}['notes']")
        script.add(f"if result.adapted:\n    {call('kmcf.store.save', Code('result.filter'), out, notes=notes)}")
    if python:
        typer.echo(script.text("print(result)"))
        return
    check_target(out, files)
    with tables.pointing():
        result = script.run()["result"]
    _show(result, out, as_json)


def _show(result: Any, out: Path | None, as_json: bool) -> None:
    saved = str(out) if out is not None and result.adapted else None
    if as_json:
        print_json({"model": saved, **result.summary()})
        return
    print_columns("Gain on rows left out", result.rows)
    if not result.adapted:
        note(f"nothing was changed: {result.reason}.")
        return
    note(
        f"adapted by {result.way}" + ("." if saved is None else f"; saved {saved}, whose intervals are not calibrated.")
    )
