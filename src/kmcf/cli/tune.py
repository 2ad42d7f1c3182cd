"""``kmcf tune``: hyper-parameters from files of examples."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.calibrate import calibrating
from kmcf.cli.cluster import SchedulerOption, WorkersOption, on_the_cluster
from kmcf.cli.recipe import example_files, filter_statements
from kmcf.cli.script import Code, Script, call
from kmcf.cli.showing import can_show_progress, print_json, print_table
from kmcf.cli.table_files import TableFiles, tell_gaps
from kmcf.cli.targets import check_folder
from kmcf.cli.windows import WindowWords, add_windows, check_floor, check_length, read_windows

SEARCH = "Search"


class SamplerName(StrEnum):
    """How settings are proposed."""

    RANDOM = "random"
    OPTUNA = "optuna"


def tune(
    examples: options.ExampleOptions,
    motion: options.TransitionOptions,
    settings: options.FilterOptions,
    seed: options.SeedOption = 0,
    calibrate: options.CalibrateOption = False,
    independent: Annotated[
        bool, typer.Option("--independent", help="The rows are not a sequence.", rich_help_panel=SEARCH)
    ] = False,
    metric: Annotated[
        str, typer.Option(help="rmse, mode, crps, kernel_score or negative_log_density.", rich_help_panel=SEARCH)
    ] = "rmse",
    trials: Annotated[int, typer.Option(min=1, help="How many settings to try.", rich_help_panel=SEARCH)] = 60,
    sampler: Annotated[SamplerName, typer.Option(help="How settings are proposed.", rich_help_panel=SEARCH)] = (
        SamplerName.RANDOM
    ),
    jobs: Annotated[int, typer.Option(help="Number of trials at once; -1: all cores.", rich_help_panel=SEARCH)] = 1,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.001, help="Start no new trial after this many seconds.", rich_help_panel=SEARCH),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(help="File that keeps the trials; run again to continue.", rich_help_panel=SEARCH),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for model.kmcf, settings.json and trials.csv.", rich_help_panel=options.OUTPUT
        ),
    ] = Path("tuning"),
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Choose the filter's hyper-parameters by cross validation, and save the filter made of the best trials.

    Whole sequences are left out in turn (halves, if there is only one). The search starts from the settings given here.
    With --study, an interrupted study continues where it stopped. With several windows (--window 1,3,5) each is tried
    with the settings given, on rows that are left out, and the best one is tuned.

    For example:

        kmcf tune walks.csv -s x,y -y 'rssi_*' --sequence walk --trials 60

        kmcf tune walks.csv -s x,y -y 'rssi_*' --sequence walk --window 1,3,5

        kmcf tune walks.csv -s x -y signal --study study.jsonl --seconds 600 --jobs -1 -o tuned
    """
    if examples.sensor:
        raise ValueError("kmcf tune takes one sensor: name its columns with --observation.")
    on_cluster = scheduler is not None or workers is not None
    search: dict[str, Any] = {
        "sequential": not independent,
        "n_trials": trials,
        "metric": metric,
        "n_jobs": -1 if on_cluster and jobs == 1 else jobs,
        "random_state": seed,
        "sampler": sampler.value,
    }
    further = {"time_budget": seconds, "study": study, "progress": (not as_json and can_show_progress()) or None}
    search |= {name: value for name, value in further.items() if value is not None}
    windows = read_windows(examples.window, timed=examples.time is not None)
    if independent and windows:
        raise ValueError("--independent rows follow no other, so there can be no --window.")
    check_floor(windows, settings.given().get("floor"))
    files = example_files(examples, windows=len(windows) < 2)
    script = _reading(files)
    if motion.recovery:
        script.add("states, _ = kmcf.datasets.examples(recordings)")
    script.add(*filter_statements(files, motion, settings, seed))
    if len(windows) > 1:
        script.add(choosing(files, windows, search), needs=("numpy",))
        add_windows(script, Code("choice.best"))
    statement = searching(files, search)
    if on_cluster:
        script.add(on_the_cluster(statement, scheduler, workers), needs=("numpy", "kmcf.distributed"))
    else:
        script.add(statement, needs=("numpy",))
    if calibrate:
        script.add(calibrating("result.best_filter", controlled=bool(files.control), timed=bool(files.time)))
    _add_saving(script, out, windows)
    if python:
        typer.echo(script.text("print(result.best_value, result.best_params)"))
        return
    check_folder(out)
    with files.pointing():
        summary = script.run()["summary"]
    if as_json:
        print_json(summary)
    else:
        print_table("Settings made of the best trials", {**summary.pop("settings"), **summary})


def _reading(files: TableFiles) -> Script:
    script = Script("kmcf tune")
    script.add(files.reading(), check=lambda names: tell_gaps(names["recordings"], files.gaps))
    add_windows(script, files.window, check=check_length)
    return script


def _add_saving(script: Script, out: Path, windows: list[WindowWords]) -> None:
    """Add the statement that writes the folder, with the window and, if there were several, how it was chosen."""
    kept = {"window": Code("window")} if windows else {}
    kept |= {"choice": Code("choice")} if len(windows) > 1 else {}
    script.add(f"summary = {call('kmcf.export.save_tuning', Code('result'), out, Code('recordings'), **kept)}")


def searching(files: TableFiles, search: dict[str, Any]) -> str:
    """Return the statement that tunes ``flt`` on all rows of ``recordings``, those without observation included."""
    return f"result = {call('kmcf.tune', Code('flt'), **_rows(files), **search)}"


def choosing(files: TableFiles, windows: list[WindowWords], search: dict[str, Any]) -> str:
    """Return the statement that chooses among windows, with the settings of ``flt`` as they are."""
    lengths = Code(f"[{', '.join(window.code for window in windows)}]")
    how = {name: search[name] for name in ("sequential", "metric", "random_state")}
    return f"choice = {call('kmcf.tuning.choose_window', Code('flt'), **_rows(files), lengths=lengths, **how)}"


def _rows(files: TableFiles) -> dict[str, Code]:
    """Return the arguments that hold all rows of ``recordings``."""
    roles = {"states": "states", "observations": "observations"}
    roles |= {"controls": "controls"} if files.control else {}
    roles |= {"times": "time"} if files.time else {}
    rows = {
        name: Code(f"numpy.concatenate([recording.{role} for recording in recordings])") for name, role in roles.items()
    }
    groups = Code("[number for number, recording in enumerate(recordings) for _ in recording.time]")
    return {**rows, "groups": groups}
