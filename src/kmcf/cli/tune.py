"""``kmcf tune``: hyper-parameters from files of examples."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli import options as words
from kmcf.cli.code import Expression, call
from kmcf.cli.config import Config
from kmcf.cli.fit import tell_gaps
from kmcf.cli.group import Debug
from kmcf.cli.recipe import Motion, Recipe, Source, assignments, given
from kmcf.cli.showing import can_show_progress, print_json, print_table

if TYPE_CHECKING:
    from kmcf.datasets import Recording
    from kmcf.tuning import TuningResult

SEARCH = "Search"


class Sampler(StrEnum):
    """How settings are proposed."""

    random = "random"
    optuna = "optuna"


def tune(
    files: words.Files,
    state: words.State,
    observation: words.Observation,
    control: words.Control = None,
    time: words.Time = None,
    sequence: words.Sequence = None,
    angle: words.Angle = None,
    encoding: words.Encoding = "utf-8",
    gaps: words.GapsOption = words.Gaps.SPLIT,
    transition: words.Transition = "random-walk",
    transition_set: words.TransitionSet = None,
    trim: words.Trim = 0.0,
    recovery: words.Recovery = None,
    state_kernel: words.StateKernel = None,
    observation_kernel: words.ObservationKernel = None,
    rule: words.RuleOption = None,
    engine: words.EngineOption = None,
    n_resample: words.NResample = None,
    n_particles: words.NParticles = None,
    seed: words.Seed = 0,
    independent: Annotated[
        bool, typer.Option("--independent", help="The rows are no sequence.", rich_help_panel=SEARCH)
    ] = False,
    metric: Annotated[
        str, typer.Option(help="rmse, mode, kernel_score or negative_log_density.", rich_help_panel=SEARCH)
    ] = "rmse",
    trials: Annotated[int, typer.Option(min=1, help="How many settings to try.", rich_help_panel=SEARCH)] = 60,
    sampler: Annotated[Sampler, typer.Option(help="How settings are proposed.", rich_help_panel=SEARCH)] = (
        Sampler.random
    ),
    jobs: Annotated[int, typer.Option(help="Trials at once; -1: all cores.", rich_help_panel=SEARCH)] = 1,
    seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Start no new trial after so many seconds.", rich_help_panel=SEARCH)
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="File that keeps the trials; run again to go on.", rich_help_panel=SEARCH)
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for model.kmcf, settings.json and trials.csv.", rich_help_panel=words.OUTPUT
        ),
    ] = Path("tuning"),
    as_json: words.Json = False,
    python: words.Python = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Choose the filter's hyper-parameters by cross validation, and save the filter made of the best trials.

    Whole sequences are left out in turn (halves, if there is only one). An interrupted study with --study goes on
    where it was.

    For example:

        kmcf tune walks.csv -s x,y -y 'rssi_*' --sequence walk --trials 60

        kmcf tune walks.csv -s x -y signal --study study.jsonl --seconds 600 --jobs -1 -o tuned
    """
    del config, debug
    recipe = Recipe(
        Source(files, state, observation, control or (), time, sequence, angle or (), gaps.value, encoding=encoding),
        Motion(transition, assignments(transition_set or [], "--transition-set"), trim, recovery),
        given(
            state_kernel=state_kernel,
            observation_kernel=observation_kernel,
            rule=rule,
            engine=engine,
            n_resample=n_resample,
            n_particles=n_particles,
        ),
        seed,
    )
    search: dict[str, Any] = {
        "sequential": not independent,
        "n_trials": trials,
        "metric": metric,
        "n_jobs": jobs,
        "random_state": seed,
        "sampler": sampler.value,
    } | {name: value for name, value in (("time_budget", seconds), ("study", study)) if value is not None}
    if python:
        typer.echo(script(recipe, search, out))
        return
    recordings = recipe.source.read()
    tell_gaps(recordings, recipe.source.gaps)
    result = run_study(recipe, recordings, search, progress=not as_json and can_show_progress())
    told = _told(result, sum(len(recording) for recording in recordings))
    _save(result, recordings, told, out)
    if as_json:
        print_json(told)
    else:
        print_table("Settings made of the best trials", {**told.pop("settings"), **told})


def run_study(recipe: Recipe, recordings: list[Recording], search: dict[str, Any], *, progress: bool) -> TuningResult:
    """Do what the script does."""
    import numpy as np

    from kmcf.datasets import examples
    from kmcf.tuning import tune as search_settings

    flt = recipe.filter(recordings, examples(recordings)[0])
    driven = [recording.controls for recording in recordings if recording.controls is not None]
    return search_settings(
        flt,
        np.concatenate([recording.states for recording in recordings]),
        np.concatenate([recording.observations for recording in recordings]),
        controls=np.concatenate(driven) if driven else None,
        groups=[number for number, recording in enumerate(recordings) for _ in recording.time],
        progress=progress,
        **search,
    )


def script(recipe: Recipe, search: dict[str, Any], out: Path) -> str:
    """Return code that gives the same settings."""
    parts = {
        "states": "numpy.concatenate([recording.states for recording in recordings])",
        "observations": "numpy.concatenate([recording.observations for recording in recordings])",
    }
    if recipe.source.control:
        parts["controls"] = "numpy.concatenate([recording.controls for recording in recordings])"
    parts["groups"] = "[number for number, recording in enumerate(recordings) for _ in recording.time]"
    arguments = {name: Expression(code) for name, code in parts.items()}
    notes = Expression('{"columns": kmcf.datasets.columns_of(recordings)}')
    lines = [
        "import pathlib",
        "",
        "import numpy",
        *recipe.code(),
        f"result = {call('kmcf.tune', Expression('flt'), **arguments, **search)}",
        "print(result.best_value, result.best_params)",
        f"{call('pathlib.Path', out)}.mkdir(parents=True, exist_ok=True)",
        call("kmcf.store.save", Expression("result.best_filter"), out / "model.kmcf", notes=notes),
    ]
    return "\n".join(lines)


def _told(result: TuningResult, size: int) -> dict[str, Any]:
    return {
        "filter": type(result.best_filter).__name__,
        "transition": repr(result.best_filter.transition),
        "examples": size,
        "trials": len(result.trials),
        "metric": result.metric,
        "best_trial_value": result.best_value,
        "untuned_value": None if result.untuned_value != result.untuned_value else result.untuned_value,
        "settings": result.best_params,
    }


def _save(result: TuningResult, recordings: list[Recording], told: dict[str, Any], out: Path) -> None:
    from kmcf.datasets import columns_of
    from kmcf.store import save
    from kmcf.store.tables import write_rows
    from kmcf.support.plain_json import write_json

    out.mkdir(parents=True, exist_ok=True)
    save(result.best_filter, out / "model.kmcf", notes={"columns": columns_of(recordings)})
    write_json(out / "settings.json", told)
    write_rows(out / "trials.csv", list(result.rows[0]), (row.values() for row in result.rows))
