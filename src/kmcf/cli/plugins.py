"""Commands of other distributions, which add them to ``kmcf`` through the entry point ``kmcf.commands``.

The entry point names a function that is given the application and registers its commands. The laboratory (``kmcf-lab``)
does so; where it is not installed, its commands are still listed and say how to get it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

import typer

from kmcf.cli.group import note

GROUP = "kmcf.commands"
LABORATORY = {
    "demo": "Follow people through a room by Bluetooth, given examples only.",
    "localize": "Compare the methods on recorded data: indoor radio, landmarks, laser scans, images.",
    "reproduce": "Compute the paper's experiments and theorems again.",
    "bench": "Measure time per step and accuracy.",
}
"""What ``kmcf-lab`` adds."""


def add_commands(app: typer.Typer) -> None:
    """Add the commands of all installed distributions, and a hint for those of the laboratory that are missing."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            register: Callable[[typer.Typer], None] = entry.load()
            register(app)
        except Exception as error:  # somebody else's code: the library's own commands still work
            note(f"the commands of {entry.value} could not be loaded ({type(error).__name__}: {error}).")
    present = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    present |= {str(group.name) for group in app.registered_groups}
    for name, what in LABORATORY.items():
        if name not in present:
            app.command(
                name,
                help=f"{what} (Not installed: pip install kmcf-lab.)",
                context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
            )(_missing(name))


def _missing(name: str) -> Callable[[], None]:
    def command() -> None:
        raise ImportError(
            f"kmcf {name} is part of the laboratory, a distribution of its own; install it with: pip install kmcf-lab"
        )

    return command
