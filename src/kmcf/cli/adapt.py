"""``kmcf check-sensor`` and ``kmcf adapt``: sensors that have changed since a model was fitted."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.filtering import add_reading, uses_times
from kmcf.cli.group import note
from kmcf.cli.models import LoadedModel, load_model
from kmcf.cli.script import Code, Script, call
from kmcf.cli.showing import can_show_progress, print_columns, print_json, print_table

if TYPE_CHECKING:
    from kmcf.cli.table_files import TableFiles

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
    script, loaded, tables = _reading("kmcf check-sensor", model, files, columns, states=False)
    given: dict[str, Any] = {**_drives(loaded, tables), "rate": rate}
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
    script, loaded, tables = _reading("kmcf adapt", model, files, columns, states=labelled, state=state)
    if labelled and not tables.state:
        raise ValueError(f"{model} does not say which columns are states; name them with --state.")
    rows = {role: Code(f"[recording.{role} for recording in recordings]") for role in ("observations", "states")}
    if labelled:
        given: dict[str, Any] = {"states": rows["states"]}
    else:
        given = _drives(loaded, tables)
    script.add(f"result = {call('kmcf.adapt', Code('flt'), rows['observations'], **given)}")
    if out is not None:
        script.add_folder(out.parent)
        notes = Code(f"{call('kmcf.store.describe_file', model)}['notes']")
        script.add(f"if result.adapted:\n    {call('kmcf.store.save', Code('result.filter'), out, notes=notes)}")
    if python:
        typer.echo(script.text("print(result)"))
        return
    with tables.pointing():
        result = script.run()["result"]
    _show(result, out, as_json)


def _reading(
    name: str, model: Path, files: list[Path], columns: options.ColumnOptions, *, states: bool, **more: Any
) -> tuple[Script, LoadedModel, TableFiles]:
    """Start a script that loads a model and reads files for it."""
    from kmcf.datasets.column_files import column_names

    script = Script(name)
    loaded = load_model(script, model, columns.window)
    tables = loaded.tables(files, **more, **asdict(columns))
    if tables.sensors:
        raise ValueError(f"{name} takes a model of one sensor; {model} has several.")
    tables = tables if states else replace(tables, state=())
    tables = tables.fitting(column_names(files[0], columns.encoding), files[0].name)
    add_reading(script, loaded, tables, roles=("state", "observation") if states else ("observation",))
    return script, loaded, tables


def _drives(model: LoadedModel, tables: TableFiles) -> dict[str, Any]:
    """Return the arguments that hold controls and times, and whether progress is shown."""
    given: dict[str, Any] = {}
    if tables.control:
        given["controls"] = Code("[recording.controls for recording in recordings]")
    if uses_times(model, tables):
        given["times"] = Code("[recording.time for recording in recordings]")
    if can_show_progress():
        given["progress"] = True
    return given


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
