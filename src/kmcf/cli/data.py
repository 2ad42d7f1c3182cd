"""``kmcf data``: data to try the commands on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

data = typer.Typer(help="Write data sets of the package as plain files, to try the commands on.", no_args_is_help=True)


@data.callback()
def _several() -> None:
    """Write data sets of the package as plain files, to try the commands on."""


@data.command()
def ble(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("ble"),
    window: Annotated[float, typer.Option(min=0.1, help="Seconds over which strengths are averaged.")] = 1.0,
) -> None:
    """Write nine walks through a room, with the signal strengths of twelve Bluetooth receivers: one CSV file each.

    Columns: sequence, time (seconds), x and y (metres), rssi_01 to rssi_12 (dBm, −100: nothing heard).

    For example:

        kmcf data ble --out ble
    """
    from kmcf.datasets import ble_tracks, write_table

    out.mkdir(parents=True, exist_ok=True)
    for track in ble_tracks(window):
        names = {**track.names, "observations": tuple(f"rssi_{j + 1:02d}" for j in range(track.observations.shape[1]))}
        path = out / f"{track.name}.csv"
        write_table(replace(track, names=names), path)
        Console().print(f"saved {path} ({len(track)} rows)", soft_wrap=True, highlight=False, markup=False)
