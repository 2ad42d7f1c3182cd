"""``kmcf bench adaptation`` and ``kmcf bench transitions``: what a filter learns in use."""

from __future__ import annotations

import json
from collections.abc import Callable
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
TRACKS = ((3, 4), (4, 6), (6, 7), (7, 8), (8, 3))
"""Tracks that are adapted to, and that errors are measured on; the first three were used to make the method."""
DATA_SETS = {"1a": 6}
"""By model, where there are not as many as ``FEWEST``: a shift is known least there."""
FEWEST = 3
BUILDINGS = (1, 2)
"""Seeds of the laps through the simulated building; that with seed 0 was used to make the study."""
ALARMS, RUNS = ("1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b"), {100: 20, 300: 20, 1000: 20}
"""Models and, for each number of examples, how many short runs."""
COLUMNS = ("problem", "change", "clean", "damaged", "no labels", "repaired", "30 pairs", "repaired", "adapted",
           "noticed", "worst")  # fmt: skip
ROBOTS = 3
NOTICED = ("problem", "examples", "runs", "stated", "unchanged", "shifted by 1 sd", "doubled")
LEARNT = ("problem", "method", "parameter", "truth", "mean", "sd", "RMSE", "in interval", "data sets")


def adaptation(console: Console, options: BenchOptions) -> None:
    """Change sensors and adapt to them; each data set is saved, and not measured again."""
    from kmcf_lab.bench.adaptation import (
        CHANGES,
        OFFSETS,
        measure_bluetooth,
        measure_models,
        summarise_adaptation,
    )

    path = options.out / "bench_adaptation.json"
    cells, alarms = _measured(path)
    done = {(cell.problem, cell.change, cell.seed) for cell in cells}
    if not (options.model or options.quick):
        _measure_alarms(console, alarms, lambda: _save(path, cells, alarms))
    n = (options.n or [200])[0]
    for name in options.model or (["1a"] if options.quick else MODELS):
        for seed in range(1 if options.quick else DATA_SETS.get(name, FEWEST)):
            for change in CHANGES[:2] if options.quick else CHANGES:
                if (f"model {name}", change.name, seed) not in done:
                    cells += measure_models(
                        [name], n, repetitions=1, changes=[change], report=console.print, first=seed
                    )
                    _save(path, cells, alarms)
    for number, pair in enumerate(() if options.model else TRACKS[:1] if options.quick else TRACKS):
        for offset in OFFSETS:
            moved = "no receiver off" if offset == 0.0 else f"one receiver {offset:+.0f} dB"
            if ("Bluetooth tracks (m)", moved, number) not in done:
                cells += measure_bluetooth([pair], [offset], report=console.print, first=number)
                _save(path, cells, alarms)
    if not (options.model or options.quick):
        _measure_buildings(console, cells, done, lambda: _save(path, cells, alarms))
    table = new_table("A sensor that has changed: errors, and the share of the damage repaired", COLUMNS, left=2)
    for row in summarise_adaptation(cells):
        table.add_row(
            row.problem, row.change, f"{row.clean:.3f}", f"{row.damaged:.3f}", f"{row.unlabelled:.3f}",
            _share(row.repaired), f"{row.labelled:.3f}", _share(row.repaired_labelled), _share(row.adapted),
            _share(row.noticed), f"{row.worse:.2f}",
        )  # fmt: skip
    console.print(table)
    noticing = new_table("Short runs reported as changed", NOTICED, left=1)
    for one in alarms:
        shares = (_share(one[name]) for name in ("rate", "noticed", "shifted", "doubled"))
        noticing.add_row(one["problem"], f"{one['n']}", f"{one['runs']}", *shares)
    console.print(noticing)
    console.print(f"saved {path}", soft_wrap=True)


def _measure_buildings(console: Console, cells: list[AdaptationCell], done: set[Any], save: Callable[[], None]) -> None:
    """Follow a robot through a building in three kinds of light."""
    from kmcf_lab.bench.adaptation_building import GREY, LIGHTS, WORDS, measure_building

    for seed, problem, light in ((s, p, one) for s in BUILDINGS for p in (WORDS, GREY) for one in LIGHTS):
        if (problem, light, seed) not in done:
            cells.append(measure_building(problem, light, seed, report=console.print))
            save()


def _measure_alarms(console: Console, alarms: list[dict[str, Any]], save: Callable[[], None]) -> None:
    """Test unchanged and changed sensors over short runs; what was measured before is not measured again."""
    from kmcf_lab.bench.adaptation import measure_false_alarms

    for size, name in ((size, name) for size in RUNS for name in ALARMS):
        if all((one["problem"], one["n"]) != (f"model {name}", size) for one in alarms):
            console.print(f"model {name}, {size} examples, {RUNS[size]} short runs")
            alarms.append(asdict(measure_false_alarms(name, size, RUNS[size])))
            save()


def transitions(console: Console, options: BenchOptions) -> None:
    """Learn parameters of transitions from observations alone, beside methods that know the observation model."""
    from kmcf_lab.bench.transition_learning import WHEELS, learn_models, learn_wheels, summarise_learning

    path = options.out / "bench_transitions.json"
    known = json.loads(path.read_text())["cells"] if path.is_file() else []
    done = {(cell["problem"], cell["seed"]) for cell in known}
    models = options.model or (["1a"] if options.quick else ["1a", "2a", "4a"])
    for seed in range(1 if options.quick else 5):
        for name in models:
            if (f"model {name}", seed) not in done:
                console.print(f"model {name}, data set {seed + 1}")
                known += [asdict(cell) for cell in learn_models(name, (options.n or [200])[0], seed)]
                _write(path, known, summarise_learning(known))
        if options.path is not None and seed < ROBOTS and (WHEELS, seed) not in done:
            console.print(f"MRCLAM, robot {seed + 1}")
            known += [asdict(cell) for cell in learn_wheels(options.path, seed)]
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


def _measured(path: Path) -> tuple[list[AdaptationCell], list[dict[str, Any]]]:
    """Return what an earlier run measured."""
    from kmcf_lab.bench.adaptation import AdaptationCell

    known = json.loads(path.read_text()) if path.is_file() else {"cells": []}
    unknown = {"noticed": float("nan"), "step": float("nan")}
    cells = [
        AdaptationCell(**{**cell, **{key: nan for key, nan in unknown.items() if cell[key] is None}})
        for cell in known["cells"]
    ]
    return cells, [one for one in known.get("false_alarms", []) if "n" in one]


def _save(path: Path, cells: list[AdaptationCell], alarms: list[dict[str, Any]]) -> None:
    from kmcf_lab.bench.adaptation import summarise_adaptation

    _write(path, [*map(asdict, cells)], summarise_adaptation(cells), false_alarms=alarms)


def _write(path: Path, cells: list[dict[str, Any]], rows: list[Any], **more: Any) -> None:
    from kmcf.support.plain_json import without_nan, write_json

    found = {"rows": [asdict(row) for row in rows], "cells": cells, **more}
    write_json(path, {"command": command_line(), **without_nan(found)})
