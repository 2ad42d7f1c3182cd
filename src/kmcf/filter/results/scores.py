"""How far runs were from the truth, if it is known."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter.results.run import FilterRun
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.trust.scores import interval_score


class Scores(NamedTuple):
    """Errors of a run.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(60, random_state=0), model.simulate(20, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
    >>> scores = score_runs([flt.filter(test.observations)], [test.states])
    >>> scores.steps, scores.missing, 0.0 <= scores.inside <= 1.0
    (20, 0, True)
    """

    steps: int
    """Steps with a known true state; the errors are taken over these."""
    rmse: float
    """Root mean squared distance of the posterior mean to the truth."""
    median_error: float
    """Median distance."""
    mode_rmse: float
    """Root mean squared distance of the mode."""
    inside: float
    """Share of true coordinates inside their 95 % interval."""
    interval_score: float
    """Mean interval score of these: their width, plus 40 times how far the truth lies outside."""
    crps: float
    """Mean continuous ranked probability score; NaN for runs that did not keep their beliefs."""
    rejected: int
    """Steps whose observation was not used."""
    missing: int
    """Steps without an observation."""
    alarms: int
    """Steps that raised an alarm, of those with a known true state."""
    rmse_without_alarm: float
    """Root mean squared distance of the mean over the others."""
    mean_error: float = float("nan")
    """Mean distance of the posterior mean to the truth."""


def score_runs(runs: list[FilterRun], truths: list[Any]) -> Scores:
    """Compare runs with the true states; steps whose true state is NaN are left out.

    Parameters
    ----------
    runs : list of FilterRun
        With states that are vectors.
    truths : list of arrays (T, d)
        The true states, one array per run. With fewer columns than states have, only these, the first, are judged: give
        true positions where states are positions and velocities.

    Examples
    --------
    >>> import kmcf
    >>> walk = kmcf.transitions.GaussianRandomWalk(0.1)
    >>> X = np.linspace(0.0, 1.0, 50)
    >>> flt = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(X, X)
    >>> scores = score_runs([flt.filter(X[10:20])], [X[10:20]])
    >>> scores.steps, scores.rmse < 0.1
    (10, True)
    """
    parts = [_differences(run, truth) for run, truth in zip(runs, truths, strict=True)]
    mean, mode, inside, score, alarm = (np.concatenate(column) for column in zip(*parts, strict=True))
    rejected, missing = (sum(int(np.sum(getattr(run, name))) for run in runs) for name in ("rejected", "missing"))
    if not len(mean):
        unknown = np.nan
        return Scores(0, unknown, unknown, unknown, unknown, unknown, unknown, rejected, missing, 0, unknown)
    distances = np.linalg.norm(mean, axis=1)
    return Scores(
        len(mean),
        _root_mean(distances),
        float(np.median(distances)),
        _root_mean(np.linalg.norm(mode, axis=1)),
        float(np.mean(inside)),
        float(np.mean(score)),
        _mean_crps(runs, truths),
        rejected,
        missing,
        int(alarm.sum()),
        _root_mean(distances[~alarm]) if not alarm.all() else np.nan,
        float(np.mean(distances)),
    )


def truth_rows(truth: Any) -> FloatArray:
    """Return true states as rows, (T, d).

    Examples
    --------
    >>> truth_rows([1.0, 2.0]).shape
    (2, 1)
    """
    if hasattr(truth, "positions"):
        raise TypeError("the true states are a recording; pass its states or, without velocities, its positions.")
    rows = np.asarray(truth, dtype=np.float64)
    return rows.reshape(len(rows), -1)


def _differences(run: FilterRun, truth: Any) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray, BoolArray]:
    steps = len(run.time)
    rows = truth_rows(truth)
    mean, mode = run.mean.reshape(steps, -1), np.asarray(run.mode, dtype=np.float64).reshape(steps, -1)
    width = rows.shape[1]
    if len(rows) != steps or not 0 < width <= mean.shape[1]:
        raise ValueError(f"the true states have shape {np.shape(truth)}, but the run has {run.mean.shape}.")
    known = np.isfinite(rows).all(axis=1)
    angles = [column for column in run.angles if column < width]
    from_mean, from_mode = (wrapped_columns((estimate[:, :width] - rows)[known], angles) for estimate in (mean, mode))
    inside, score = _interval(run, rows)
    return from_mean, from_mode, inside[known], score[known], run.alarm[known]


def _interval(run: FilterRun, rows: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Say which coordinates are in their interval, and how good it is; angles count around the circle."""
    judged = rows.shape[1]
    lower, upper = run.interval[:, 0, :judged], run.interval[:, 1, :judged]
    offset, width = rows - lower, upper - lower
    columns = [column for column in run.angles if column < judged]
    offset[:, columns] %= 2.0 * np.pi
    inside = (offset >= 0) & (offset <= width)
    nearer_below = np.zeros_like(inside)
    nearer_below[:, columns] = (2.0 * np.pi - offset < offset - width)[:, columns]
    placed = np.where(nearer_below, offset - 2.0 * np.pi, offset)  # outside, on the side that is nearer
    return np.asarray(inside), interval_score(np.zeros_like(width), width, placed)


def _mean_crps(runs: list[FilterRun], truths: list[Any]) -> float:
    """Average the score over the steps with a known state; NaN if beliefs are missing."""
    try:
        beliefs = [run.beliefs for run in runs]
    except LookupError:  # they were not kept
        return np.nan
    scores = [
        copy.copy(belief).crps(*_judged(belief, state))  # a copy, so that weights formed for this are freed
        for kept, truth in zip(beliefs, truths, strict=True)
        for belief, state in zip(kept, np.asarray(truth, dtype=np.float64), strict=True)
        if np.isfinite(state).all()
    ]
    return float(np.mean(scores))


def _judged(belief: Any, state: FloatArray) -> tuple[FloatArray, range]:
    """Return a true state as long as those of a belief, and its columns that are known."""
    known = np.ravel(state)
    width = int(np.prod(np.shape(belief.states)[1:]))
    return np.concatenate([known, np.zeros(width - len(known))]), range(len(known))


def _root_mean(distances: FloatArray) -> float:
    return float(np.sqrt(np.mean(distances**2)))
