"""The theorems of Section 5 and the remarks on them, checked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Statement, Verdict
from kmcf.report.numbers import shown
from kmcf_lab.cells import Result, Row
from kmcf_lab.resampling.study import TRANSITION_SD
from kmcf_lab.statistics import Interval, confidence, slope
from kmcf_lab.tables import chosen, column, grid, rows_of
from kmcf_lab.theory.bound import CIRCLE_TRANSITIONS, LINE_TRANSITIONS, least_theta_norm
from kmcf_lab.verdicts import below, consistent

CONSISTENCY = {
    "distance": "RKHS distance to the Kalman posterior",
    "mean_error": "error of the posterior mean",
    "variance_error": "median error of the posterior variance",
}
# By how many standard errors a measured mean may exceed the bound by chance, over a few hundred cells.
_PATIENCE = 4.0


class Curve(NamedTuple):
    """A quantity over another: mean and standard error over repetitions, and the slope of its power law."""

    x: FloatArray
    mean: FloatArray
    error: FloatArray
    slope: Interval


def curve(rows: Sequence[Row], across: str, value: str) -> Curve:
    """Average a quantity over repetitions."""
    x, values = grid(rows, across, value)
    count = len(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros(len(x))
    return Curve(x, values.mean(axis=0), error, slope(x, values))


def statements(results: Sequence[Result]) -> list[Statement]:
    """Check the theorems and the paper's remarks on them."""
    return [*_bound(rows_of(results, "bound")), *_rates(results), *_consistency(rows_of(results, "consistency"))]


def _bound(rows: Sequence[Row]) -> list[Statement]:
    judged = [
        _bound_holds(chosen(rows, space="circle"), "On the circle the bound of Theorem 1 holds.", "Theorem 1"),
        _bound_holds(
            chosen(rows, space="line"),
            "On the line, with the problem of Section 6.1, it holds with 1 in place of ‖θ‖.",
            "Theorem 1 and Section 6.1",
        ),
    ]
    judged.append(_assumption())
    judged.append(_first_term(rows))
    judged.append(_ess(chosen(rows, space="line")))
    return judged


def _assumption() -> Statement:
    """Show that the θ of Section 6.1 has no norm: the least possible one grows with the width of the window."""
    widths = (1.0, 2.0, 4.0, 8.0)
    norms = [least_theta_norm(width, TRANSITION_SD) for width in widths]
    grows = all(later > 1.3 * earlier for earlier, later in itertools.pairwise(norms))
    return Statement(
        "The problem of Section 6.1 satisfies the assumption of Theorem 1, θ ∈ H ⊗ H (whose bound is used there).",
        Verdict.FAILS if grows else Verdict.UNCLEAR,
        f"its norm is at least {', '.join(shown(norm, 2) for norm in norms)} for L = 1, 2, 4, 8 when seen on [−L, L], "
        "and grows without bound",
        "Section 6.1",
    )


def _bound_holds(rows: Sequence[Row], claim: str, source: str) -> Statement:
    bound, expected, measured, error = (
        column(rows, name) for name in ("bound", "expected", "measured", "standard_error")
    )
    slack = bound / expected
    # Rounding: the exact expectation may equal the bound to the last digits when its second term is negligible.
    holds = bool(np.all(expected <= bound * (1 + 1e-9)) and np.all(measured - _PATIENCE * error <= bound))
    numbers = (
        f"bound ÷ exact expectation between {shown(float(slack.min()))} and {shown(float(slack.max()))}, median "
        f"{shown(float(np.median(slack)))}, in {len(rows)} settings; measured means within "
        f"{shown(float(np.max(np.abs(measured - expected) / error)))} standard errors of the expectation"
    )
    return Statement(claim, Verdict.HOLDS if holds else Verdict.FAILS, numbers, source)


