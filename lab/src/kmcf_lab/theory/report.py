"""The report on Section 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Axis, Block, Chart, Estimate, Report, Section, Series, SideBySide, Statements, Table, Text
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Result
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.theory.bound import CIRCLE_TRANSITIONS, LINE_TRANSITIONS
from kmcf_lab.theory.checks import CONSISTENCY, Curve, curve, statements
from kmcf_lab.versions import versions

_BOUND = (
    "The expected squared error of m̂_Q is exactly the theorem's first term plus a part carried over from m̂_P, "
    "which the theorem bounds by ‖m̂_P − m_P‖² ‖θ‖. Estimates are made on 10 to 300 points with "
    "regularisation λ from 10⁻⁸ to 0.1, which varies the effective sample size; then the points are moved many "
    "times.\n\n"
    "The theorem assumes that θ lies in H ⊗ H. For a random turn on the circle it does, and ‖θ‖² = 1 + 2 Σ "
    "exp(−2j²s²). In the paper's own example on the line, a Gaussian kernel and p(·|x) = N(x, s²), it does not: "
    "θ depends on x₁ − x₂ alone, so it is not square-integrable, whereas every element of a Gaussian RKHS is. There "
    "the bound is checked with 1 in place of ‖θ‖, which holds because adding noise contracts the RKHS of a "
    "shift-invariant kernel."
)
_RATES = (
    "P and the kernel are those of Section 6.1; candidates are drawn from N(0, 0.2²). On the left m_P itself is "
    "herded, with 5000 picks; on the right the importance-weighted mean of 500 candidates, which lies in their "
    "hull, so that the bound of the proof applies with infimum zero. Slopes are least squares in logarithms per "
    "repetition, with 95 % intervals over repetitions."
)
_CONSISTENCY = (
    "n independent examples of model 1a, N = ℓ = n, one state kernel of bandwidth 1 for all n, ε = 10⁻³ (200/n)^½ "
    "and δ = 9·10⁻⁶ (200/n). Every step is compared with the exact posterior of the Kalman filter: distance and mean "
    "by the root mean square over steps, the variance by the median. The variance is the expectation of an unbounded "
    "function, for which the corollary promises nothing, and with signed weights it is occasionally far off; the table "
    "shows the largest error of a sequence."
)


def theory_report(results: Sequence[Result], command: str) -> Report:
    """Put tables, charts and checked statements on a page."""
    checked = statements(results)
    count = sum(one.verdict.value == "holds" for one in checked)
    return Report(
        "The theory, measured (Section 5)",
        command,
        [
            Section("The paper's statements", [Statements(checked)]),
            Section("The bound of Theorem 1", [Text(_BOUND), _bound_charts(results), _slack_table(results)]),
            Section("The rates of Theorem 2", [Text(_RATES), _rate_charts(results)]),
            Section("Consistency of the filter", [Text(_CONSISTENCY), *_consistency(results)]),
        ],
        summary=f"{count} of {len(checked)} statements of Section 5 hold in these measurements.",
        versions=versions(),
    )


def _bound_charts(results: Sequence[Result]) -> Block:
    rows = rows_of(results, "bound")
    charts: list[Block] = []
    for space, transitions in (("circle", CIRCLE_TRANSITIONS), ("line", LINE_TRANSITIONS)):
        errors, slacks = [], []
        for k, sd in enumerate(transitions):
            some = chosen(rows, space=space, transition_sd=sd)
            bound, measured, error = (column(some, name) for name in ("bound", "measured", "standard_error"))
            spread = (measured - error, measured + error)
            errors.append(Series(f"sd {sd:g}", bound, measured, *spread, kind="points", colour=k))
            ess = column(some, "effective_sample_size")
            slacks.append(Series(f"sd {sd:g}", ess, bound / column(some, "expected"), kind="points", colour=k))
        everything = column(chosen(rows, space=space), "bound")
        ends = [float(everything.min()), float(everything.max())]
        errors.append(Series("equal", ends, ends, dashed=True, colour=7))
        axes = Axis("bound of Theorem 1", log=True), Axis("measured error", log=True)
        charts.append(Chart(f"On the {space}: the error stays below the bound", *axes, errors))
        axes = Axis("effective sample size", log=True), Axis("bound ÷ exact expectation")
        charts.append(Chart(f"On the {space}: slack", *axes, slacks))
    return SideBySide(charts)


def _slack_table(results: Sequence[Result]) -> Block:
    rows = rows_of(results, "bound")
    lines: list[list[Entry]] = []
    for space, transitions in (("circle", CIRCLE_TRANSITIONS), ("line", LINE_TRANSITIONS)):
        for sd in transitions:
            some = chosen(rows, space=space, transition_sd=sd)
            slack = column(some, "bound") / column(some, "expected")
            share = column(some, "first_term") / column(some, "bound")
            numbers = (slack.min(), np.median(slack), slack.max(), np.median(share))
            lines.append([space, sd, some[0]["factor"], *(float(number) for number in numbers)])
    columns = ["space", "sd of transition", "‖θ‖ (line: 1)", "least slack", "median slack", "largest slack"]
    return Table(
        [*columns, "median share of the first term"], lines, "Slack: the bound divided by the exact expectation."
    )


def _rate_charts(results: Sequence[Result]) -> Block:
    candidates, picks = rows_of(results, "candidates"), rows_of(results, "picks")
    hull, herded = (curve(candidates, "candidates", name) for name in ("hull", "herded"))
    loss, bound = curve(picks, "picks", "loss"), curve(picks, "picks", "bound")
    reference = Series("N^(−1/2)", hull.x, hull.mean[0] * np.sqrt(hull.x[0] / hull.x), dashed=True, colour=7)
    left = [_series(f"herding, slope {herded.slope}", herded), _series(f"importance weights, slope {hull.slope}", hull)]
    right = [
        _series(f"herding, slope {loss.slope}", loss),
        Series("bound 4 (1 + ln ℓ)/ℓ", bound.x, bound.mean, dashed=True, colour=7),
    ]
    return SideBySide(
        [
            Chart(
                "In the number of candidates",
                Axis("candidates N", log=True),
                Axis("distance to m_P", log=True),
                [*left, reference],
            ),
            Chart("In the number of picks", Axis("picks ℓ", log=True), Axis("squared loss", log=True), right),
        ]
    )


def _consistency(results: Sequence[Result]) -> list[Block]:
    rows = rows_of(results, "consistency")
    curves = {words: curve(rows, "n", name) for name, words in CONSISTENCY.items()}
    series = [_series(f"{words}, slope {measured.slope}", measured) for words, measured in curves.items()]
    sizes = next(iter(curves.values())).x
    shown = {**curves, "largest error of the variance": curve(rows, "n", "largest_variance_error")}
    lines: list[list[Entry]] = [
        [int(n), *(Estimate(float(measured.mean[k]), float(measured.error[k])) for measured in shown.values())]
        for k, n in enumerate(sizes)
    ]
    axes = Axis("number of examples n", log=True), Axis("error", log=True)
    return [Chart("The filter against the Kalman filter", *axes, series), Table(["n", *shown], lines)]


def _series(name: str, measured: Curve) -> Series:
    return Series(name, measured.x, measured.mean, measured.mean - measured.error, measured.mean + measured.error)
