"""The commands that the laboratory adds to ``kmcf``: words a person types, no mathematics."""

import typer

from kmcf_lab.commands.bench import bench
from kmcf_lab.commands.demo import demo
from kmcf_lab.commands.localize import localize
from kmcf_lab.commands.reproduce_variations import reproduce


def add_to(app: typer.Typer) -> None:
    """Register the laboratory's commands; the entry point ``kmcf.commands`` names this function."""
    app.command()(demo)
    app.command()(localize)
    app.command()(bench)
    app.add_typer(reproduce, name="reproduce")
