"""``kmcf bench windows``: the last k observations as one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from kmcf.cli.showing import command_line
from kmcf_lab.commands.bench_options import BenchOptions, save_rows
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.windows import WindowCell

COLUMNS = ("k", "start", "how", "tracks", "mean error, m", "mean of tracks", "first 5 steps", "inside 95 %", "width, m")
MODEL_COLUMNS = ("model", "k", "RMSE", "÷ k = 1", "inside 95 %", "width", "calibrated: inside", "width")
TRACKS = 9


def windows(console: Console, options: BenchOptions) -> None:
    """Measure windows of several lengths: on the Bluetooth tracks, or on the paper's models where they are named."""
    if options.model:
        _models(console, options, options.model)
    else:
        _tracks(console, options)


def _models(console: Console, options: BenchOptions, models: list[str]) -> None:
    from kmcf_lab.bench.window_models import measure_model_windows

    rows = measure_model_windows(
        models, (options.n or [300])[0], (1, 3, 5), repetitions=1 if options.quick else 5, report=console.print
    )
    table = new_table(f"The paper's models, n = {rows[0].n}, the last k observations as one", MODEL_COLUMNS, left=2)
    for row in rows:
        ratio = f"{row.ratio:.2f} ± {row.standard_error:.2f}"
        numbers = (row.inside, row.width, row.calibrated_inside, row.calibrated_width)
        table.add_row(row.model, f"{row.k}", f"{row.rmse:.3f}", ratio, *(f"{number:.3f}" for number in numbers))
    console.print(table)
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_window_models.json")


def _tracks(console: Console, options: BenchOptions) -> None:
    """Follow the Bluetooth tracks; each is saved, and not measured again."""
    from kmcf.support.plain_json import write_json
    from kmcf_lab.bench.windows import measure_window, plan, summarise_windows

    path = options.out / "bench_windows.json"
    cells = _measured(path)
    done = {(cell.k, cell.fill, cell.how, cell.track_number) for cell in cells}
    quick = options.quick
    for way, number in plan((1, 3) if quick else (1, 3, 5), 1 if quick else TRACKS, calibrated=not quick):
        if (*way, number) not in done:
            console.print(f"k = {way.k}, {way.fill}, {way.how}: track {number + 1}")
            cells.append(measure_window(way, number))
            found = {"rows": [*map(asdict, summarise_windows(cells))], "cells": [*map(asdict, cells)]}
            write_json(path, {"command": command_line(), **found})
    table = new_table("Bluetooth tracks, the last k observations as one", COLUMNS, left=3)
    for row in summarise_windows(cells):
        numbers = (f"{number:.3f}" for number in (row.error, row.by_track, row.first, row.inside))
        table.add_row(f"{row.k}", row.fill, row.how, f"{row.tracks}", *numbers, f"{row.width:.2f}")
    console.print(table)
    console.print(f"saved {path}", soft_wrap=True)


def _measured(path: Path) -> list[WindowCell]:
    """Return what an earlier run measured."""
    from kmcf_lab.bench.windows import WindowCell

    return [WindowCell(**cell) for cell in json.loads(path.read_text())["cells"]] if path.is_file() else []
