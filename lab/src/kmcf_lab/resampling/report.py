"""The report on Section 6.1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Axis, Block, Chart, Report, Section, Series, SideBySide, Statements, Table, Text
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Result
from kmcf_lab.resampling.checks import quoted, statements, sweep
from kmcf_lab.resampling.figures import BINS
from kmcf_lab.resampling.study import METHODS, POINTS, Draw
from kmcf_lab.versions import versions

_COLOURS = {"m̂_P": 7, "woRes": 0, "Res-KH": 2, "Res-Trunc": 1}
_PROBLEM = (
    "P = N(0, 0.1²), the transition N(x, 0.1²), a Gaussian kernel of bandwidth 0.1. An estimate m̂_P is made on "
    "100 points uniform in [−A, A] with weights that minimise its error plus λ‖w‖². Then m_Q is estimated by "
    "moving the points with their weights (`woRes`), after Kernel Herding (`Res-KH`), or after truncating "
    "negative weights and multinomial resampling (`Res-Trunc`). All errors are exact: kernel means of normal "
    "distributions are known in closed form."
)


def resampling_report(results: Sequence[Result], pictured: Draw, command: str) -> Report:
    """Put tables, charts and checked statements on a page."""
    checked = statements(results)
    count = sum(one.verdict.value == "holds" for one in checked)
    summary = f"{count} of {len(checked)} sentences of Section 6.1 hold when the experiment is repeated."
    return Report(
        "Sampling and resampling (Section 6.1)",
        command,
        [
            Section("The paper's statements", [Statements(checked)]),
            Section("Demonstration", [Text(_PROBLEM), _quoted_table(results), *_panels(pictured)]),
            Section("Effect of the sum of squared weights", [_sweep_chart(results), _sweep_table(results)]),
        ],
        summary=summary,
        versions=versions(),
    )


def _quoted_table(results: Sequence[Result]) -> Block:
    rows: list[list[Entry]] = [
        [one.symbol, one.paper, one.pictured, one.median, one.low, one.high, f"{one.rank:.0%} of our draws are lower"]
        for one in quoted(results)
    ]
    columns = ["squared RKHS error", "paper", "the pictured draw", "median", "5 %", "95 %", "the paper's number"]
    caption = (
        "The paper shows one draw and does not say with which λ; ours has λ = 10⁻⁶ and A = 1. "
        "Quantiles are over all our draws."
    )
    return Table(columns, rows, caption)


def _panels(pictured: Draw) -> list[Block]:
    charts: list[Block] = []
    errors = pictured.errors()
    for method in METHODS:
        for letter, when in (("p", "before"), ("q", "after")):
            values = pictured.samples[method] if letter == "p" else pictured.moved[method]
            title = f"{method}, {when} the transition: error {errors[f'{method}_{letter}']:.2e}"
            if method == "woRes":
                series = Series(method, values, pictured.weights, kind="stems", colour=_COLOURS[method])
                charts.append(Chart(title, Axis("state x", limits=(-1.05, 1.05)), Axis("weight"), [series]))
            else:
                counts, edges = np.histogram(values, BINS)
                middles = 0.5 * (edges[1:] + edges[:-1])
                series = Series(method, middles, counts, kind="bars", colour=_COLOURS[method])
                charts.append(Chart(title, Axis("state x", limits=(-1.05, 1.05)), Axis("number of samples"), [series]))
    return [SideBySide(charts)]


def _sweep_chart(results: Sequence[Result]) -> Block:
    averages = sweep(results)
    order = np.argsort(averages.sum_of_squares)
    series = []
    for name, means in averages.means.items():
        label = f"error of {name}" if name == "m̂_P" else f"{name}, error on m_Q"
        low, high = (means + sign * averages.errors[name] for sign in (-1, 1))
        x = averages.sum_of_squares[order]
        series.append(Series(label, x, means[order], low[order], high[order], colour=_COLOURS[name]))
    return Chart(
        "Errors over the sum of squared weights",
        Axis("sum of squared weights Σw²", log=True),
        Axis("squared RKHS error", log=True),
        series,
        caption=f"A = 5, {POINTS} points; means over repetitions with standard errors, a point per λ.",
    )


def _sweep_table(results: Sequence[Result]) -> Block:
    averages = sweep(results)
    rows = [
        [float(ridge), float(squares), *(float(means[k]) for means in averages.means.values())]
        for k, (ridge, squares) in enumerate(zip(averages.ridges, averages.sum_of_squares, strict=True))
    ]
    return Table(["λ", "Σw²", "error of m̂_P", *METHODS], rows, "Mean squared RKHS errors; the methods' are on m_Q.")
