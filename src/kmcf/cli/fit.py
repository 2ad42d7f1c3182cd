"""``kmcf fit``: a model file from recorded examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kmcf.cli import options as words
from kmcf.cli.code import Expression, call
from kmcf.cli.config import Config
from kmcf.cli.group import Debug, note
from kmcf.cli.recipe import Motion, Recipe, Source, assignments, given
from kmcf.cli.showing import print_json, print_table

if TYPE_CHECKING:
    from kmcf.datasets import Recording

ModelOut = Annotated[
    Path, typer.Option("--out", "-o", metavar="MODEL", help="The model file.", rich_help_panel=words.OUTPUT)
]


def fit(
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
    epsilon: words.Epsilon = None,
    delta: words.Delta = None,
    rule: words.RuleOption = None,
    engine: words.EngineOption = None,
    tolerance: words.Tolerance = None,
    rank: words.Rank = None,
    resampling: words.ResamplingOption = None,
    n_resample: words.NResample = None,
    resample_threshold: words.ResampleThreshold = None,
    n_particles: words.NParticles = None,
    support: words.SupportOption = None,
    background: words.Background = None,
    n_examples: words.NExamples = None,
    seed: words.Seed = 0,
    out: ModelOut = Path("model.kmcf"),
    as_json: words.Json = False,
    python: words.Python = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Learn a filter from recorded examples and save it as one file.

    A row is one step: where the state was, what was observed there. How states move is learnt from rows that follow
    each other; files, and values of --sequence, begin anew.

    For example:

        kmcf fit walk.csv --state x,y --observation 'rssi_*' --time t

        kmcf fit run1.csv run2.csv -s x,y,heading --angle heading -y 'beam_*' -u 'odo_*' --transition odometry

        kmcf fit walks.parquet -s x -y signal --sequence walk --observation-kernel matern:nu=2.5 -o model.kmcf
    """
    del config, debug
    recipe = Recipe(
        Source(files, state, observation, control or (), time, sequence, angle or (), gaps.value, encoding=encoding),
        Motion(transition, assignments(transition_set or [], "--transition-set"), trim, recovery),
        given(
            state_kernel=state_kernel,
            observation_kernel=observation_kernel,
            epsilon=epsilon,
            delta=delta,
            rule=rule,
            engine=engine,
            tolerance=tolerance,
            rank=rank,
            resampling=resampling,
            n_resample=n_resample,
            resample_threshold=resample_threshold,
            n_particles=n_particles,
            support=support,
            background=background,
            n_examples=n_examples,
        ),
        seed,
    )
    if python:
        notes = Expression('{"columns": kmcf.datasets.columns_of(recordings)}')
        typer.echo("\n".join([*recipe.code(), "flt.fit(states, observations)"]))
        typer.echo(call("kmcf.store.save", Expression("flt"), out, notes=notes))
        return
    told = fit_and_save(recipe, out)
    if as_json:
        print_json(told)
    else:
        print_table("Model", told)


def fit_and_save(recipe: Recipe, out: Path) -> dict[str, Any]:
    """Do what the script of ``--python`` does, and say what came of it."""
    from kmcf.datasets import columns_of, examples
    from kmcf.store import save

    recordings = recipe.source.read()
    tell_gaps(recordings, recipe.source.gaps)
    states, observations = examples(recordings)
    rows = sum(len(recording) for recording in recordings)
    if not len(states):
        raise ValueError(f"none of the {rows} rows has both a state and an observation.")
    if len(states) < rows:
        note(f"{rows - len(states)} of {rows} rows have no state or no observation, and are no examples.")
    flt = recipe.filter(recordings, states).fit(states, observations)
    out.parent.mkdir(parents=True, exist_ok=True)
    save(flt, out, notes={"columns": columns_of(recordings)})
    return {
        "model": str(out),
        "examples": len(states),
        "sequences": len({recording.name for recording in recordings}),
        "state": list(recordings[0].names["states"]),
        "observation": list(recordings[0].names["observations"]),
        "control": list(recordings[0].names["controls"]),
        "transition": repr(flt.transition),
        "observation_kernel": repr(flt.observation_kernel_),
        "epsilon": flt.epsilon_,
        "delta": flt.delta_,
        "engine": flt.engine_,
        "ranks": list(flt.ranks_),
    }


def tell_gaps(recordings: list[Recording], gaps: str) -> None:
    """Say how often time advanced by more than a step, and what was made of it."""
    once = {recording.name: recording.counts for recording in recordings}
    found = {name: counts["gaps"] for name, counts in once.items() if counts.get("gaps")}
    if found:
        made = {"split": "they begin new sequences", "fill": "rows without observation fill them"}
        names = ", ".join(repr(name) for name in list(found)[:3]) + (", ..." if len(found) > 3 else "")
        note(f"{sum(found.values())} gaps in time ({names}): {made.get(gaps, 'the rows are taken as they are')}.")
