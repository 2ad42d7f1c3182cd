"""The commands. Each imports what it needs when it runs, so that ``kmcf --help`` is quick."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kmcf._version import __version__
from kmcf.cli.bench import bench
from kmcf.cli.data import data
from kmcf.cli.evaluate import evaluate
from kmcf.cli.filter import filter_
from kmcf.cli.fit import fit
from kmcf.cli.group import Commands, Debug, unwrapped
from kmcf.cli.inspect import inspect
from kmcf.cli.localize import localize
from kmcf.cli.reproduce import reproduce
from kmcf.cli.tune import tune

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"kmcf {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Bayesian filtering from examples, for when nobody can write down the observation model.

    Start with kmcf demo, or with files:

        kmcf data ble

        kmcf fit ble/straight_0[1-4].csv -s x,y -y 'rssi_*' -t time

        kmcf filter model.kmcf ble/straight_05.csv -o states.csv

        kmcf evaluate model.kmcf ble/straight_05.csv

    Exit codes: 0 all went well, 1 bad input, 2 no such command or option, 3 a bug, 130 stopped by Ctrl-C, 141 nobody
    read the output.
    """


app.callback(help=unwrapped(options))(options)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for pictures, tables and report.")] = Path("demo"),
    walks: Annotated[int, typer.Option(min=1, max=9, help="How many of the nine recorded walks to follow.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same seed gives the same demo.")] = 0,
) -> None:
    """Find a person's way through a room from Bluetooth strengths, given examples only; save a picture and a report."""
    from kmcf.cli.localize import check_extras, score_table
    from kmcf.cli.showing import can_show_progress, command_line
    from kmcf.experiments.demo import SHOWN, run_demo
    from kmcf.experiments.localize.radio import BLE

    check_extras()
    console = Console()
    console.print(
        "A person carries a Bluetooth beacon through a room. Twelve receivers measure its signal strength once a "
        "second, and nobody can say how strength depends on place. The filter knows eight recorded walks, place and "
        f"strengths, and now follows {walks} it has never seen, without knowing where they begin. About a minute."
    )
    published = run_demo(out, command_line(), walks=walks, seed=seed, progress=can_show_progress())
    console.print(score_table(published.scores, BLE.measure, "Where is the person?"))
    shown = next(one for one in published.scores if one.fold == SHOWN)
    console.print(f"The walk in the picture was found with a mean error of {shown.mean:.2f} m, from strengths alone.")
    console.print(f"Picture: {published.picture.resolve()}", soft_wrap=True)
    console.print(f"Report, for your browser: {published.report.resolve().as_uri()}", soft_wrap=True)


app.command(help=unwrapped(fit))(fit)
app.command(help=unwrapped(tune))(tune)
app.command("filter", help=unwrapped(filter_))(filter_)
app.command(help=unwrapped(evaluate))(evaluate)
app.command(help=unwrapped(inspect))(inspect)
app.command()(bench)
app.command()(localize)
app.add_typer(data, name="data")
app.add_typer(reproduce, name="reproduce")
