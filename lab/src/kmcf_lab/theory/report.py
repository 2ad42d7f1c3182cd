"""The report on Section 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Axis, Block, Chart, Estimate, Report, Section, Series, SideBySide, Statements, Table, Text
from kmcf.report.table import TableEntry as Entry
from kmcf_lab.cells import Result
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.theory.bound import CIRCLE_TRANSITIONS, LINE_TRANSITIONS
from kmcf_lab.theory.checks import statements
from kmcf_lab.theory.designs import DESIGNS
from kmcf_lab.theory.filter_checks import CONSISTENCY
from kmcf_lab.theory.hull import TARGETS
from kmcf_lab.theory.slopes import Curve, curve
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
_BENEFIT = (
    "With the problem of Section 6.1 and given picks, expected errors on m_Q are exact. A ratio below 1 means that "
    "resampling helps."
)
_RATES = (
    "P and the kernel are those of Section 6.1. In N: m_P itself is herded with 5000 picks from candidates of five "
    "designs. `iid`, `halves` (two distributions in turn) and `strata` (one candidate per part of equal mass) are "
    "independent and cover P, as Theorems 2 and 3 ask; `chain` (an autoregression) is not independent, `uncovered` "
    "leaves half of P out. In ℓ: herding towards the importance-weighted mean of 500 candidates, which lies in their "
    "hull, and towards m_P from 10 candidates, which does not. Then targets of all kinds, with weights of both signs, "
    "against their exact distance from the hull (a quadratic programme with a certificate).\n\n"
    "Slopes are least squares in logarithms per repetition, with 95 % intervals over repetitions, up to the point "
    "where a curve flattens: the end of a curve on which every step falls by less than 0.3 of the initial slope, "
    "significantly so, is a plateau and has no slope."
)
_IMPORTANCE = (
    "The proof of Theorem 3 approximates m_P by (1/N) Σ (p/q)(Z_i) k(·, Z_i), then divides by S_N instead of N. "
    "Errors are means over many draws of the candidates; exact values are closed forms or quadratures."
)
_COROLLARIES = (
    "On the circle, where θ ∈ H ⊗ H: estimates with error n^(−b), N = ℓ = ⌈n^(2b)⌉ uniform candidates and picks, "
    "ℓ⌈n/ℓ⌉ copies, moved. The error on m_Q is the root of the exact expectation given the picks."
)
_CONSISTENCY = (
    "n independent examples of model 1a, N = ℓ = n, one state kernel of bandwidth 1 for all n, ε = 10⁻³ (200/n)^½ "
    "and δ = 9·10⁻⁶ (200/n); resampling at every step, nothing rejected. Every step is compared with the exact "
    "posterior of the Kalman filter: distance and mean by the root mean square over steps, the variance by the median. "
    "The variance is the expectation of an unbounded function, for which the corollary promises nothing, and with "
    "signed weights it is occasionally far off; the table "
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
            Section("When resampling helps (Section 5.2)", [Text(_BENEFIT), _benefit_table(results)]),
            Section("The rates of Theorems 2 and 3", [Text(_RATES), _rate_charts(results)]),
            Section("The terms of the proof", [Text(_IMPORTANCE), _importance_table(results)]),
            Section("Corollaries 1 and 2", [Text(_COROLLARIES), *_corollaries(results)]),
            Section("Consistency of the filter", [Text(_CONSISTENCY), *_consistency(results)]),
            Section("Normalisation of the weights (Section 4.3)", [_normalisation(results)]),
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


def _benefit_table(results: Sequence[Result]) -> Block:
    rows = rows_of(results, "benefit")
    lines: list[list[Entry]] = []
    for sd in sorted({row["transition_sd"] for row in rows}):
        for low, high in ((0.0, 0.02), (0.02, 0.1), (0.1, np.inf)):
            some = [row for row in chosen(rows, transition_sd=sd) if low < row["sum_of_squares"] <= high]
            if some and sd > 0:
                pairs = (("herded", "without"), ("copied", "without"), ("copied", "once"))
                ratios = [float(np.exp(np.mean(np.log(column(some, a) / column(some, b))))) for a, b in pairs]
                lines.append([sd, f"{low:g} to {high:g}", len(some), *ratios])
    columns = ["sd of transition", "Σw²", "estimates", "100 picks ÷ none", "20 picks copied ÷ none", "copied ÷ not"]
    return Table(columns, lines, "Geometric means of ratios of expected squared errors; 2/n = 0.02.")


def _rate_charts(results: Sequence[Result]) -> Block:
    candidates, picks, hull = (rows_of(results, name) for name in ("candidates", "picks", "hull"))
    by_design = {design: chosen(candidates, design=design) for design in DESIGNS}
    points, herded = (
        [
            _series(f"{design}, {curve(rows, 'candidates', name)}", curve(rows, "candidates", name))
            for design, rows in by_design.items()
        ]
        for name in ("hull", "herded")
    )
    loss, bound, floor = (
        curve(picks, "picks", "loss"),
        curve(picks, "picks", "bound"),
        curve(rows_of(results, "floor"), "picks", "error"),
    )
    limit = Series("bound 4 (1 + ln ℓ)/ℓ", bound.x, bound.mean, dashed=True, colour=7)
    losses = [_series(f"in the hull, {loss}", loss), _series(f"out of reach, {floor}", floor), limit]
    excess = [curve(chosen(hull, target=target), "picks", "excess") for target in TARGETS]
    gaps = [_series(f"{target}, {one}", one) for target, one in zip(TARGETS, excess, strict=True)]
    distance, picked = Axis("distance to m_P", log=True), Axis("picks ℓ", log=True)
    return SideBySide(
        [
            Chart("In N: the proof's point of the hull", Axis("candidates N", log=True), distance, points),
            Chart("In N: herding with many picks", Axis("candidates N", log=True), distance, herded),
            Chart("In ℓ: squared loss", picked, Axis("squared loss", log=True), losses),
            Chart("In ℓ: squared loss − squared distance from the hull", picked, Axis("excess", log=True), gaps),
        ]
    )


def _importance_table(results: Sequence[Result]) -> Block:
    lines: list[list[Entry]] = [
        [
            row["design"],
            int(row["candidates"]),
            Estimate(row["lemma"], row["lemma_error"]),
            row["lemma_exact"],
            Estimate(row["second"], row["second_error"]),
            "" if np.isnan(row["second_exact"]) else row["second_exact"],
            Estimate(row["third"], row["third_error"]),
            row["spread"],
            row["spread_exact"],
            row["unlikeness"],
        ]
        for row in rows_of(results, "importance")
    ]
    columns = ["design", "N", "mean of g", "∫ g dQ", "second term²", "exact", "third term²", "spread", "σ"]
    return Table([*columns, "max ‖q_i/q − 1‖²"], lines)


def _corollaries(results: Sequence[Result]) -> list[Block]:
    rows = rows_of(results, "corollaries")
    charts: list[Block] = []
    rates = sorted({row["b"] for row in rows})
    for name, symbol in (("herded_p", "m̌_P"), ("copied_q", "m̌_Q")):
        curves = [(b, curve(chosen(rows, b=b), "n", name)) for b in rates]
        series = [_series(f"b = {b:g}, {one}", one) for b, one in curves]
        charts.append(Chart(f"Error of {symbol}", Axis("n", log=True), Axis("RKHS error", log=True), series))
    lines: list[list[Entry]] = []
    for b in rates:
        some = chosen(rows, b=b)
        shown = [curve(some, "n", name) for name in ("estimate_p", "herded_p", "copied_q", "truncated_q", "once_q")]
        for k, n in enumerate(shown[0].x):
            sizes = chosen(some, n=int(n))[0]
            values = [Estimate(float(one.mean[k]), float(one.error[k])) for one in shown]
            lines.append([b, int(n), sizes["candidates"], sizes["copies"], *values])
    columns = ["b", "n", "N = ℓ", "copies", "m̂_P", "m̌_P", "m̌_Q, copies", "m̌_Q, stopped at n", "m̌_Q, no copies"]
    return [SideBySide(charts), Table(columns, lines, "RKHS errors, means over repetitions with standard errors.")]


def _consistency(results: Sequence[Result]) -> list[Block]:
    rows = rows_of(results, "consistency")
    curves = {words: curve(rows, "n", name) for name, words in CONSISTENCY.items()}
    series = [_series(f"{words}, {measured}", measured) for words, measured in curves.items()]
    sizes = next(iter(curves.values())).x
    shown = {**curves, "largest error of the variance": curve(rows, "n", "largest_variance_error")}
    lines: list[list[Entry]] = [
        [int(n), *(Estimate(float(measured.mean[k]), float(measured.error[k])) for measured in shown.values())]
        for k, n in enumerate(sizes)
    ]
    axes = Axis("number of examples n", log=True), Axis("error", log=True)
    return [Chart("The filter against the Kalman filter", *axes, series), Table(["n", *shown], lines)]


def _normalisation(results: Sequence[Result]) -> Block:
    rows = rows_of(results, "normalisation")
    shown = [curve(rows, "factor", name) for name in ("sum_error", "median_distance", "median_raw")]
    lines: list[list[Entry]] = [
        [float(factor), *(Estimate(float(one.mean[k]), float(one.error[k])) for one in shown)]
        for k, factor in enumerate(shown[0].x)
    ]
    columns = ["regularisers ×", "distance of Σw from 1", "distance, normalised", "distance, not normalised"]
    caption = "n = 200, medians over the steps of a sequence, then means over repetitions with standard errors."
    return Table(columns, lines, caption)


def _series(name: str, measured: Curve) -> Series:
    return Series(name, measured.x, measured.mean, measured.mean - measured.error, measured.mean + measured.error)
