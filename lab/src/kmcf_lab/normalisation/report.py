"""The report on the normalisation of weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Axis, Block, Chart, Report, Section, Series, SideBySide, Statements, Table, Text
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Result, Row
from kmcf_lab.normalisation.checks import VARIANTS, models_of, statements
from kmcf_lab.normalisation.study import EXAMPLES, SCHEDULES
from kmcf_lab.statistics import estimate
from kmcf_lab.tables import chosen, column, grid, rows_of
from kmcf_lab.versions import versions

_PROBLEM = (
    "Line 16 of Algorithm 3 divides the weights by their sum. Here it is left out: estimates, herding and, where "
    "nothing is resampled, the next prediction take the weights as Kernel Bayes' Rule gives them. Resampled points "
    "have equal weights again, so a sum that is not 1 reaches the next step only through which points are picked. "
    f"The paper's filter with n = {EXAMPLES} examples, Gaussian kernels on raw observations, ℓ = 50; settings by "
    "two-fold cross validation. Nothing is rejected, except where all weights are zero and their sum with them: there "
    "both filters keep the prediction (the column “undefined” counts such steps). “Divided when read” shows how much "
    "of the difference is in the reading alone."
)
_SUMS = (
    "The paper: the sum of the weights of a consistent estimator converges to 1. An estimator is consistent only if "
    "its regularisers shrink as n grows, so they are held in one run (ε = 1e-3, δ = 9e-6) and shrink in the other, as "
    "n^(−1/2) and 1/n from the same values at n = 100."
)


def normalisation_report(results: Sequence[Result], command: str) -> Report:
    """Put tables, charts and checked statements on a page."""
    checked = statements(results)
    count = sum(one.verdict.value == "holds" for one in checked)
    errors, sums = rows_of(results, "errors"), rows_of(results, "sums")
    return Report(
        "Normalisation of the weights (Section 4.3)",
        command,
        [
            Section("The paper's statements", [Statements(checked)]),
            Section("Errors with and without normalisation", [Text(_PROBLEM), _error_table(errors)]),
            Section("Sums of weights", [Text(_SUMS), _sum_table(sums), SideBySide(_charts(sums))]),
        ],
        summary=f"{count} of {len(checked)} checks of what Section 4.3 says about the sum of the weights hold.",
        versions=versions(),
    )


def _error_table(rows: Sequence[Row]) -> Block:
    names = ("normalised", *VARIANTS)
    lines: list[list[Entry]] = []
    for model in models_of(rows):
        here = chosen(rows, model=model)
        errors: list[Entry] = [estimate(column(here, name)) for name in names]
        sums: list[Entry] = [estimate(column(here, name)) for name in ("median_sum", "away_from_one")]
        lines.append([model, *errors, *sums, int(column(here, "undefined").sum())])
    columns = ["model", *names, "median Σw", "mean distance of Σw from 1", "undefined"]
    return Table(columns, lines, "Root mean squared errors and sums of weights, means with standard errors.")


def _sum_table(rows: Sequence[Row]) -> Block:
    sizes = sorted({int(row["n"]) for row in rows})
    lines: list[list[Entry]] = []
    for schedule in SCHEDULES:
        for model in models_of(rows):
            here = chosen(rows, model=model, schedule=schedule)
            values: list[Entry] = [estimate(column(chosen(here, n=n), "typically_away")) for n in sizes]
            lines.append([schedule, model, *values])
    return Table(["regularisers", "model", *(f"n = {n}" for n in sizes)], lines, "Median over steps of |Σw − 1|.")


def _charts(rows: Sequence[Row]) -> list[Block]:
    charts: list[Block] = []
    for schedule in SCHEDULES:
        series = []
        for place, model in enumerate(models_of(rows)):
            sizes, away = grid(chosen(rows, model=model, schedule=schedule), "n", "typically_away")
            series.append(Series(model, sizes, np.mean(away, axis=0), colour=place))
        axes = Axis("number of examples n", log=True), Axis("median |Σw − 1|", log=True)
        charts.append(Chart(f"Regularisers {schedule}", *axes, series))
    return charts
