"""``kmcf tune``: hyper-parameters from a file of examples."""

from __future__ import annotations

import csv
import json
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table


class Transition(StrEnum):
    """Motion models that can be fitted to the examples."""

    random_walk = "random-walk"


def tune(
    examples: Annotated[Path, typer.Argument(help="CSV file with a header line, or NPZ archive of arrays.")],
    state: Annotated[list[str], typer.Option(help="Column (or array) of the state; repeat for several.")],
    observation: Annotated[list[str], typer.Option(help="Column of the observation; repeat for several.")],
    control: Annotated[list[str] | None, typer.Option(help="Column of the control; repeat for several.")] = None,
    group: Annotated[str | None, typer.Option(help="Column that says which sequence a row belongs to.")] = None,
    angle: Annotated[list[str] | None, typer.Option(help="State column that is an angle in radians.")] = None,
    transition: Annotated[
        Transition, typer.Option(help="How states move; fitted to consecutive rows.")
    ] = Transition.random_walk,
    independent: Annotated[bool, typer.Option("--independent", help="The rows are no sequence.")] = False,
    metric: Annotated[str, typer.Option(help="rmse, mode, kernel_score or negative_log_density.")] = "rmse",
    trials: Annotated[int, typer.Option(min=1, help="How many settings to try.")] = 60,
    sampler: Annotated[str, typer.Option(help="random or optuna.")] = "random",
    jobs: Annotated[int, typer.Option(help="Trials at once; -1: all cores.")] = 1,
    seconds: Annotated[float | None, typer.Option(min=0.001, help="Start no new trial after so many seconds.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    study: Annotated[Path | None, typer.Option(help="File that keeps the trials; run again to go on.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for settings.json and trials.csv.")] = Path("tuning"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the settings as JSON and nothing else.")] = False,
) -> None:
    """Choose the filter's hyper-parameters by cross validation on recorded examples; save settings and trials."""
    from kmcf.cli.motion import fit_random_walk
    from kmcf.cli.tables import read_columns
    from kmcf.filter import KernelMonteCarloFilter
    from kmcf.tuning import tune as run_study

    try:
        columns = read_columns(examples)
        states, observations = columns.numbers(state), columns.numbers(observation)
        controls = columns.numbers(control) if control else None
        groups = columns.labels(group) if group else None
        angles = _positions(angle or [], state)
        move = fit_random_walk(states, controls, groups, angles)
        result = run_study(
            KernelMonteCarloFilter(move, angles=angles, random_state=seed),
            states,
            observations,
            controls=controls,
            groups=groups,
            sequential=not independent,
            n_trials=trials,
            metric=metric,
            n_jobs=jobs,
            random_state=seed,
            sampler=sampler,
            time_budget=seconds,
            study=study,
            progress=not as_json and find_spec("tqdm") is not None,
        )
    except (ValueError, TypeError, RuntimeError, ImportError) as error:
        typer.echo(f"kmcf tune: {error}", err=True)
        raise typer.Exit(1) from None
    settings = _settings(result, transition, len(columns))
    _save(result, settings, out)
    if as_json:
        typer.echo(json.dumps(settings))
    else:
        _show(settings, out)


def _positions(angle: list[str], state: list[str]) -> tuple[int, ...]:
    for name in angle:
        if name not in state:
            raise ValueError(f"--angle {name} is none of the state columns ({', '.join(state)}).")
    return tuple(state.index(name) for name in angle)


def _settings(result: Any, transition: Transition, size: int) -> dict[str, Any]:
    return {
        "filter": type(result.best_filter).__name__,
        "transition": transition.value,
        "examples": size,
        "trials": len(result.trials),
        "metric": result.metric,
        "value": result.best_value,
        "untuned_value": None if result.untuned_value != result.untuned_value else result.untuned_value,
        "settings": result.best_params,
    }


def _save(result: Any, settings: dict[str, Any], out: Path) -> None:
    from kmcf.experiments.files import write_json

    write_json(out / "settings.json", settings)
    with (out / "trials.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, result.rows[0])
        writer.writeheader()
        writer.writerows(result.rows)


def _show(settings: dict[str, Any], out: Path) -> None:
    console = Console()
    untuned = "failed" if settings["untuned_value"] is None else f"{settings['untuned_value']:.4g}"
    console.print(f"{settings['metric']}: {untuned} untuned, {settings['value']:.4g} best trial")
    table = Table(title="Settings found", title_justify="left")
    table.add_column("parameter")
    table.add_column("value", justify="right")
    for name, value in settings["settings"].items():
        table.add_row(name, value if isinstance(value, str) else f"{value:.4g}")
    console.print(table)
    for name in ("settings.json", "trials.csv"):
        console.print(f"saved {(out / name).resolve()}", soft_wrap=True)
