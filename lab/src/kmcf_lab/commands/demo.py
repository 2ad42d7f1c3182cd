"""``kmcf demo``: the first thing a newcomer sees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kmcf.cli.showing import can_show_progress, command_line
from kmcf_lab.commands.localize import check_extras, print_scores


def demo(
    out: Annotated[Path, typer.Option(help="Folder for pictures, tables and report.")] = Path("demo"),
    walks: Annotated[
        int,
        typer.Option(
            min=1, max=9, help="How many of the nine recorded walks to follow; 9 makes the picture of the README."
        ),
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same seed gives the same demo.")] = 0,
) -> None:
    """Follow a person through a room by Bluetooth, given examples only; save a picture and a report."""
    from kmcf_lab.localize.demo import run_demo
    from kmcf_lab.localize.radio import BLE

    check_extras()
    console = Console()
    console.print(
        "A person carries a Bluetooth beacon through a room. Twelve receivers measure its signal strength once a "
        "second, and nobody can say how strength depends on position. The filter learns from eight recorded walks "
        "(positions and strengths) and follows a ninth, without knowing where it begins; it does so for "
        f"{walks} of the nine. This takes a minute or two."
    )
    published = run_demo(out, command_line(), walks=walks, seed=seed, progress=can_show_progress())
    print_scores(console, published.scores, BLE.measure, "Position of the person")
    console.print(
        "The walk in the picture, the one of median error, was followed with a mean error of "
        f"{published.shown.mean:.2f} m, by strengths alone."
    )
    console.print(f"Picture: {published.picture.resolve()}", soft_wrap=True)
    console.print(f"Report, for your browser: {published.report.resolve().as_uri()}", soft_wrap=True)
