"""The filter with and without line 16 of Algorithm 3 on the eight models, and the sums of its weights as n grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from kmcf.bayes_rule.defaults import DELTA_PLAIN, EPSILON
from kmcf.datasets import PAPER_MODELS, StateSpaceModel, Trajectory, paper_model
from kmcf.kernels import Gaussian
from kmcf.kernels.defaults import OBSERVATION_MULTIPLIER, STATE_MULTIPLIER
from kmcf.numerics.arrays import FloatArray
from kmcf.tuning import tune
from kmcf_lab.cells import Cell, Coordinate, Result, Row, run_cells
from kmcf_lab.normalisation.filter import PrintedFilter, UnnormalisedFilter
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import rmse

EXAMPLES, STEPS, HERDED, TRIALS = 200, 100, 50, 6
"""Examples, test steps and ℓ as in the paper's figures at n = 200; settings tried in the two-fold cross validation."""
SIZES = (50, 100, 200, 400)
"""Numbers of examples at which the sums of weights are looked at."""
SCHEDULES = ("held", "shrinking")
"""Regularisers that stay, or that shrink with n as an estimator needs to be consistent."""
ANCHOR = 100
"""Both schedules agree at this number of examples."""


def paper_filter(kind: type[PrintedFilter], model: StateSpaceModel, seed: int, **settings: Any) -> PrintedFilter:
    """Return the paper's filter, not fitted: Gaussian kernels on raw observations, ℓ = 50 at every step."""
    common: dict[str, Any] = {
        "initial": model.initial,
        "state_kernel": Gaussian(multiplier=STATE_MULTIPLIER),
        "observation_kernel": Gaussian(multiplier=OBSERVATION_MULTIPLIER),
        "delta": DELTA_PLAIN["kbr"],
        "engine": "exact",
        "n_resample": HERDED,
        "resample_threshold": 0.0,
        "relocate": False,
        "random_state": seed,
    }
    return kind(model.transition, **{**common, **settings})


def regularisers(schedule: str, n: int) -> dict[str, float]:
    """Return ε and δ: held at their defaults, or shrinking as n^(−1/2) and 1/n.

    Examples
    --------
    >>> regularisers("held", 400), regularisers("shrinking", 400)
    ({'epsilon': 0.001, 'delta': 9e-06}, {'epsilon': 0.0005, 'delta': 2.25e-06})
    """
    share = ANCHOR / n if schedule == "shrinking" else 1.0
    return {"epsilon": EPSILON * share**0.5, "delta": DELTA_PLAIN["kbr"] * share}


def compute(cell: Cell) -> Sequence[Row]:
    """Compute the errors with and without normalisation on one data set, or the sums of weights for one n."""
    where = cell.coordinates
    model = paper_model(str(where["model"]))
    common = {key: where[key] for key in ("model", "repetition", "seed")}
    test = model.simulate(int(where["steps"]), random_state=Cell("test", common).seed)
    train = model.simulate(int(where["n"]), random_state=Cell("train", {**common, "n": where["n"]}).seed)
    seed = cell.seed % 2**32
    # Unnormalised weights can be so small that their squares vanish, and the effective sample size is infinite.
    with quiet(), np.errstate(divide="ignore", over="ignore"):
        if cell.study == "errors":
            return [_errors(model, train, test, int(where["trials"]), seed)]
        return [_sums(model, train, test, schedule, seed) for schedule in str(where["schedules"]).split()]


