"""``kmcf evaluate``: how far a model is from the truth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from kmcf.cli import options
from kmcf.cli.filtering import Smoothing, add_filtering
from kmcf.cli.models import load_model
from kmcf.cli.reporting import METHOD_SHOWN, CompareOption, ReportOptions, add_report, add_rivals, compared
from kmcf.cli.script import Script
from kmcf.cli.showing import can_show_progress, print_columns, print_json, print_table, tell_page
from kmcf.cli.targets import check_target

SCORING = """\
truths = [recording.positions for recording in recordings]
overall = kmcf.filter.score_runs(runs, truths)
scores = {}
for name in dict.fromkeys(recording.name for recording in recordings):
    parts = [number for number, recording in enumerate(recordings) if recording.name == name]
    scores[name] = kmcf.filter.score_runs([runs[k] for k in parts], [truths[k] for k in parts])"""
BEFORE = """\
before = [run.filtered for run in runs]
filtered = kmcf.filter.score_runs(before, truths)"""
PRINTING = """\
for name, score in scores.items():
    print(name, score)
print('all', overall)"""

COMPARING = """\
methods = {name: kmcf.filter.score_runs(some, truths) for name, some in compared.items()}"""
SHOWN = ("sequence", "steps", "mean_error", "median_error", "rmse", "inside", "crps", "alarms")
"""What is shown of every sequence; --json has everything."""


def evaluate(
    model: options.ModelArgument,
    files: options.FilesArgument,
    *,
    state: options.OtherStateOption = None,
    columns: options.ColumnOptions,
    smooth: options.SmoothOption = False,
    lag: options.LagOption = None,
    compare: CompareOption = None,
    page: ReportOptions,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Filter files whose true states are known, and compare.

    Per sequence and overall: mean, median and root mean squared distance of the posterior mean to the true state, and
    that of the mode; the share of true coordinates inside their 95 % intervals (ideally 0.95), the interval score
    (width, plus 40 times how far the truth lies outside) and the continuous ranked probability score (CRPS), both in
    units of the state, lower is better; how many steps raised an alarm, and the root mean squared distance over the
    others. Rows without a state are left out of the scores.

    With --smooth or --lag K smoothed estimates are judged, and the filter's stand beside them; --compare filters.

    For example:

        kmcf evaluate model.kmcf test.csv

        kmcf evaluate model.kmcf test1.csv test2.csv --json

        kmcf evaluate model.kmcf test.csv --smooth

        kmcf evaluate model.kmcf test.csv --compare knn-pf,nearest --report test.html --unit m
    """
    from kmcf.datasets.column_files import column_names

    smoothing = Smoothing.asked(smooth, lag)
    script = Script("kmcf evaluate")
    loaded = load_model(script, model, columns.window)
    tables = loaded.tables(files, state=state, **asdict(columns))
    if not tables.state:
        raise ValueError(f"{model} does not say which columns are states; name them with --state.")
    tables = tables.fitting(column_names(files[0], columns.encoding), files[0].name)
    progress = can_show_progress()
    filtering = add_filtering(
        script, loaded, tables, roles=("state", "observation"), progress=progress, keep=True, smoothing=smoothing
    )
    script.add(SCORING, check=_check_scored)
    if smoothing is not None:
        script.add(BEFORE)
    rivals = compared(compare)
    add_rivals(script, rivals, filtering)
    if rivals:
        script.add(COMPARING)
    add_report(script, loaded, page, f"{loaded.name} on {', '.join(file.name for file in files)}", bool(rivals))
    if python:
        typer.echo(script.text(PRINTING if smoothing is None else f"{PRINTING}\nprint('filtered', filtered)"))
        return
    check_target(page.report)
    with tables.pointing():
        names = script.run()
    _show(names, str(model), files, as_json=as_json)
    if not as_json:
        tell_page(page.report)


def _show(names: dict[str, Any], model: str, files: list[Path], *, as_json: bool) -> None:
    """Print the scores: by sequence, overall, smoothed beside filtered, and those of other methods."""
    rows = [{"sequence": name, **score._asdict()} for name, score in names["scores"].items()]
    overall = {"sequence": "all", **names["overall"]._asdict()}
    others = {name: score._asdict() for name, score in names.get("methods", {}).items()}
    before = names["filtered"]._asdict() if "filtered" in names else None
    if as_json:
        more = ({} if before is None else {"filtered": before}) | ({"methods": others} if others else {})
        print_json({"model": model, "sequences": rows, "all": overall, **more})
        return
    first = {name: overall[name] for name in SHOWN}
    print_table(f"{model} on {', '.join(map(str, files))}", {**first, **overall, "sequence": f"all {len(rows)}"})
    print_columns("By sequence", [{name: row[name] for name in SHOWN} for row in rows])
    if before is not None:
        _print_side_by_side(
            "Smoothed and filtered, over all sequences", "estimates", {"smoothed": overall, "filtered": before}
        )
    if others:
        ours = {"this filter": overall if before is None else before}
        title = "Compared on the same rows, with the same examples and transition"
        _print_side_by_side(title, "method", {**ours, **others})


def _print_side_by_side(title: str, what: str, scores: dict[str, dict[str, Any]]) -> None:
    lines = [{what: name, **{key: score[key] for key in METHOD_SHOWN}} for name, score in scores.items()]
    print_columns(title, lines)


def _check_scored(names: dict[str, Any]) -> None:
    if names["overall"].steps == 0:
        raise ValueError("no row has a state to compare with.")
