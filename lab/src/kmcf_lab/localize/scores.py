"""Errors of the methods, per fold and over all folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from kmcf.numerics.arrays import BoolArray
from kmcf.report import Estimate
from kmcf.report.table import Best
from kmcf_lab.cells import Result, Row
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.problem import Measure
from kmcf_lab.statistics import estimate

QUANTITIES: dict[str, tuple[str, Best | None]] = {
    "mean": ("mean error (m)", "lowest"),
    "median": ("median error (m)", "lowest"),
    "share": ("share < 1 m", "highest"),
    "rmse": ("RMSE (m)", "lowest"),
    "crps": ("CRPS (m)", "lowest"),
    "inside": ("in 95 % ellipse", None),
    "within": ("in 95 % intervals", None),
    "milliseconds": ("ms per step", "lowest"),
}
"""What is reported of a method: heading, for distances in metres, and which is better."""


@dataclass(frozen=True)
class Score:
    """How one method did on one fold."""

    method: str
    fold: str
    group: str
    examples: int
    repetition: int
    mean: float
    median: float
    share: float
    rmse: float
    rmse_of_mean: float
    """That of the posterior mean, where the estimate is a mode."""
    milliseconds: float
    crps: float
    """Mean continuous ranked probability score of x and y."""
    inside: float
    """Share of true positions inside the 95 % ellipse."""
    within: float
    """Share of true coordinates of positions inside their 95 % intervals."""
    steps: int
    """Those that count."""
    missing: int
    """Steps without an observation, of all steps."""
    rejected: int
    tuned: str

    def value(self, name: str) -> float:
        """Return one of the numbers in ``QUANTITIES``."""
        return float(getattr(self, name))


def score(result: Result, measure: Measure) -> Score:
    """Summarise the errors of one cell."""
    rows = result.rows
    errors = np.array([row["error"] for row in rows], dtype=np.float64)
    counted = measure.judged(np.array([row["time"] for row in rows])) & np.isfinite(errors)
    if not counted.any():
        raise ValueError(
            f"no step of {result.cell.coordinates['fold']!r} counts ({measure.words}); it has {len(rows)} steps."
        )
    judged = errors[counted]
    return Score(
        method=str(result.cell.coordinates["method"]),
        fold=str(result.cell.coordinates["fold"]),
        group=str(rows[0]["group"]),
        examples=int(rows[0]["examples"]),
        repetition=int(result.cell.coordinates["repetition"]),
        mean=float(judged.mean()),
        median=float(np.median(judged)),
        share=float(np.mean(judged < measure.near)),
        rmse=float(np.sqrt(np.mean(judged**2))),
        rmse_of_mean=float(np.sqrt(_mean([_squared(row, "error_of_mean") for row in rows], "error_of_mean", counted))),
        crps=_mean(rows, "crps", counted),
        inside=_mean(rows, "inside", counted),
        within=_mean(rows, "within", counted),
        milliseconds=float(np.mean([row["milliseconds"] for row in rows])),
        steps=int(counted.sum()),
        missing=sum(bool(row["missing"]) for row in rows),
        rejected=sum(bool(row["rejected"]) for row in rows),
        tuned=str(rows[0]["tuned"]),
    )


def scores_of(results: Sequence[Result]) -> list[Score]:
    """Return the scores that a published table of folds holds."""
    names = [field.name for field in fields(Score)]
    found = []
    for result in results:
        known = {
            "within": np.nan,
            "rmse_of_mean": np.nan,
            **result.cell.coordinates,
            **result.rows[0],
        }  # earlier ones lack them
        found.append(Score(**{name: known[name] for name in names}))
    return found


def _squared(row: Row, name: str) -> Row:
    return {name: float(row.get(name, np.nan)) ** 2}


def _mean(rows: Sequence[Row], name: str, counted: BoolArray) -> float:
    """Average over the steps that count; NaN for rows that an earlier version wrote."""
    values = np.array([row.get(name, np.nan) for row in rows], dtype=np.float64)[counted]
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan


def heading(name: str, measure: Measure) -> str:
    """Return the heading of a quantity in the unit of a problem.

    Examples
    --------
    >>> heading("share", Measure("median", near=50.0, unit="px"))
    'share < 50 px'
    """
    return f"share < {measure.near:g} {measure.unit}" if name == "share" else _in_unit(name, measure.unit)


def _in_unit(name: str, unit: str) -> str:
    return QUANTITIES[name][0].replace("(m)", f"({unit})")


def methods_of(scores: Sequence[Score]) -> list[str]:
    """Return the methods in the order of the tables."""
    return [name for name in METHODS if any(one.method == name for one in scores)]


def summary(scores: Sequence[Score], method: str, name: str) -> Estimate:
    """Average a number over repetitions, then over folds, with the standard error of that mean.

    Repetitions of a fold share its test sequence, so they say nothing about other sequences: the standard error is over
    folds, and over repetitions only where there is a single fold.
    """
    folds: dict[str, list[float]] = {}
    for one in scores:
        if one.method == method:
            folds.setdefault(one.fold, []).append(one.value(name))
    if len(folds) == 1:
        return estimate(*folds.values())
    return estimate(float(np.mean(values)) for values in folds.values())


def counted_folds(scores: Sequence[Score]) -> str:
    """Write over how many folds and repetitions means are taken."""
    folds = len({one.fold for one in scores})
    repetitions = len({one.repetition for one in scores})
    words = f"{folds} fold{'s' * (folds != 1)}"
    return f"{words}, {repetitions} repetitions" if repetitions > 1 else words


def ordered_quantities(measure: Measure) -> list[str]:
    """Return the quantities to show, the primary one first."""
    return [measure.primary, *(name for name in QUANTITIES if name != measure.primary)]


def typical_fold(scores: Sequence[Score], method: str, measure: Measure) -> Score:
    """Return the fold on which a method is neither good nor bad: the lower median of its primary number."""
    own = sorted((one for one in scores if one.method == method), key=lambda one: one.value(measure.primary))
    return own[(len(own) - 1) // 2]
