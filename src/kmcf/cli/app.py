"""The commands. Each imports what it needs when it runs, so that ``kmcf --help`` is quick."""

from collections.abc import Callable
from typing import Annotated

import typer

from kmcf._version import __version__
from kmcf.cli.adapt import adapt, check_sensor
from kmcf.cli.calibrate import calibrate
from kmcf.cli.crossvalidate import crossvalidate
from kmcf.cli.data import data
from kmcf.cli.evaluate import evaluate
from kmcf.cli.filter import filter_
from kmcf.cli.fit import fit
from kmcf.cli.group import Commands, Debug, unwrapped
from kmcf.cli.inspect import inspect
from kmcf.cli.learn_transition import learn_transition
from kmcf.cli.option_groups import with_option_groups
from kmcf.cli.plugins import add_commands
from kmcf.cli.serve import serve
from kmcf.cli.tune import tune
from kmcf.cli.watch import watch

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
COMMANDS: dict[str, Callable[..., None]] = {
    "fit": fit,
    "tune": tune,
    "crossvalidate": crossvalidate,
    "calibrate": calibrate,
    "learn-transition": learn_transition,
    "check-sensor": check_sensor,
    "adapt": adapt,
    "filter": filter_,
    "evaluate": evaluate,
    "inspect": inspect,
    "serve": serve,
    "watch": watch,
}
for name, command in COMMANDS.items():
    app.command(name, help=unwrapped(command))(with_option_groups(command))
app.add_typer(data, name="data")
add_commands(app)
