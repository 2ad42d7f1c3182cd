"""Who does better with equally many simulated observations, for each model and each length of sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Estimate, Statement
from kmcf_lab.cells import Result, Row
from kmcf_lab.statistics import Interval, confidence, detectable, estimate, factor
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.verdicts import below

SOURCE = "Section 2, related settings"


def all_rows(results: Sequence[Result]) -> list[Row]:
    """Return the rows of both methods and of the oracle."""
    return [*rows_of(results, "budget"), *rows_of(results, "oracle")]


def present(rows: Sequence[Row], name: str) -> list[int]:
    """Return the values of a coordinate, in increasing order."""
    return sorted({int(row[name]) for row in rows if name in row})


def models_of(rows: Sequence[Row]) -> list[str]:
    """Return the models that were computed."""
    return sorted({str(row["model"]) for row in rows})


def opponents(rows: Sequence[Row], model: str) -> list[str]:
    """Return the ABC filters that were run on a model."""
    known = {row["method"] for row in chosen(rows, model=model)}
    return [name for name in ("ABC", "ABC, summary") if name in known]


def mean_error(rows: Sequence[Row], **where: str | int) -> Estimate:
    """Return the root mean squared error with its standard error over repetitions."""
    return estimate(column(chosen(rows, **where), "rmse"))


def log_ratio(rows: Sequence[Row], model: str, length: int, budget: int, opponent: str) -> FloatArray:
    """Return log(error of KMCF ÷ error of an opponent), a number per repetition."""
    where = {"model": model, "length": length, "budget": budget}
    ours, theirs = (
        {row["repetition"]: row["rmse"] for row in chosen(rows, method=method, **where)}
        for method in ("KMCF", opponent)
    )
    return np.log([ours[r] / theirs[r] for r in sorted(ours.keys() & theirs.keys())])


def comparisons(rows: Sequence[Row]) -> dict[str, Interval]:
    """Return the ratio of errors, KMCF ÷ opponent, of every single comparison."""
    return {
        f"{opponent} on {model}, T = {length}, {budget} simulations": factor(
            confidence(log_ratio(rows, model, length, budget, opponent))
        )
        for model in models_of(rows)
        for opponent in opponents(rows, model)
        for length in present(rows, "length")
        for budget in present(chosen(rows, model=model), "budget")
    }


def statements(results: Sequence[Result]) -> list[Statement]:
    """Judge, for each model and length, that KMCF has the smaller error on average over the budgets."""
    rows = rows_of(results, "budget")
    return [
        _statement(rows, model, length, opponent)
        for model in models_of(rows)
        for opponent in opponents(rows, model)
        for length in present(rows, "length")
    ]


def _statement(rows: Sequence[Row], model: str, length: int, opponent: str) -> Statement:
    budgets = present(chosen(rows, model=model), "budget")
    ratios = [log_ratio(rows, model, length, budget, opponent) for budget in budgets]
    shown = [f"{budget}: {factor(confidence(one))}" for budget, one in zip(budgets, ratios, strict=True)]
    # Repetitions are independent; budgets within one share their test sequences.
    overall: Interval = confidence(np.mean(ratios, axis=0))
    seen = f"visible from {detectable(np.mean(ratios, axis=0)):.0%}"
    about = f"error of KMCF ÷ {opponent} by budget: {'; '.join(shown)}; all {factor(overall)}, {seen}"
    claim = f"{model}, T = {length}: KMCF does better than {opponent}, on average over the budgets."
    return Statement(claim, below(overall, 0.0), about, SOURCE)
