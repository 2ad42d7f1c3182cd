"""``kmcf crossvalidate``: how well it works on a user's own files, and how well others do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.calibrate import calibrating
from kmcf.cli.recipe import example_files, filter_statements
from kmcf.cli.reporting import METHOD_SHOWN, CompareOption, ReportOptions, compared
from kmcf.cli.script import Code, Script, call
from kmcf.cli.showing import can_show_progress, command_line, print_columns, print_json, tell_page
from kmcf.cli.table_files import TableFiles, tell_gaps
from kmcf.cli.targets import check_target
from kmcf.cli.windows import add_windows, check_floor, check_length, read_windows

USUAL = ("particles", "knn-pf", "kbr", "knn", "nearest")
"""What is compared with unless something else is asked for; Gaussian processes take long, and not everything counts."""
PAGE = Path("crossvalidation.html")


def crossvalidate(
    examples: options.ExampleOptions,
    motion: options.TransitionOptions,
    settings: options.FilterOptions,
    page: ReportOptions,
    seed: options.SeedOption = 0,
    calibrate: options.CalibrateOption = False,
    compare: CompareOption = None,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            min=2,
            help="How often something is left out: by default every sequence once, but ten times at most; five blocks, "
            "if there is one sequence.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Leave out one sequence after the other, follow it with a filter fitted to the rest, and compare with others.

    If there is one sequence only, blocks of it are left out. The transition is learnt anew for every fold. The page
    (--report, otherwise crossvalidation.html) shows errors of all methods, and the sequence of median error in detail.

    For example:

        kmcf crossvalidate walks.csv -s x,y -y 'rssi_*' -t time --sequence walk --unit m

        kmcf crossvalidate spikes.csv -s x,y -y 'unit*' --not unit19 -t time --compare poisson,nearest
    """
    files = example_files(examples)
    if files.sensors:
        raise ValueError("kmcf crossvalidate takes one sensor: name its columns with --observation.")
    check_floor(read_windows(examples.window), settings.given().get("floor"))
    page = replace(page, report=page.report or PAGE)
    page.check()
    names = compared(compare) if compare else list(USUAL)
    fitting = [*filter_statements(files, motion, settings, seed), "flt.fit(states, observations)"]
    if calibrate:
        fitting.append(calibrating("flt", controlled=bool(files.control), timed=bool(files.time)))
    script = _script(files, fitting)
    progress = can_show_progress() and not as_json
    how: dict[str, Any] = {"compare": names, "folds": folds, "timed": bool(files.time), "progress": progress}
    how = {name: value for name, value in how.items() if value}
    script.add(f"result = {call('kmcf.tuning.cross_validate', Code('recordings'), Code('fitted'), **how)}")
    script.add_folder(Path(str(page.report)).parent)
    script.add(_reporting(files, page))
    if python:
        typer.echo(script.text("for name, score in result.scores.items():\n    print(name, score)"))
        return
    check_target(page.report)
    with files.pointing():
        result = script.run()["result"]
    scores = {name: score._asdict() for name, score in result.scores.items()}
    if as_json:
        print_json({"folds": result.folds, "methods": scores, "report": str(page.report)})
        return
    lines = [{"method": name, **{key: score[key] for key in METHOD_SHOWN}} for name, score in scores.items()]
    print_columns(f"Left out in turn, in {result.folds} folds", lines)
    tell_page(page.report)


def _script(files: TableFiles, fitting: Sequence[str]) -> Script:
    """Return the statements that read ``recordings`` and say how a filter is ``fitted`` to some of them."""
    script = Script("kmcf crossvalidate")
    script.add(files.reading(), check=lambda names: tell_gaps(names["recordings"], files.gaps))
    add_windows(script, files.window, check=check_length)
    statements = [
        "states, observations = kmcf.datasets.examples(recordings)",
        *fitting,
        "return flt",
    ]
    body = textwrap.indent("\n".join(statements), "    ")
    script.add(f"def fitted(recordings):\n{body}\n", needs=("numpy",) if "numpy." in body else ())
    return script


def _reporting(files: TableFiles, page: ReportOptions) -> str:
    given: dict[str, Any] = {
        "rivals": Code("result.rivals"),
        "unit": page.unit or None,
        "time_unit": page.time_unit or None,
        "title": f"Cross validation on {', '.join(file.name for file in files.files)}",
        "command": command_line(),
    }
    given = {name: value for name, value in given.items() if value is not None}
    return call("kmcf.export.write_report", page.report, Code("result.recordings"), Code("result.runs"), **given)
