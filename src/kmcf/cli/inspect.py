"""``kmcf inspect``: what is in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kmcf.cli import options
from kmcf.cli.showing import print_json, print_table

INTERNAL = ("cache_", "probes_")
"""What a file keeps for loading it."""


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A model, kernel, transition or run saved by kmcf.")],
    as_json: options.JsonOption = False,
) -> None:
    """Show what is in a file written by kmcf, without running anything in it.

    For example:

        kmcf inspect model.kmcf

        kmcf inspect model.kmcf --json | jq .notes.columns
    """
    from kmcf.store import describe_file

    if not file.exists():
        raise ValueError(f"there is no file {file}.")
    about = describe_file(file)
    if as_json:
        print_json(about)
        return
    print_table(str(file), _first(about))
    notes = about.get("notes", {})
    parts = [
        ("Columns", notes.get("columns")),
        ("Window", notes.get("window")),
        ("Settings", about.get("settings")),
        ("Learnt", about.get("fitted")),
    ]
    for title, part in _by_sensor(parts):
        if isinstance(part, dict) and part:
            print_table(title, _readable(part))


def _readable(part: dict[Any, Any]) -> dict[str, Any]:
    """Return what people want to read; --json shows everything."""
    shown = {str(name): value for name, value in part.items() if value is not None and name not in INTERNAL}
    if "calibration_" in shown:  # too many numbers to read
        shown["calibration_"] = "95 % intervals are calibrated"
    filling = shown.pop("filling_", None)
    if isinstance(filling, list) and filling:  # the floors, and which columns are ignored
        floors = filling[0]
        shown["floor_"] = (
            [None if value != value else value for value in floors] if isinstance(floors, list) else floors
        )
    return shown


def _by_sensor(parts: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield tables; what is said about each of several sensors is one of its own."""
    for title, part in parts:
        several = {} if not isinstance(part, dict) else part.get("sensors") or part.get("sensors_")
        if not isinstance(several, dict) or not several:
            yield title, part
            continue
        yield title, {name: value for name, value in part.items() if value is not several}
        for name, own in several.items():
            yield f"{title}, sensor {name}", own if isinstance(own, dict) else {"observation": own}


def _first(about: dict[str, Any]) -> dict[str, Any]:
    needed = about.get("passed_again") or {}
    return {
        "holds": about["class"],
        "bytes": about["size"],
        "arrays": about["arrays"],
        "format": about["format"],
        "written with": ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
        "to be passed again": [f"{name} ({was})" for name, was in needed.items()] or "nothing",
    }
