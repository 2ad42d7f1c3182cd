"""What is recorded about each step: the estimate, its error and its uncertainty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from kmcf.datasets import Recording
from kmcf.filter.results.belief import Belief
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Row
from kmcf_lab.localize.problem import Measure, PointEstimate

LEVEL = 0.95
"""How much ellipses, and intervals of single coordinates, are to hold."""


def step_row(test: Recording, t: int, belief: Belief, measure: Measure) -> Row:
    """Return what is recorded about step ``t`` of a test recording."""
    truth = np.asarray(test.states[t], dtype=np.float64)[:2]
    place = position_of(belief, measure.estimate)
    around = uncertainty(belief, place, measure.estimate, measure.near)
    known = bool(np.isfinite(np.asarray(test.states[t], dtype=np.float64)).all())
    at_truth = np.linalg.norm(np.asarray(belief.states)[:, :2] - truth, axis=1) <= measure.near
    return {
        "step": t,
        "time": float(test.time[t]),
        "true_x": truth[0],
        "true_y": truth[1],
        "x": place[0],
        "y": place[1],
        "error": position_error(test.states[t], belief, measure),
        "error_of_mean": _error_of_mean(test.states[t], belief, measure),
        "variance_x": around[0, 0],
        "covariance": around[0, 1],
        "variance_y": around[1, 1],
        "crps": belief.crps(test.states[t], columns=(0, 1)) if known else np.nan,
        "inside": bool(belief.ellipse(LEVEL).contains(truth)[0]) if known else np.nan,
        "within": _share_within(belief.interval(LEVEL), truth) if known else np.nan,
        "mass_near_truth": float(np.sum(belief.weights[at_truth])),
        "effective_sample_size": belief.ess,
        "coverage": belief.report.coverage,
        "missing": belief.report.missing,
        "rejected": belief.report.rejected,
    }


def _share_within(interval: FloatArray, truth: FloatArray) -> float:
    """Return the share of the position's coordinates that lie in their intervals (2, d)."""
    lower, upper = interval[:, : len(truth)]
    return float(np.mean((lower <= truth) & (truth <= upper)))


def position_error(state: Any, belief: Belief, measure: Measure) -> float:
    """Return the distance of the estimated position to the true one, in all dimensions that make a position."""
    truth = np.asarray(state, dtype=np.float64)[: measure.axes]
    return float(np.linalg.norm(position_of(belief, measure.estimate, measure.axes) - truth))


def _error_of_mean(state: Any, belief: Belief, measure: Measure) -> float:
    """Return the error that the mean would have where the estimate is a mode; NaN elsewhere."""
    return position_error(state, belief, replace(measure, estimate="mean")) if measure.estimate == "mode" else np.nan


def position_of(belief: Belief, estimate: PointEstimate, axes: int = 2) -> FloatArray:
    """Return the estimated position (axes,) of a belief."""
    return np.asarray(belief.mean() if estimate == "mean" else belief.mode())[:axes]


def uncertainty(belief: Belief, place: FloatArray, estimate: PointEstimate, near: float) -> FloatArray:
    """Return the covariance (2, 2) of the position around an estimate.

    Around a mean it is that of the normal distribution with the belief's 95 % ellipse, calibrated where the filter is.
    Around a mode it is that of the positive weights within three times ``near``: distant modes say nothing about how
    sharp this one is.
    """
    if estimate == "mean":
        return np.asarray(belief.ellipse(LEVEL).matrix / chi2.ppf(LEVEL, 2))
    away = np.asarray(belief.states, dtype=np.float64)[:, :2] - place
    weights = np.maximum(belief.weights, 0.0) * (np.linalg.norm(away, axis=1) <= 3.0 * near)
    total = float(weights.sum())
    return (away * weights[:, None]).T @ away / total if total > 0 else np.zeros((2, 2))


def control_of(recording: Recording, t: int) -> Any:
    """Return the control that drove the move to step ``t``."""
    return None if recording.controls is None else recording.controls[t]
