"""``kmcf bench alarms``: what alarms notice, and how often they are false."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console

from kmcf_lab.commands.bench_options import BenchOptions, save_rows
from kmcf_lab.commands.printing import new_table

if TYPE_CHECKING:
    from kmcf_lab.bench.alarms import AlarmRow


def alarms(console: Console, options: BenchOptions) -> None:
    """Measure false alarms and what is noticed, and draw a room."""
    from kmcf.datasets import PAPER_MODELS
    from kmcf_lab.bench.alarms import measure_alarms

    rows = measure_alarms(
        options.model or (["1a"] if options.quick else PAPER_MODELS),
        (options.n or [200])[0],
        repetitions=1 if options.quick else 20,
        tracks=1 if options.quick else 9,
        report=console.print,
    )
    for quantity in dict.fromkeys(row.quantity for row in rows):
        _print(console, quantity, [row for row in rows if row.quantity == quantity])
    save_rows(console, [asdict(row) for row in rows], options.out / "bench_alarms.json")
    _draw(console, options)


def _print(console: Console, quantity: str, rows: list[AlarmRow]) -> None:
    filters = list(dict.fromkeys(row.filter for row in rows))
    table = new_table(quantity.replace("_", " "), ["problem", *filters], left=1)
    for problem in dict.fromkeys(row.problem for row in rows):
        cells = {row.filter: f"{row.value:.3f} ± {row.standard_error:.3f}" for row in rows if row.problem == problem}
        table.add_row(problem, *(cells.get(name, "") for name in filters))
    console.print(table)


def _draw(console: Console, options: BenchOptions) -> None:
    from kmcf_lab.bench.alarm_room import Room, draw_room, room_walk
    from kmcf_lab.bench.alarms import FILTERS
    from kmcf_lab.quiet import quiet

    room = Room.of(0)
    with quiet():
        runs = {
            label: make(room_walk, random_state=0).fit(room.states, room.observations).filter(room.heard)
            for label, make in FILTERS.items()
        }
    for path in draw_room(room, runs, options.out):
        console.print(f"saved {path}", soft_wrap=True)
