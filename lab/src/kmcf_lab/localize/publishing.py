"""From finished cells to a folder with tables, pictures and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from kmcf_lab.cells import Cell, Result, Row
from kmcf_lab.localize.experiment import Experiment, study_of
from kmcf_lab.localize.figures import draw_errors, draw_iterations, draw_path, draw_sizes
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.moments import Moment, explained, telling_steps, worst_steps
from kmcf_lab.localize.problem import LocalizationFold, Measure
from kmcf_lab.localize.replay import Iteration, replayed
from kmcf_lab.localize.report import Shown, localization_report
from kmcf_lab.localize.scores import Score, score, typical_fold
from kmcf_lab.tables import write_cells, write_csv

MAP_STEPS = 300
"""Steps shown on the map, from the first one that counts: longer paths cover themselves."""
FRAMES = 150
MOMENTS = 8
_TELLING = 2


@dataclass(frozen=True)
class Published:
    """What was written.

    Attributes
    ----------
    scores : list of Score
        Errors per fold and method.
    report, picture : Path
        The page, and the picture of a path.
    files : list of Path
        Everything.
    shown : Score
        The one whose path is shown.
    """

    scores: list[Score]
    report: Path
    picture: Path
    files: list[Path]
    shown: Score


def publish(
    experiment: Experiment, results: Sequence[Result], out: Path, command: str, show: str | None = None
) -> Published:
    """Write tables, pictures and the report; the report comes last, so that it never exists without the rest.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    results : sequence of Result
        Its cells.
    out : Path
        The folder.
    command : str
        What was typed.
    show : str, optional
        The fold to look into; None: one of median error.
    """
    measure = experiment.problem.measure
    scores = [score(result, measure) for result in results]
    looked_into = scores[0].method
    candidates = [one for one in scores if show in (None, one.fold)]
    if not candidates:
        raise ValueError(f"there is no fold {show!r} to show; there are {'; '.join({one.fold: 0 for one in scores})}.")
    typical = typical_fold(candidates, looked_into, measure)
    own = [result for result in results if result.cell.coordinates["method"] == looked_into]
    chosen = next(one for one in own if _key(one.cell) == (typical.fold, typical.repetition))
    fold = _fold(experiment, chosen.cell)
    iterations, telling = _replay(experiment, chosen, out)
    runs = {
        str(one.cell.coordinates["method"]): _window(one.rows, measure)
        for one in results
        if _key(one.cell) == _key(chosen.cell)
    }
    lines = [asdict(one) for one in scores]
    files = [
        write_cells(out / "steps.parquet", results),
        write_cells(out / "folds.parquet", [_summed_up(*one) for one in zip(results, lines, strict=True)]),
        write_csv(out / "folds.csv", lines, list(lines[0])),
    ]
    title = f"{fold.name}: {METHODS[looked_into].label}"
    pictures = draw_path(runs, fold, experiment.data(), measure, out, title)
    pictures += draw_errors(scores, measure, out)
    pictures += draw_sizes(scores, measure, out)
    for name, some in telling.items():
        pictures += draw_iterations(some, experiment.data(), out, name, measure.unit)
    named = {path.stem: path for path in pictures if path.suffix == ".png"}
    moments = _moments(experiment, own)
    shown = Shown(fold, ", a fold of median error" if show is None else "", runs, iterations)
    report = localization_report(experiment, scores, shown, moments, named, command).write(out / "report.html")
    return Published(scores, report, named["path"], [*files, *pictures, report], typical)


def _summed_up(result: Result, line: Row) -> Result:
    """Return a cell with its scores instead of its steps."""
    row = {name: value for name, value in line.items() if name not in result.cell.coordinates}
    return replace(result, rows=(row,))


def _key(cell: Cell) -> tuple[str, int]:
    return str(cell.coordinates["fold"]), int(cell.coordinates["repetition"])


def _fold(experiment: Experiment, cell: Cell) -> LocalizationFold:
    return experiment.fold(*_key(cell))


def _window(rows: Sequence[Row], measure: Measure) -> list[Row]:
    """Return what is shown of a run: all of a short one; of a long one, the first part that counts."""
    counted = measure.judged(np.array([row["time"] for row in rows], dtype=np.float64))
    first = 0 if len(rows) <= MAP_STEPS else int(np.argmax(counted))
    return list(rows[first : first + MAP_STEPS])


def _replay(experiment: Experiment, chosen: Result, out: Path) -> tuple[list[Iteration], dict[str, list[Iteration]]]:
    """Run the chosen fold again for the animation and the single iterations; only KMCF has them all."""
    method = str(chosen.cell.coordinates["method"])
    if not method.startswith("kmcf"):
        return [], {}
    telling = telling_steps(chosen.rows, experiment.problem.measure, _TELLING)
    frames = range(min(FRAMES, len(chosen.rows)))
    study = study_of(chosen.cell, out / "cells")
    name, repetition = _key(chosen.cell)
    ready = experiment.ready(name, method, repetition, study)
    wanted = sorted({*frames, *(step for steps in telling.values() for step in steps)})
    iterations = replayed(ready.flt, ready.fold, experiment.problem.measure, wanted)
    return [iterations[t] for t in frames], {
        name: [iterations[t] for t in steps] for name, steps in telling.items() if steps
    }


def _moments(experiment: Experiment, results: Sequence[Result]) -> list[Moment]:
    """Explain the worst moments of a method over all folds."""
    measure = experiment.problem.measure
    candidates = [
        (float(result.rows[step]["error"]), number, step)
        for number, result in enumerate(results)
        for step in worst_steps(result.rows, measure, MOMENTS)
    ]
    worst = sorted(candidates, reverse=True)[:MOMENTS]
    moments: list[Moment] = []
    for number in sorted({number for _, number, _ in worst}):
        fold = _fold(experiment, results[number].cell)
        steps = [step for _, owner, step in worst if owner == number]
        moments += explained(fold, results[number].rows, steps, experiment.settings, measure.near)
    return sorted(moments, key=lambda one: -one.circumstances.error)
