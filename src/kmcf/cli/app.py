"""The commands. Each imports what it needs when it runs, so that ``kmcf --help`` is quick."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from kmcf._version import __version__
from kmcf.cli.bench import bench
from kmcf.cli.data import data
from kmcf.cli.evaluate import evaluate
from kmcf.cli.filter import filter_
from kmcf.cli.fit import fit
from kmcf.cli.group import Commands, Debug, unwrapped
from kmcf.cli.inspect import inspect
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
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    examples: Annotated[int, typer.Option(min=20, help="How many (state, observation) examples to learn from.")] = 300,
    length: Annotated[int, typer.Option(min=10, help="How many observations to filter.")] = 150,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same seed gives the same demo.")] = 0,
) -> None:
    """Recover a hidden state from noisy observations, given examples only; show the errors and save a picture."""
    from kmcf.experiments.demo import run_demo

    console = Console()
    console.print(
        f"A hidden number drifts (x' = 0.9 x + noise) and is seen through noise. The filter can simulate the drift, "
        f"but "
        f"the way observations arise it knows only from {examples} recorded pairs (state, observation). It now follows "
        f"the state through {length} new observations."
    )
    result = run_demo(out, n_examples=examples, length=length, seed=seed)
    table = Table(title="Root mean squared error of the estimated state", title_justify="left")
    table.add_column("method")
    table.add_column("error", justify="right")
    for name, error in result.errors.items():
        table.add_row(name, f"{error:.3f}")
    console.print(table)
    console.print(
        f"{result.coverage:.0%} of the true states lie in the filter's 95 % band; {result.milliseconds:.2f} ms per "
        f"step."
    )
    console.print(f"Picture: {result.picture.resolve()}", soft_wrap=True)


app.command(help=unwrapped(fit))(fit)
app.command(help=unwrapped(tune))(tune)
app.command("filter", help=unwrapped(filter_))(filter_)
app.command(help=unwrapped(evaluate))(evaluate)
app.command(help=unwrapped(inspect))(inspect)
app.command()(bench)
app.add_typer(data, name="data")
app.add_typer(reproduce, name="reproduce")
