"""``kmcf fit``: a model file from recorded examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.calibrate import calibrating
from kmcf.cli.cluster import (
    SchedulerOption,
    WorkersOption,
    check_cluster,
    fitted_to,
    on_the_cluster,
    reading_chunks,
    tell_first,
)
from kmcf.cli.group import note
from kmcf.cli.recipe import example_files, filter_statements
from kmcf.cli.script import Code, Script, call
from kmcf.cli.sensors import about_sensors, floor_of, tell_silent
from kmcf.cli.showing import can_show_progress, print_json, print_table
from kmcf.cli.table_files import TableFiles, tell_gaps
from kmcf.cli.targets import check_target
from kmcf.cli.windows import add_windows, check_floor, check_length, read_windows
from kmcf.support.phases import bar_if_slow

ModelOut = Annotated[
    Path, typer.Option("--out", "-o", metavar="MODEL", help="The model file.", rich_help_panel=options.OUTPUT)
]


def fit(
    examples: options.ExampleOptions,
    motion: options.TransitionOptions,
    settings: options.FilterOptions,
    seed: options.SeedOption = 0,
    calibrate: options.CalibrateOption = False,
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    out: ModelOut = Path("model.kmcf"),
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Learn a filter from recorded examples and save it as one file.

    A row is one step: where the state was, what was observed there. How states move is learnt from rows that follow
    each other; a new file, or a new value of --sequence, begins a new sequence.

    For example:

        kmcf fit walk.csv --state x,y --observation 'rssi_*' --time t

        kmcf fit run1.csv run2.csv -s x,y,heading --angle heading -y 'beam_*' -u 'odo_*' --transition odometry

        kmcf fit monday.csv tuesday.csv -s x,y --sensor wifi='rssi_*' --sensor camera='px_*'

        kmcf fit walks.parquet -s x -y signal --sequence walk --observation-kernel matern:nu=2.5 -o model.kmcf

        kmcf fit walk.csv -s x,y -y 'rssi_*' -t time --window 3 --calibrate

        kmcf fit month-*.parquet -s x,y -y 'rssi_*' --workers 2
    """
    files = example_files(examples)
    on_cluster = scheduler is not None or workers is not None
    if on_cluster:
        check_cluster(files, motion, calibrate=calibrate)
    check_floor(read_windows(examples.window), settings.given().get("floor"))
    if files.sensors and calibrate:
        raise ValueError(
            "--calibrate leaves out examples in turn, which does not work with several sensors: calibrate the model "
            "afterwards, by kmcf calibrate with files that it has not seen."
        )
    script = _reading(files, on_cluster, all_states=bool(motion.recovery))
    script.add(*filter_statements(files, motion, settings, seed))
    fitting = "flt.fit(examples)" if files.sensors else "flt.fit(states, observations)"
    script.add(on_the_cluster(fitting, scheduler, workers) if on_cluster else fitting)
    script.add("flt.name_states(recordings[0].names['states'])")
    if calibrate:
        script.add(calibrating("flt", controlled=bool(files.control), timed=bool(files.time)), needs=("numpy",))
    script.add("flt.alarm_thresholds_  # found here, so that the file holds them")
    script.add_folder(out.parent)
    script.add(call("kmcf.store.save", Code("flt"), out, notes=files.notes()))
    if python:
        typer.echo(script.text())
        return
    check_target(out, files.files)
    with files.pointing(), bar_if_slow(3, "fitting", show=not as_json and can_show_progress()):
        names = script.run()
    about = _about(out, **names)
    if as_json:
        print_json(about)
        return
    sensors = about.pop("sensors", {})
    print_table("Model", about)
    for name, part in sensors.items():
        print_table(f"Sensor {name}", part)


def _reading(files: TableFiles, on_cluster: bool, *, all_states: bool) -> Script:
    """Return the statements that read the examples, by sensor if there are several; ``all_states``: of all of them."""
    script = Script("kmcf fit")
    if on_cluster:
        script.add(reading_chunks(files), needs=("kmcf.distributed",), check=tell_first)
    else:
        script.add(files.reading(), check=lambda names: tell_gaps(names["recordings"], files.gaps))
    add_windows(script, files.window, check=check_length)
    if files.sensors:
        script.add("examples = kmcf.datasets.sensor_examples(recordings)", check=_check_sensors)
        if all_states:
            script.add("states = numpy.concatenate([states for states, _ in examples.values()])", needs=("numpy",))
    elif not on_cluster:
        script.add(
            "states, observations = kmcf.datasets.examples(recordings)",
            check=lambda names: _check_examples(names, files),
        )
    return script


def _check_examples(names: dict[str, Any], files: TableFiles) -> None:
    rows = sum(len(recording) for recording in names["recordings"])
    complete = len(names["states"])
    if not complete:
        raise ValueError(f"none of the {rows} rows has both a state and an observation.")
    if complete < rows:
        where = files.first_unused()
        first = f" (the first: {where})" if where else ""
        note(f"{rows - complete} of {rows} rows have no state or no observation, and are not used as examples{first}.")
    _tell_empty(names["observations"], names["recordings"][0].names["observations"])


def _tell_empty(observations: Any, columns: Sequence[str]) -> None:
    """Say which columns are empty in all rows: nothing can be learnt about them."""
    if getattr(observations, "ndim", 0) != 2 or observations.shape[1] != len(columns):
        return
    present = (observations == observations).any(axis=0)  # NaN is not equal to itself
    empty = [repr(name) for name, there in zip(columns, present, strict=True) if not there]
    if empty:
        listed = ", ".join(empty[:3]) + (", ..." if len(empty) > 3 else "")
        note(f"{len(empty)} of {len(columns)} columns of the observation are empty in all rows: {listed}.")


def _check_sensors(names: dict[str, Any]) -> None:
    tell_silent(names["recordings"])


def _about(
    out: Path, *, recordings: Any, flt: Any, states: Any = None, examples: Any = None, window: Any = None, **_: Any
) -> dict[str, Any]:
    """Say what was fitted to what."""
    columns = recordings[0].names
    about = {
        "model": str(out),
        "examples": sum(len(part) for part, _ in examples.values()) if examples else fitted_to(flt, states),
        "sequences": len({recording.name for recording in recordings}),
        **({"parts": len(recordings)} if len(recordings) > len({one.name for one in recordings}) else {}),
        "state": list(columns["states"]),
        "observation": list(columns["observations"]),
        "control": list(columns["controls"]),
        **({"window": window.described()} if window is not None else {}),
        "transition": repr(flt.transition),
    }
    if examples:
        whose = {name: [columns["observations"][j] for j in rows] for name, rows in recordings[0].sensors.items()}
        return {**about, "sensors": about_sensors(flt, examples, whose)}
    return {
        **about,
        "observation_kernel": repr(flt.observation_kernel_),
        "floor": floor_of(flt),
        "epsilon": flt.epsilon_,
        "delta": flt.delta_,
        "engine": flt.engine_,
        "ranks": list(flt.ranks_),
        "explanation": flt.explain(),
        "seconds": {name: round(value, 3) for name, value in flt.fit_times_.items()},
        "calibration": None if flt.calibration_ is None else repr(flt.calibration_),
    }