def _errors(model: StateSpaceModel, train: Trajectory, test: Trajectory, trials: int, seed: int) -> Row:
    """Tune and run both filters; the one without normalisation also with the other's settings."""
    tuned = {
        kind: tune(
            paper_filter(kind, model, seed),
            *(train.states, train.observations, train.controls),
            n_trials=trials,
            n_best=1,
            transfer=False,
            prune="certain",
            random_state=seed,
        ).best_filter
        for kind in (PrintedFilter, UnnormalisedFilter)
    }
    normalised = tuned[PrintedFilter]
    settings = {name: value for name, value in normalised.get_params(deep=False).items() if name != "transition"}
    same = UnnormalisedFilter(model.transition, **settings).fit(train.states, train.observations)
    run, as_it_is, own = (
        flt.filter(test.observations, test.controls, keep_beliefs=False)
        for flt in (normalised, same, tuned[UnnormalisedFilter])
    )
    sums = np.where(as_it_is.rejected, 1.0, as_it_is.weight_sum)
    return {
        "normalised": rmse(run.mean, test.states),
        "unnormalised, same settings": rmse(as_it_is.mean, test.states),
        "unnormalised, own settings": rmse(own.mean, test.states),
        "unnormalised, divided when read": rmse(as_it_is.mean / sums[:, None], test.states),
        "undefined": int(run.rejected.sum()),
        **_about_sums(run.weight_sum, run.mean - test.states),
    }


def _sums(model: StateSpaceModel, train: Trajectory, test: Trajectory, schedule: str, seed: int) -> Row:
    """Run the filter with regularisers of a schedule, and look at the sums of its weights."""
    flt = paper_filter(PrintedFilter, model, seed, **regularisers(schedule, len(train.states)))
    run = flt.fit(train.states, train.observations).filter(test.observations, test.controls, keep_beliefs=False)
    return {
        "schedule": schedule,
        "rmse": rmse(run.mean, test.states),
        **_about_sums(run.weight_sum, run.mean - test.states),
    }


def _about_sums(sums: FloatArray, deviations: FloatArray) -> Row:
    """Say how far sums of weights are from 1, and whether the estimates are worse where they are farther."""
    known = np.isfinite(sums)
    sums, deviations = sums[known], deviations[known]
    away = np.abs(sums - 1.0)
    return {
        "median_sum": float(np.median(sums)),
        "away_from_one": float(np.mean(away)),
        "typically_away": float(np.median(away)),
        "rank_correlation": float(stats.spearmanr(away, np.abs(deviations[:, 0])).statistic),
    }


def normalisation_cells(
    models: Sequence[str],
    sizes: Sequence[int],
    repetitions: int,
    *,
    trials: int = TRIALS,
    steps: int = STEPS,
    seed: int = 0,
) -> list[Cell]:
    """Return the cells: the errors at n = 200, and the sums at every n for a third of the repetitions."""

    def named(study: str, model: str, n: int, repetition: int, **further: Coordinate) -> Cell:
        where: dict[str, Coordinate] = {"model": model, "n": n, "repetition": repetition, "steps": steps, "seed": seed}
        return Cell(study, {**where, **further})

    schedules = " ".join(SCHEDULES)
    few = max(2, repetitions // 3)
    return [
        *(named("errors", model, EXAMPLES, r, trials=trials) for r in range(repetitions) for model in models),
        *(named("sums", model, n, r, schedules=schedules) for r in range(few) for model in models for n in sizes),
    ]


def run_normalisation(
    folder: Path,
    models: Sequence[str] = PAPER_MODELS,
    sizes: Sequence[int] = SIZES,
    *,
    repetitions: int = 12,
    trials: int = TRIALS,
    steps: int = STEPS,
    seed: int = 0,
    **running: Any,
) -> list[Result]:
    """Compute both parts.

    Parameters
    ----------
    folder : Path
        Where the cells are kept.
    models : sequence of str
        Models of the paper.
    sizes : sequence of int
        Numbers of examples at which the sums of weights are looked at.
    repetitions : int
        Data sets per model; the sums are looked at in a third of them.
    trials : int
        Settings tried in each cross validation.
    steps : int
        Length of the test sequences.
    seed : int
        Another seed gives independent data sets.
    **running
        As in :func:`kmcf_lab.cells.run_cells`: jobs, backend, resume, progress.
    """
    cells = normalisation_cells(models, sizes, repetitions, trials=trials, steps=steps, seed=seed)
    return run_cells(cells, compute, folder, **running)
