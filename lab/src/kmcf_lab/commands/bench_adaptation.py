"""``kmcf bench adaptation`` and ``kmcf bench transitions``: what a filter learns in use."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from kmcf.cli.showing import command_line
from kmcf_lab.commands.bench_options import BenchOptions
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.adaptation import AdaptationCell

MODELS = ("1a", "2b", "4a")
TRACKS = ((0, 1),)
COLUMNS = ("problem", "change", "clean", "damaged", "no labels", "repaired", "30 pairs", "repaired", "adapted",
           "noticed", "worst")  # fmt: skip
LEARNT = ("problem", "method", "parameter", "truth", "mean", "sd", "RMSE", "in interval", "data sets")


def adaptation(console: Console, options: BenchOptions) -> None:
    """Change sensors and adapt to them; each data set is saved, and not measured again."""
    from kmcf_lab.bench.adaptation import CHANGES, OFFSETS, measure_bluetooth, measure_models, summarise_adaptation

    path = options.out / "bench_adaptation.json"
    cells = _measured(path)
    done = {(cell.problem, cell.change) for cell in cells}
    n = (options.n or [200])[0]
    if not options.model:
        for offset in OFFSETS:
            moved = "no receiver off" if offset == 0.0 else f"one receiver {offset:+.0f} dB"
            if ("Bluetooth tracks (m)", moved) not in done:
                cells += measure_bluetooth(TRACKS[:1], [offset], report=console.print)
                _save(path, cells)
    for name in options.model or (["1a"] if options.quick else MODELS):
        for change in CHANGES[:2] if options.quick else CHANGES:
            if (f"model {name}", change.name) not in done:
                cells += measure_models([name], n, repetitions=1, changes=[change], report=console.print)
                _save(path, cells)
    table = new_table("A sensor that has changed: errors, and the share of the damage repaired", COLUMNS, left=2)
    for row in summarise_adaptation(cells):
        table.add_row(
            row.problem, row.change, f"{row.clean:.3f}", f"{row.damaged:.3f}", f"{row.unlabelled:.3f}",
            _share(row.repaired), f"{row.labelled:.3f}", _share(row.repaired_labelled), _share(row.adapted),
            _share(row.noticed), f"{row.worse:.2f}",
        )  # fmt: skip
    console.print(table)
    console.print(f"saved {path}", soft_wrap=True)


def transitions(console: Console, options: BenchOptions) -> None:
    """Learn parameters of transitions from observations alone, beside methods that know the observation model."""
    from kmcf_lab.bench.transition_learning import learn_models, learn_wheels, summarise_learning

    path = options.out / "bench_transitions.json"
    known = json.loads(path.read_text())["cells"] if path.is_file() else []
    done = {(cell["problem"], cell["seed"]) for cell in known}
    models = options.model or (["1a"] if options.quick else ["1a", "2a", "4a"])
    for seed in range(1 if options.quick else 5):
        for name in models:
            if (f"model {name}", seed) not in done:
                console.print(f"model {name}, data set {seed + 1}")
                known += [asdict(cell) for cell in learn_models(name, (options.n or [300])[0], seed)]
                _write(path, known, summarise_learning(known))
    folder = Path("../shared/data/mrclam/MRCLAM_Dataset6")
    if folder.is_dir() and not options.model and not options.quick:
        for robot in range(3):
            if ("MRCLAM, wheels of the wrong size", robot) not in done:
                console.print(f"MRCLAM, robot {robot + 1}")
                known += [asdict(cell) for cell in learn_wheels(folder, robot)]
                _write(path, known, summarise_learning(known))
    table = new_table("Parameters learnt from observations alone", LEARNT, left=3)
    for row in summarise_learning(known):
        table.add_row(
            row.problem, row.method, row.parameter, f"{row.truth:.3f}", f"{row.mean:.3f}", f"{row.sd:.3f}",
            f"{row.rmse:.3f}", _share(row.inside), f"{row.data_sets}",
        )  # fmt: skip
    console.print(table)
    console.print(f"saved {path}", soft_wrap=True)


def _share(value: float) -> str:
    return "" if value != value else f"{100 * value:.0f} %"


def _measured(path: Path) -> list[AdaptationCell]:
    """Return what an earlier run measured."""
    from kmcf_lab.bench.adaptation import AdaptationCell

    cells = json.loads(path.read_text())["cells"] if path.is_file() else []
    return [
        AdaptationCell(**{**cell, "step": float("nan") if cell["step"] is None else cell["step"]}) for cell in cells
    ]


def _save(path: Path, cells: list[AdaptationCell]) -> None:
    from kmcf_lab.bench.adaptation import summarise_adaptation

    _write(path, [*map(asdict, cells)], summarise_adaptation(cells))


def _write(path: Path, cells: list[dict[str, Any]], rows: list[Any]) -> None:
    from kmcf.support.plain_json import without_nan, write_json

    found = {"rows": [asdict(row) for row in rows], "cells": cells}
    write_json(path, {"command": command_line(), **without_nan(found)})
