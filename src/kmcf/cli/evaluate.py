"""``kmcf evaluate``: how far a model is from the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from kmcf.cli import options as words
from kmcf.cli.config import Config
from kmcf.cli.filter import filtered, runs_code
from kmcf.cli.fit import tell_gaps
from kmcf.cli.group import Debug
from kmcf.cli.recipe import Source
from kmcf.cli.showing import can_show_progress, print_columns, print_json


def evaluate(
    model: words.Model,
    files: words.Files,
    state: words.OtherState = None,
    observation: words.OtherObservation = None,
    control: words.Control = None,
    time: words.Time = None,
    sequence: words.Sequence = None,
    encoding: words.Encoding = "utf-8",
    gaps: words.GapsOption = words.Gaps.KEEP,
    as_json: words.Json = False,
    python: words.Python = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Filter files whose true states are known, and compare.

    Per sequence and over all: root mean squared and median distance of the mean to the true state, the same of the
    mode, and the share of true coordinates inside their 95 % intervals (0.95 is right). Rows without a state are left
    out of the scores.

    For example:

        kmcf evaluate model.kmcf test.csv

        kmcf evaluate model.kmcf test1.csv test2.csv --json
    """
    del config, debug
    from kmcf.cli.models import load_model
    from kmcf.datasets.column_files import column_names

    loaded = load_model(model)
    chosen = {"state": state, "observation": observation, "control": control, "time": time, "sequence": sequence}
    source = loaded.source(files, **chosen, encoding=encoding, gaps=gaps.value)
    if not source.state:
        raise ValueError(f"{model} does not say which columns are states; name them with --state.")
    source = source.fitting(column_names(files[0], encoding), files[0].name)
    if python:
        typer.echo(script(model, source))
        return
    recordings = source.read()
    tell_gaps(recordings, source.gaps)
    loaded.check("state", recordings[0].names["states"], files[0].name)
    rows = scores(recordings, filtered(loaded, recordings, files[0].name, can_show_progress()))
    if as_json:
        print_json({"model": str(model), "sequences": rows[:-1], "all": rows[-1]})
    else:
        print_columns(f"{model} on {', '.join(str(file) for file in files)}", rows)


def scores(recordings: list[Any], runs: list[Any]) -> list[dict[str, Any]]:
    """Return the scores of every sequence, and of all together as the last."""
    from kmcf.filter import score_runs

    parts: dict[str, tuple[list[Any], list[Any]]] = {}
    for recording, run in zip(recordings, runs, strict=True):
        run_parts, truth_parts = parts.setdefault(recording.name, ([], []))
        run_parts.append(run)
        truth_parts.append(recording.states)
    rows = [{"sequence": name, **score_runs(*part)._asdict()} for name, part in parts.items()]
    rows.append({"sequence": "all", **score_runs(runs, [recording.states for recording in recordings])._asdict()})
    if rows[-1]["steps"] == 0:
        raise ValueError("no row has a state to compare with.")
    return rows


def script(model: Path, source: Source) -> str:
    """Return code that gives the same numbers."""
    lines = [
        "import kmcf",
        "",
        *runs_code(model, source),
        "for recording, run in zip(recordings, runs):",
        "    print(recording.name, kmcf.filter.score_runs([run], [recording.states]))",
        "print('all', kmcf.filter.score_runs(runs, [recording.states for recording in recordings]))",
    ]
    return "\n".join(lines)
