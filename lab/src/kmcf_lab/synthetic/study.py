"""Section 6.2: all methods on the paper's eight synthetic models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from kmcf.datasets import PAPER_MODELS
from kmcf_lab.cells import Cell, Coordinate, Result, Row, run_cells
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import rmse
from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.methods import METHODS, SyntheticMethod
from kmcf_lab.synthetic.times import step_times, timed_names

SIZES = (100, 200, 400, 800)
QUICK_MODELS, QUICK_SIZES, QUICK_SHARE = ("1a", "1b", "2a", "2b", "3a", "4a", "4b"), (100,), 0.5
"""A quick run has 100 examples, half the trials, and only one of the two models with ten-dimensional observations."""
REFERENCE = 200
"""The number of examples that is computed first and shown in the tables."""
STEPS = 100
TIMED_MODELS, TIMED_LATER, TIMED_REPETITIONS = ("1a", "1b"), ("3a",), 3
"""The paper shows the times of 1a and 1b and calls the others similar; 3a has ten-dimensional observations."""
_FIRST, _NEXT = 3, 10


def compute(cell: Cell) -> Sequence[Row]:
    """Compute one method on one data set, or the times of all."""
    where = cell.coordinates
    data = simulate_data(*(where[key] for key in ("model", "n", "repetition", "steps", "seed")))  # type: ignore[arg-type]
    with quiet():
        if cell.study == "times":
            return step_times(data, str(where["methods"]).split("; "))
        began = perf_counter()
        flt, tuned = METHODS[str(where["method"])].fitted(data, int(where["trials"]))
        row: Row = {"fit_seconds": perf_counter() - began, "seed_of_filters": data.seed}
        run = flt.filter(data.test.observations, data.test.controls, keep_beliefs=False)
    row |= {"rmse": rmse(run.mean, data.test.states), "rejected": int(run.rejected.sum())}
    if tuned is not None:
        row |= {"validation_rmse": tuned.best_value, "untuned_validation_rmse": tuned.untuned_value}
        row["settings"] = json.dumps(tuned.best_params, default=str)
    return [row]


def synthetic_cells(
    models: Sequence[str],
    sizes: Sequence[int],
    methods: Sequence[str],
    repetitions: int,
    *,
    share: float = 1.0,
    steps: int = STEPS,
    seed: int = 0,
) -> list[Cell]:
    """Return the cells in order of importance: ten repetitions at n = 200, times, other n, more repetitions.

    Parameters
    ----------
    models, methods : sequence of str
        Names.
    sizes : sequence of int
        Numbers of examples.
    repetitions : int
        Data sets per model and size.
    share : float
        Factor on the numbers of trials in the cross validations.
    steps : int
        Length of the test sequences.
    seed : int
        Another seed gives independent data sets.
    """
    check_choices(models, sizes, methods)
    reference = [n for n in sizes if n == REFERENCE] or [sizes[0]]
    others = [n for n in sizes if n not in reference]

    def named(study: str, model: str, n: int, repetition: int, **further: Coordinate) -> Cell:
        where: dict[str, Coordinate] = {"model": model, "n": n, "repetition": repetition, "steps": steps, "seed": seed}
        return Cell(study, {**where, **further})

    def block(block_sizes: Sequence[int], start: int, stop: int) -> list[Cell]:
        return [
            named("accuracy", model, n, repetition, **_settings(METHODS[name], n, share))
            for n in block_sizes
            for repetition in range(start, min(stop, repetitions))
            for model in models
            for name in methods
        ]

    def times(timed: Sequence[str]) -> list[Cell]:
        names = "; ".join(timed_names(methods))
        return [
            named("times", model, n, repetition, methods=names)
            for repetition in range(min(TIMED_REPETITIONS, repetitions))
            for n in sizes
            for model in timed
        ]

    timed = [model for model in models if model in TIMED_MODELS] or list(models[:1])
    later = [model for model in models if model in TIMED_LATER and model not in timed]
    first = [*block(reference, 0, _NEXT), *times(timed), *block(others, 0, _FIRST), *times(later)]
    return [*first, *block(others, _FIRST, _NEXT), *block([*reference, *others], _NEXT, repetitions)]


def _settings(method: SyntheticMethod, n: int, share: float) -> dict[str, Coordinate]:
    """Return the coordinates that say how a method is tuned."""
    known: dict[str, Coordinate] = {"method": method.name, "trials": method.affordable_trials(n, share)}
    return known if method.delta is None else {**known, "delta": method.delta}


def run_synthetic(
    folder: Path,
    models: Sequence[str] = PAPER_MODELS,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    *,
    repetitions: int = 20,
    share: float = 1.0,
    seed: int = 0,
    **running: Any,
) -> list[Result]:
    """Compute Section 6.2.

    Parameters
    ----------
    folder : Path
        Where the cells are kept.
    models, sizes, methods, repetitions, share, seed
        As in :func:`synthetic_cells`.
    **running
        As in :func:`kmcf_lab.cells.run_cells`: jobs, backend, resume, progress, seconds.
    """
    cells = synthetic_cells(models, sizes, methods, repetitions, share=share, seed=seed)
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
