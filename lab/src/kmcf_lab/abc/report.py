"""The report on the ABC setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmcf.report import Axis, Block, Chart, Estimate, Report, Section, Series, SideBySide, Statements, Table, Text
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.abc.checks import all_rows, comparisons, mean_error, models_of, opponents, present, statements
from kmcf_lab.abc.study import BANDWIDTHS, METHODS, ORACLE_PARTICLES, TEST_STEPS
from kmcf_lab.cells import Result, Row
from kmcf_lab.tables import chosen
from kmcf_lab.versions import versions

_PROBLEM = (
    "Section 2 of the paper mentions a related setting, in which observations can be simulated and their density "
    "cannot be evaluated, and leaves a comparison with ABC filters open. Here it is. Every method may simulate equally "
    "many observations in all. KMCF (its defaults, not tuned) draws them once, before it sees any data: the states of "
    "its n examples are one long simulation of the transition, started from p_init, with one simulated observation "
    "each. The ABC particle filter (Jasra, Singh, Martin and McCoy 2012) simulates one observation for each of its N "
    "particles at each of the T steps, N = n / T, and weighs the particles by a Gaussian kernel of the distance "
    "between simulated and real observation. Draws from the transition are not counted, for either."
)
_FAIR = (
    f"What favours ABC: its bandwidth is the best of {len(BANDWIDTHS)} on {TEST_STEPS} pilot steps of the same length "
    "and number of particles, whose simulations are not counted; “ABC, summary” compares log Σ y², a sufficient "
    "statistic of the volatility models that somebody without a density would not know. What favours KMCF: its "
    "examples would serve any number of further sequences, and an ABC filter starts again each time, but each sequence "
    "is charged for all examples here; on ten-dimensional observations (3a) its default kernel learns a summary from "
    "the examples, and plain ABC compares raw observations. "
    f"The oracle is a particle filter with the true density and {ORACLE_PARTICLES} particles."
)
_COLOURS = {"KMCF": 2, "ABC": 1, "ABC, summary": 0, "oracle": 7}


def abc_report(results: Sequence[Result], command: str) -> Report:
    """Put tables, charts and verdicts on a page."""
    rows, checked = all_rows(results), statements(results)
    return Report(
        "Observations that can only be simulated (Section 2)",
        command,
        [
            Section("The problem", [Text(_PROBLEM), Text(_FAIR)]),
            Section("Who does better", [Statements(checked)]),
            Section("Errors", [_table(rows), SideBySide(_charts(rows))]),
        ],
        summary=_summary(rows),
        versions=versions(),
    )


def _summary(rows: Sequence[Row]) -> str:
    """Count the single comparisons, and name those that KMCF loses."""
    found = comparisons([row for row in rows if "budget" in row])
    won = sum(one.high < 1.0 for one in found.values())
    lost = [f"{name} ({one})" for name, one in found.items() if one.low > 1.0]
    return (
        f"KMCF and ABC particle filters with equally many simulated observations: of {len(found)} comparisons, each "
        f"with a 95 % confidence interval, KMCF has the smaller error in {won} and the larger one in {len(lost)}; "
        f"{len(found) - won - len(lost)} cannot be decided. Lost: {'; '.join(lost) or 'none'}."
    )


def _table(rows: Sequence[Row]) -> Block:
    lines: list[list[Entry]] = []
    for model in models_of(rows):
        for budget in present(chosen(rows, model=model), "budget"):
            for length in present(rows, "length"):
                known = ("KMCF", *opponents(rows, model), "oracle")
                errors = [_error(rows, model, budget, length, one) if one in known else None for one in METHODS]
                lines.append([model, budget, length, max(budget // length, 1), *errors])
    caption = (
        f"Root mean squared errors over {TEST_STEPS} steps (one sequence or several), means over repetitions with "
        "standard errors. The oracle has no budget."
    )
    return Table(["model", "simulations = n", "T", "N of ABC", *METHODS], lines, caption)


def _error(rows: Sequence[Row], model: str, budget: int, length: int, method: str) -> Estimate:
    where: dict[str, Any] = {} if method == "oracle" else {"budget": budget}
    return mean_error(rows, model=model, length=length, method=method, **where)


def _charts(rows: Sequence[Row]) -> list[Block]:
    lengths = present(rows, "length")
    charts: list[Block] = []
    for model in models_of(rows):
        for budget in present(chosen(rows, model=model), "budget"):
            series = []
            for method in ("KMCF", *opponents(rows, model), "oracle"):
                found = [_error(rows, model, budget, length, method) for length in lengths]
                series.append(Series(method, lengths, [one.value for one in found], colour=_COLOURS[method]))
            axes = Axis("length T of the sequence", log=True), Axis("root mean squared error", log=True)
            charts.append(Chart(f"{model}, {budget} simulations", *axes, series))
    return charts
