"""``kmcf calibrate``: intervals of a model that hold the truth as often as they say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.filtering import add_reading, uses_times
from kmcf.cli.models import load_model
from kmcf.cli.script import Code, Script, call
from kmcf.cli.showing import print_json, print_table
from kmcf.cli.targets import check_target

CalibratedOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="MODEL",
        help="The calibrated model; without it, MODEL itself is replaced.",
        rich_help_panel=options.OUTPUT,
    ),
]


def calibrate(
    model: options.ModelArgument,
    files: options.FilesArgument,
    *,
    state: options.OtherStateOption = None,
    columns: options.ColumnOptions,
    out: CalibratedOut = None,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Compare a model with true states, and correct its 95 % intervals so that they hold 95 % of them.

    Give files that the model has not seen, or exactly those that it was fitted to: their rows are then left out in
    turn (not with several sensors). kmcf filter and kmcf evaluate use the corrected intervals from then on.

    For example:

        kmcf calibrate model.kmcf held_out.csv

        kmcf calibrate model.kmcf run3.csv run4.csv -o calibrated.kmcf
    """
    from kmcf.datasets.column_files import column_names

    script = Script("kmcf calibrate")
    loaded = load_model(script, model, columns.window)
    tables = loaded.tables(files, state=state, **asdict(columns))
    if not tables.state:
        raise ValueError(f"{model} does not say which columns are states; name them with --state.")
    tables = tables.fitting(column_names(files[0], columns.encoding), files[0].name)
    add_reading(script, loaded, tables, roles=("state", "observation"))
    timed, several = uses_times(loaded, tables), bool(tables.sensors)
    script.add(calibrating("flt", controlled=bool(tables.control), timed=timed, several=several), needs=("numpy",))
    target = model if out is None else out
    script.add_folder(target.parent)
    notes = Code(f"{call('kmcf.store.describe_file', model)}['notes']")
    script.add(call("kmcf.store.save", Code("flt"), target, notes=notes))
    if python:
        typer.echo(script.text())
        return
    check_target(target, files)
    about = _about(target, script.run()["flt"])
    if as_json:
        print_json(about)
    else:
        print_table("Calibrated model", about)


def calibrating(flt: str, *, controlled: bool, timed: bool, several: bool = False) -> str:
    """Return the statement that calibrates a filter, of several sensors perhaps, on all rows of ``recordings``."""
    roles = ("states", "observations", *(("controls",) if controlled else ()))
    columns = dict.fromkeys(roles, "") | ({"times": "time"} if timed else {})
    rows = {
        role: Code(f"numpy.concatenate([recording.{column or role} for recording in recordings])")
        for role, column in columns.items()
    }
    if several:
        said = "numpy.concatenate([recording.by_sensor()[name] for recording in recordings])"
        rows["observations"] = Code(f"{{name: {said} for name in recordings[0].sensors}}")
    groups = Code("[number for number, recording in enumerate(recordings) for _ in recording.time]")
    return call(f"{flt}.calibrate", **rows, groups=groups)


def _about(path: Path, flt: Any) -> dict[str, Any]:
    known = flt.calibration_
    return {
        "model": str(path),
        "steps": known.count,
        "independent_steps": round(known.effective, 1),
        "left_out": known.left_out,
        "stretched_by": [round(float(factor), 3) for factor in known.factor(0.95)],
    }
