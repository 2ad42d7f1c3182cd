"""Section 6.2: all methods on the paper's eight synthetic models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kmcf.datasets import PAPER_MODELS
from kmcf.filter import SequentialFilter
from kmcf_lab.cells import Cell, Coordinate, Result, Row, run_cells
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import rmse
from kmcf_lab.synthetic.data import TRANSITIONS, SimulatedData, simulate_data
from kmcf_lab.synthetic.methods import METHODS, TRIALS_PER_PARAMETER, SyntheticMethod
from kmcf_lab.synthetic.more import GIVEN, TIMES, enlarged
from kmcf_lab.synthetic.scaling import SCALED_SIZES, scaling_times
from kmcf_lab.synthetic.times import step_times, timed_names

SIZES, TIMED_SIZES = (100, 200, 400), (100, 200, 400, 800)
"""Numbers of examples: of errors, and of times. The paper's text does not give its own; a data set with 800 takes an
hour of one core."""
QUICK_MODELS, QUICK_SIZES, QUICK_TRIALS = ("1a", "1b", "2a", "2b", "3a", "4a", "4b"), (100,), 1
"""A quick run: 100 examples, one trial per parameter, one of the two models with ten-dimensional observations."""
QUICK_SCALING = (500, 1000, 2000)
REFERENCE = 200
"""The number of examples that is shown in the tables."""
STEPS, PAPER_REPETITIONS = 100, 20
TIMED_MODELS, TIMED_LATER, TIMED_REPETITIONS = ("1a", "1b"), ("3a",), 3
"""The paper shows the times of 1a and 1b and calls the others similar; 3a has ten-dimensional observations."""
_BROKEN = (np.linalg.LinAlgError, FloatingPointError)


def compute(cell: Cell) -> Sequence[Row]:
    """Compute one method on one data set, what more of something gains it, or the times of all."""
    where = cell.coordinates
    if cell.study == "scaling":
        return scaling_times(int(where["n"]), cell.seed)
    data = _data(where)
    with quiet():
        if cell.study == "times":
            return step_times(data, str(where["methods"]).split("; "))
        return [(_with_more if cell.study == "more" else _accuracy)(where, data)]


def _data(where: Mapping[str, Any], times: int = 1) -> SimulatedData:
    """Simulate the data set of a cell, with so many times the usual number of moves."""
    named = {key: where[key] for key in ("n", "repetition", "steps", "seed")}
    return simulate_data(where["model"], **named, transitions=times * TRANSITIONS)


def _accuracy(where: Mapping[str, Any], data: SimulatedData) -> Row:
    began = perf_counter()
    flt, tuned = METHODS[where["method"]].fitted(data, where["trials"])
    row: Row = {"fit_seconds": perf_counter() - began, "seed_of_filters": data.seed}
    row |= filtered(flt, data)
    if tuned is not None:
        row |= {"validation_rmse": tuned.best_value, "untuned_validation_rmse": tuned.untuned_value}
        row["settings"] = json.dumps(tuned.best_params, default=str)
        row["failed_trials"] = sum(trial.status == "failed" for trial in tuned.trials)
    return row


def _with_more(where: Mapping[str, Any], data: SimulatedData) -> Row:
    name, times = where["method"], where["times"]
    usual, _ = METHODS[name].fitted(data, where["trials"])
    more = enlarged(name, usual, _data(where, times), times)
    return {"rmse": filtered(usual, data)["rmse"], "rmse_with_more": filtered(more, data)["rmse"]}


def filtered(flt: SequentialFilter, data: SimulatedData) -> Row:
    """Filter the test sequence; where a step cannot be computed, it counts as broken and the prediction is kept.

    Algorithms as printed may divide by nearly nothing. A run that ended there would have no error at all; keeping the
    prediction is the mildest way to go on.
    """
    test, means, broken = data.test, [], 0
    belief = flt.start()
    for step, observation in enumerate(test.observations):
        control = None if test.controls is None else test.controls[step]
        try:
            following = flt.step(belief, observation, control)
        except _BROKEN:
            following, broken = flt.step(belief, None, control), broken + 1
        belief = following
        means.append(belief.mean())
    return {"rmse": rmse(np.array(means), test.states), "rejected": belief.rejections, "broken": broken}


def synthetic_cells(
    models: Sequence[str],
    sizes: Sequence[int],
    methods: Sequence[str],
    repetitions: int,
    *,
    per_parameter: int = TRIALS_PER_PARAMETER,
    steps: int = STEPS,
    seed: int = 0,
    timed_at: Sequence[int] | None = None,
    scaling: Sequence[int] = SCALED_SIZES,
) -> list[Cell]:
    """Return the cells, repetition by repetition; times come after the first one.

    Parameters
    ----------
    models, methods : sequence of str
        Names.
    sizes : sequence of int
        Numbers of examples.
    repetitions : int
        Data sets per model and size.
    per_parameter : int
        Trials in the cross validations for every parameter that is tuned.
    steps : int
        Length of the test sequences.
    seed : int
        Another seed gives independent data sets.
    timed_at : sequence of int, optional
        Numbers of examples at which times are measured. None: all sizes.
    scaling : sequence of int
        Numbers of examples at which the growth of the low-rank methods' times is measured.
    """
    check_choices(models, sizes, methods)
    small_first = sorted(sizes)

    def named(study: str, model: str, n: int, repetition: int, **further: Coordinate) -> Cell:
        where: dict[str, Coordinate] = {"model": model, "n": n, "repetition": repetition, "steps": steps, "seed": seed}
        return Cell(study, {**where, **further})

    def block(repetition: int) -> list[Cell]:
        accuracy = [
            named("accuracy", model, n, repetition, **_settings(METHODS[name], model, per_parameter))
            for n in small_first
            for model in models
            for name in methods
        ]
        more = [
            named("more", model, REFERENCE, repetition, times=TIMES, **_settings(METHODS[name], model, per_parameter))
            for model in models
            for name in methods
            if name in GIVEN and REFERENCE in sizes
        ]
        return [*accuracy, *more]

    names = "; ".join(timed_names(methods))
    timed = [model for model in models if model in TIMED_MODELS] or list(models[:1])
    timed += [model for model in models if model in TIMED_LATER and model not in timed]
    times = [
        named("times", model, n, repetition, methods=names)
        for repetition in range(min(TIMED_REPETITIONS, repetitions))
        for n in sorted(timed_at or sizes)
        for model in timed
    ]
    if "KMCF-low20" in methods:
        several = range(min(TIMED_REPETITIONS, repetitions))
        times += [
            Cell("scaling", {"model": "1a", "n": n, "repetition": k, "seed": seed}) for k in several for n in scaling
        ]
    first, *rest = (block(repetition) for repetition in range(repetitions))
    return [*first, *times, *(cell for one in rest for cell in one)]


def _settings(method: SyntheticMethod, model: str, per_parameter: int) -> dict[str, Coordinate]:
    """Return the coordinates that say how a method is tuned."""
    known: dict[str, Coordinate] = {"method": method.name, "trials": method.trials(model, per_parameter)}
    known["chosen"] = "best trial" if method.printed else "best trials combined"
    return known if method.delta is None else {**known, "delta": method.delta}


def run_synthetic(
    folder: Path,
    models: Sequence[str] = PAPER_MODELS,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    *,
    repetitions: int = PAPER_REPETITIONS,
    per_parameter: int = TRIALS_PER_PARAMETER,
    timed_at: Sequence[int] | None = TIMED_SIZES,
    scaling: Sequence[int] = SCALED_SIZES,
    seed: int = 0,
    **running: Any,
) -> list[Result]:
    """Compute Section 6.2.

    Parameters
    ----------
    folder : Path
        Where the cells are kept.
    models, sizes, methods, repetitions, per_parameter, timed_at, scaling, seed
        As in :func:`synthetic_cells`.
    **running
        As in :func:`kmcf_lab.cells.run_cells`: jobs, backend, resume, known, progress, seconds.
    """
    cells = synthetic_cells(
        models,
        sizes,
        methods,
        repetitions,
        per_parameter=per_parameter,
        timed_at=timed_at,
        scaling=scaling,
        seed=seed,
    )
    return run_cells(cells, compute, folder, **running)


def check_choices(models: Sequence[str], sizes: Sequence[int], methods: Sequence[str]) -> None:
    """Refuse unknown names, too few examples, and anything named twice."""
    for what, given, known in (("model", models, PAPER_MODELS), ("method", methods, tuple(METHODS))):
        unknown = [name for name in given if name not in known]
        if unknown or not given:
            raise ValueError(f"unknown {what} {unknown[0] if unknown else given!r}; choose among {', '.join(known)}.")
    if not sizes or min(sizes) < 20:
        raise ValueError(f"n = {list(sizes)}; at least 20 examples are needed for two folds.")
    for what, names in (("model", models), ("n", sizes), ("method", methods)):
        if len(set(names)) != len(names):
            raise ValueError(f"{what}: {', '.join(map(str, names))}; name each once.")