def _first_term(rows: Sequence[Row]) -> Statement:
    """Compare the first term per Σw² across transitions: it should grow from 0 to at most 1."""
    shares = []
    for space, transitions in (("circle", CIRCLE_TRANSITIONS), ("line", LINE_TRANSITIONS)):
        some = chosen(rows, space=space)
        share = [
            float(np.mean([row["first_term"] * row["effective_sample_size"] for row in chosen(some, transition_sd=sd)]))
            for sd in transitions
        ]
        shares.append(share)
    grows = all(np.all(np.diff(share) > 0) and share[0] >= 0 and share[-1] <= 1 for share in shares)
    words = "; ".join(f"from {shown(share[0])} to {shown(share[-1])}" for share in shares)
    return Statement(
        "The first term grows with the variance of the transition, from 0 to at most Σw².",
        Verdict.HOLDS if grows else Verdict.FAILS,
        f"first term ÷ Σw² over the transitions, circle and line: {words}",
        "Section 5.1",
    )


def _ess(rows: Sequence[Row]) -> Statement:
    """Check that the error is large when the effective sample size is small although the estimate is accurate."""
    accurate = [row for row in rows if row["error_of_estimate"] < 1e-4 and row["transition_sd"] >= 0.1]
    if len(accurate) < 3:
        return Statement("The error can be large although m̂_P is accurate.", Verdict.UNCLEAR, "too few", "Section 5.1")
    ratios = column(accurate, "measured") / column(accurate, "error_of_estimate")
    return Statement(
        "The error of m̂_Q can be large if Σw² is large, however accurate m̂_P is.",
        Verdict.HOLDS if ratios.min() > 10 else Verdict.FAILS,
        f"where ‖m̂_P − m_P‖² < 1e-4 and the transition is as wide as P, the error of m̂_Q is "
        f"{shown(float(ratios.min()))} to {shown(float(ratios.max()))} times that of m̂_P",
        "Section 5.1",
    )


def _rates(results: Sequence[Result]) -> list[Statement]:
    candidates, picks = rows_of(results, "candidates"), rows_of(results, "picks")
    herded, hull = (curve(candidates, "candidates", name).slope for name in ("herded", "hull"))
    loss, limit = (curve(picks, "picks", name).slope for name in ("loss", "bound"))
    excess = column(picks, "loss") / column(picks, "bound")
    last = chosen(picks, picks=max(row["picks"] for row in picks))
    ratio = confidence(np.sqrt(column(last, "error") / column(last, "error_of_estimate")))
    return [
        Statement(
            "The importance-weighted point of the candidates' hull, on which the proof rests, approaches m_P like "
            "N^(−1/2).",
            consistent(hull, -0.5, 0.1),
            f"slope {hull}, predicted −0.5",
            "Proof of Theorem 2",
        ),
        Statement(
            "Herding from N candidates approaches m_P at least as fast as N^(−1/2).",
            below(herded, -0.5),
            f"slope {herded}, predicted −0.5 or less; the hull has better points than the one in the proof, until the "
            "number of picks becomes the limit",
            "Theorem 2",
        ),
        Statement(
            "The squared loss of herding is at most 4 (1 + ln ℓ)/ℓ.",
            Verdict.HOLDS if excess.max() <= 1 else Verdict.FAILS,
            f"loss ÷ bound between {shown(float(excess.min()))} and {shown(float(excess.max()))}",
            "Proof of Theorem 2",
        ),
        Statement(
            "It falls at least as fast as ln ℓ/ℓ.",
            below(loss, limit.value),
            f"slope {loss}, that of (1 + ln ℓ)/ℓ over the same ℓ is {shown(limit.value)}",
            "Theorem 2",
        ),
        Statement(
            "With many picks the error of m̌_P is that of the given estimate.",
            Verdict.HOLDS if ratio.low >= 0.95 and ratio.high <= 1.05 else Verdict.FAILS,
            f"‖m̌_P − m_P‖ ÷ ‖m̂_P − m_P‖ at the largest ℓ: {ratio}",
            "Theorem 2 and Corollary 1",
        ),
    ]


def _consistency(rows: Sequence[Row]) -> list[Statement]:
    judged = []
    for name, words in CONSISTENCY.items():
        averages = curve(rows, "n", name)
        ends = f"{shown(float(averages.mean[0]))} → {shown(float(averages.mean[-1]))}"
        judged.append(
            Statement(
                f"The filter is consistent: the {words} decreases in n.",
                below(averages.slope, 0.0),
                f"{ends} from n = {int(averages.x[0])} to {int(averages.x[-1])}; slope {averages.slope}",
                "Corollary 3",
            )
        )
    return judged
