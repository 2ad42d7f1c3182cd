"""``kmcf evaluate``: how far a model is from the truth."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

from kmcf.cli import options
from kmcf.cli.filtering import add_filtering
from kmcf.cli.models import load_model
from kmcf.cli.script import Script
from kmcf.cli.showing import can_show_progress, print_columns, print_json

SCORING = """\
truths = [recording.states for recording in recordings]
overall = kmcf.filter.score_runs(runs, truths)
scores = {}
for name in dict.fromkeys(recording.name for recording in recordings):
    parts = [number for number, recording in enumerate(recordings) if recording.name == name]
    scores[name] = kmcf.filter.score_runs([runs[k] for k in parts], [truths[k] for k in parts])"""
PRINTING = """\
for name, score in scores.items():
    print(name, score)
print('all', overall)"""


def evaluate(
    model: options.ModelArgument,
    files: options.FilesArgument,
    *,
    state: options.OtherStateOption = None,
    columns: options.ColumnOptions,
    as_json: options.JsonOption = False,
    python: options.PythonOption = False,
) -> None:
    """Filter files whose true states are known, and compare.

    Per sequence and overall: root mean squared and median distance of the mean to the true state, the same for the
    mode; the share of true coordinates inside their 95 % intervals (ideally 0.95), the interval score (width, plus 40
    times how far the truth lies outside) and the continuous ranked probability score (CRPS), both in units of the
    state, lower is better; how many steps raised an alarm, and the root mean squared distance over the
    others. Rows without a state are left out of the scores.

    For example:

        kmcf evaluate model.kmcf test.csv

        kmcf evaluate model.kmcf test1.csv test2.csv --json
    """
    from kmcf.datasets.column_files import column_names

    script = Script("kmcf evaluate")
    loaded = load_model(script, model)
    tables = loaded.tables(files, state=state, **asdict(columns))
    if not tables.state:
        raise ValueError(f"{model} does not say which columns are states; name them with --state.")
    tables = tables.fitting(column_names(files[0], columns.encoding), files[0].name)
    add_filtering(script, loaded, tables, roles=("state", "observation"), progress=can_show_progress(), keep=True)
    script.add(SCORING, check=_check_scored)
    if python:
        typer.echo(script.text(PRINTING))
        return
    with tables.pointing():
        names = script.run()
    rows = [{"sequence": name, **score._asdict()} for name, score in names["scores"].items()]
    overall = {"sequence": "all", **names["overall"]._asdict()}
    if as_json:
        print_json({"model": str(model), "sequences": rows, "all": overall})
    else:
        print_columns(f"{model} on {', '.join(map(str, files))}", [*rows, overall])


def _check_scored(names: dict[str, Any]) -> None:
    if names["overall"].steps == 0:
        raise ValueError("no row has a state to compare with.")
