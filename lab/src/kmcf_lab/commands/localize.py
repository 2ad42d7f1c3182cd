"""``kmcf localize``: where is it? From examples, on recorded and simulated data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from kmcf.cli.cluster import SchedulerOption, WorkersOption, cluster_of
from kmcf.cli.showing import can_show_progress, command_line
from kmcf.support.extras import require
from kmcf.support.plain_json import without_nan
from kmcf.support.plain_text import printable
from kmcf_lab.commands.printing import new_table, unbroken
from kmcf_lab.commands.reproducing import stopped_words

if TYPE_CHECKING:
    from kmcf_lab.localize.problem import Measure
    from kmcf_lab.localize.publishing import Published
    from kmcf_lab.localize.scores import Score


class Dataset(StrEnum):
    """The localization problems."""

    ble = "ble"
    mrclam = "mrclam"
    intel = "intel"
    freiburg = "freiburg"
    building = "building"
    cold = "cold"
    wifine = "wifine"
    wifine_spliced = "wifine-spliced"
    spikes = "spikes"
    spikes_random_walk = "spikes-random-walk"


def localize(
    dataset: Annotated[
        Dataset, typer.Argument(help="Which problem; all but ble, building, spikes and spikes-random-walk need --path.")
    ],
    path: Annotated[Path | None, typer.Option(help="Folder or file of the recorded data.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for tables, figures and report.")] = None,
    folds: Annotated[
        str | None, typer.Option(help="Names of folds, separated by semicolons, or how many folds.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Names, separated by commas: kmcf, knn-pf, kbr, knn, nai …")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Settings tried per method and fold, inside the training data; cold and building: 12 for three "
            "parameters, others 0 unless given.",
            show_default=False,
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Calibrate 95 % ellipses on the training sequences, left out in turn; cold and building: on the drive "
            "that is for tuning.",
        ),
    ] = False,
    repetitions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How often, each time with other random numbers; cold and building: 20 draws of the examples, others "
            "1 unless given.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Workers that compute in parallel.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller version.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute again what an earlier run finished.")] = False,
    show: Annotated[str | None, typer.Option(help="Fold to look into; otherwise one of median error.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON and nothing else.")] = False,
) -> None:
    """Localize from examples: leave a recording out, compare methods, write a report. A killed run can continue.

    cold and building follow Section 6.3 of the paper instead: examples are drawn from the first drive (n = 100, 200,
    300, 400), every method is tuned on the second for every draw, n and interval, the third is the test, in steps of
    2.27, 4.54 and 6.81 s. This takes hours.
    """
    from kmcf_lab.localize.experiment import Experiment, chosen_folds, run_experiment
    from kmcf_lab.localize.publishing import publish

    check_extras()
    folder = out or Path("localize") / (f"{dataset.value}-quick" if quick else dataset.value)
    if path is not None and scheduler is not None:
        path = path.absolute()  # where the workers look for it, too
    experiment = Experiment(dataset.value, path, quick, 0, seed, calibrated=calibrate)
    usual = experiment.problem
    if trials is None:
        trials = 0 if quick else usual.trials
    if repetitions is None:
        repetitions = 1 if quick else usual.repetitions
    experiment = replace(experiment, trials=trials)
    with _failing_in_one_sentence():
        compared = _methods(methods, experiment.problem.methods)
        wanted = chosen_folds(experiment, folds)
        with cluster_of(scheduler, workers):
            results = run_experiment(
                experiment,
                folder / "cells",
                folds=wanted,
                methods=compared,
                repetitions=repetitions,
                jobs=jobs,
                fresh=fresh,
                progress=not as_json and can_show_progress(),
            )
        published = publish(experiment, results, folder, command_line(), show)
    if as_json:
        typer.echo(json.dumps(summary_of(published, experiment.problem.measure)))
        return
    console = Console()
    print_scores(console, published.scores, experiment.problem.measure, experiment.problem.title)
    for file in published.files:
        console.print(f"saved {file}", soft_wrap=True)


@contextmanager
def _failing_in_one_sentence() -> Iterator[None]:
    """Turn errors that concern the user, and interrupts, into a sentence and an exit code."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        notes = "".join(f" {note}; the same command continues from here." for note in getattr(error, "__notes__", ()))
        typer.echo(printable(f"kmcf localize: {error}{notes}"), err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt as stop:
        typer.echo(f"{stopped_words(stop)}; the same command continues from here", err=True)
        raise typer.Exit(130) from None


IN_THE_REPORT = ("rmse", "crps", "within")
"""What a terminal has no room for, unless it is what a problem is judged by."""
WIDE = 1000
"""More columns of letters than any table of scores needs."""


def print_scores(console: Console, scores: Sequence[Score], measure: Measure, title: str) -> None:
    """Print means and standard errors of all methods; on a narrow terminal headings break, and errors if they must."""
    everything = console.options.update(width=WIDE)
    table = _score_table(scores, measure, title, unbroken)
    if console.measure(table, options=everything).maximum > console.width:
        table = _narrowed(table)
    if console.measure(table, options=everything).minimum > console.width:
        table = _narrowed(_score_table(scores, measure, title, lambda number: str(number).replace(" ± ", " ±")))
    console.print(table)


def _score_table(scores: Sequence[Score], measure: Measure, title: str, shown: Callable[[object], str]) -> Table:
    from kmcf_lab.localize.methods import METHODS
    from kmcf_lab.localize.scores import counted_folds, heading, methods_of, ordered_quantities, summary

    caption = f"{title}: means over {counted_folds(scores)} ± standard errors"
    names = [name for name in ordered_quantities(measure) if name == measure.primary or name not in IN_THE_REPORT]
    table = new_table(caption, ["method", *(heading(name, measure) for name in names)])
    for method in methods_of(scores):
        table.add_row(METHODS[method].label, *(shown(summary(scores, method, name)) for name in names))
    return table


def _narrowed(table: Table) -> Table:
    """Give columns of numbers the width of their longest word, which would be cut off otherwise."""
    for column in table.columns[1:]:
        column.width = max(len(word) for text in (column.header, *column.cells) for word in str(text).split())
    return table


def summary_of(published: Published, measure: Measure) -> dict[str, Any]:
    """Return the numbers for programs."""
    from kmcf_lab.localize.scores import QUANTITIES, methods_of, summary

    means = {
        method: {name: asdict(summary(published.scores, method, name)) for name in QUANTITIES}
        for method in methods_of(published.scores)
    }
    return without_nan(
        {
            "primary": measure.primary,
            "methods": means,
            "folds": [asdict(one) for one in published.scores],
            "files": [str(file) for file in published.files],
        }
    )


def check_extras() -> None:
    """Complain before anything is computed if the pictures could not be drawn afterwards."""
    try:
        require("matplotlib", "plot")
    except ImportError as error:
        typer.echo(f"kmcf: {error}", err=True)
        raise typer.Exit(1) from None


def _methods(given: str | None, default: tuple[str, ...]) -> list[str]:
    from kmcf_lab.localize.methods import METHODS

    wanted = list(default) if given is None else [name.strip() for name in given.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        raise ValueError(
            f"--methods {given}: there is no method {', '.join(unknown)!r}; choose among {', '.join(METHODS)}."
        )
    return [name for name in METHODS if name in wanted]
