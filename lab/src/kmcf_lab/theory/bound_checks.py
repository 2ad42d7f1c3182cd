"""Sections 5.1 and 5.2 judged: Theorem 1, its assumption, and when resampling helps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from kmcf.report import Statement, Verdict
from kmcf.report.numbers import shown
from kmcf_lab.cells import Row
from kmcf_lab.resampling.study import POINTS, TRANSITION_SD
from kmcf_lab.statistics import Interval, confidence
from kmcf_lab.tables import chosen, column
from kmcf_lab.theory.benefit import FEW
from kmcf_lab.theory.bound import CIRCLE_TRANSITIONS, LINE_TRANSITIONS, least_theta_norm
from kmcf_lab.verdicts import above, below, near

# By how many standard errors a measured mean may differ from its expectation by chance, over a few hundred cells.
_PATIENCE = 4.0
WIDTHS = (1.0, 2.0, 4.0, 8.0)


def bound_statements(rows: Sequence[Row]) -> list[Statement]:
    """Judge Theorem 1, its assumption, its bounded form and the remarks on its terms."""
    line = chosen(rows, space="line")
    return [
        _bound_holds(chosen(rows, space="circle"), "On the circle the bound of Theorem 1 holds.", "Theorem 1"),
        _bound_holds(
            line,
            "On the line, with the problem of Section 6.1, it holds with 1 in place of ‖θ‖.",
            "Theorem 1 and Section 6.1",
        ),
        norm_grows(
            "The problem of Section 6.1 satisfies the assumption of Theorem 1, θ ∈ H ⊗ H (whose bound is used there).",
            [least_theta_norm(width, TRANSITION_SD**2) for width in WIDTHS],
            "Section 6.1",
        ),
        _first_term(rows),
        _bounded_form(rows),
        _ess(line),
    ]


def norm_grows(claim: str, norms: Sequence[float], source: str) -> Statement:
    """Refute that θ has a norm: the least possible one grows with the window on which it is seen."""
    grows = all(later > 1.3 * earlier for earlier, later in itertools.pairwise(norms))
    return Statement(
        claim,
        Verdict.FAILS if grows else Verdict.UNCLEAR,
        f"its norm is at least {', '.join(shown(norm, 2) for norm in norms)} when seen on windows of which each is "
        "twice as wide as the last; it grows like the root of the width, without bound",
        source,
    )


def _bound_holds(rows: Sequence[Row], claim: str, source: str) -> Statement:
    bound, expected, measured, error = (
        column(rows, name) for name in ("bound", "expected", "measured", "standard_error")
    )
    slack, scores = bound / expected, (measured - expected) / error
    # Rounding: the exact expectation may equal the bound to the last digits when its second term is negligible.
    holds = bool(np.all(expected <= bound * (1 + 1e-9)) and np.all(np.abs(scores) <= _PATIENCE))
    numbers = (
        f"bound ÷ exact expectation between {shown(float(slack.min()))} and {shown(float(slack.max()))}, median "
        f"{shown(float(np.median(slack)))}, in {len(rows)} settings; measured means within "
        f"{shown(float(np.max(np.abs(scores))))} standard errors of the expectation, where "
        f"{_PATIENCE:g} standard errors are {float(np.median(_PATIENCE * error / expected)):.0%} of it (median)"
    )
    return Statement(claim, Verdict.HOLDS if holds else Verdict.FAILS, numbers, source)


def _first_term(rows: Sequence[Row]) -> Statement:
    """Compare the first term per Σw² across transitions: from 0 to 1 on the line, whose kernel vanishes far away."""
    shares = []
    for space, transitions in (("circle", CIRCLE_TRANSITIONS), ("line", LINE_TRANSITIONS)):
        some = chosen(rows, space=space)
        share = [
            float(np.mean([row["first_term"] * row["effective_sample_size"] for row in chosen(some, transition_sd=sd)]))
            for sd in transitions
        ]
        shares.append(share)
    grows = all(np.all(np.diff(share) > 0) and 0 <= share[0] < 0.02 and share[-1] <= 1 for share in shares)
    words = "; ".join(f"from {shown(share[0])} to {shown(share[-1])}" for share in shares)
    return Statement(
        "The first term grows with the variance of the transition, from 0 to at most Σw².",
        Verdict.HOLDS if grows and shares[1][-1] > 0.9 else Verdict.FAILS,
        f"first term ÷ Σw² over the transitions, circle and line: {words}; asked for: increasing throughout, below "
        "0.02 at first, above 0.9 at last on the line",
        "Section 5.1",
    )


def _bounded_form(rows: Sequence[Row]) -> Statement:
    """Replace the first term by 2 C Σw², with C = 1 here."""
    squares = 1.0 / column(rows, "effective_sample_size")
    looser = 2.0 * squares + column(rows, "second_term")
    slack = looser / column(rows, "expected")
    return Statement(
        "For a bounded kernel the first term can be replaced by 2C Σw².",
        Verdict.HOLDS if np.all(slack >= 1) else Verdict.FAILS,
        f"this bound ÷ exact expectation between {shown(float(slack.min()))} and {shown(float(slack.max()))}; "
        "C Σw² would do, since the second of the two expectations is not negative",
        "Section 5.1, effective sample size",
    )


def _ess(rows: Sequence[Row]) -> Statement:
    """Check that the error is large when the effective sample size is small although the estimate is accurate."""
    claim = "The error of m̂_Q can be large if Σw² is large, however accurate m̂_P is."
    accurate = [row for row in rows if row["error_of_estimate"] < 1e-4 and row["transition_sd"] >= 0.1]
    if len(accurate) < 3:
        return Statement(claim, Verdict.UNCLEAR, "too few accurate estimates", "Section 5.1")
    ratios = column(accurate, "measured") / column(accurate, "error_of_estimate")
    return Statement(
        claim,
        Verdict.HOLDS if ratios.min() > 10 else Verdict.FAILS,
        f"where ‖m̂_P − m_P‖² < 1e-4 and the transition is as wide as P, the error of m̂_Q is "
        f"{shown(float(ratios.min()))} to {shown(float(ratios.max()))} times that of m̂_P; asked for: 10 times",
        "Section 5.1",
    )


def benefit_statements(rows: Sequence[Row]) -> list[Statement]:
    """Judge when resampling helps, and what copying does."""
    moving = chosen(rows, transition_sd=TRANSITION_SD)
    uneven = [row for row in moving if row["sum_of_squares"] > 2.0 / POINTS]
    even = [row for row in moving if row["sum_of_squares"] <= 2.0 / POINTS]
    still = [row for row in chosen(rows, transition_sd=0.001) if row["without"] < 1e-4]
    gain, small, loss = (_log_ratio(some, "herded", "without") for some in (uneven, even, still))
    copies = _log_ratio(moving, "copied", "once")
    source = "Section 5.2, when to apply resampling"
    return [
        Statement(
            "Resampling helps where Σw² exceeds 2/n.",
            below(gain, float(np.log(0.8))),
            f"expected squared error with ÷ without {_factor(gain)} over {len(uneven)} estimates, less than 1 in "
            f"{_share(uneven)}; asked for: below 0.8",
            source,
        ),
        Statement(
            "Where Σw² does not exceed 2/n the gain is small.",
            Verdict.UNCLEAR if len(even) < 5 else near(small, 0.0, float(np.log(2.0))),
            f"with ÷ without {_factor(small)} over {len(even)} estimates with Σw² ≤ 2/n; asked for: within a factor 2",
            source,
        ),
        Statement(
            "Resampling does not help if the transition is nearly deterministic: herding's loss is added.",
            above(loss, float(np.log(1.25))),
            f"with ÷ without {_factor(loss)} over {len(still)} accurate estimates (squared error below 1e-4) at a "
            "transition of a hundredth of P's width; asked for: above 1.25",
            source,
        ),
        Statement(
            f"ℓ = {FEW} picks, copied to n = {POINTS} particles, beat the ℓ picks alone.",
            below(copies, float(np.log(0.8))),
            f"expected squared error with ÷ without copies {_factor(copies)}, where the first terms alone have ratio "
            f"{FEW / POINTS:g}; asked for: below 0.8",
            "Section 5.2, reduction of computational cost",
        ),
    ]


def _log_ratio(rows: Sequence[Row], one: str, other: str) -> Interval:
    if len(rows) < 2:
        return Interval(float("nan"), -np.inf, np.inf)
    return confidence(np.log(column(rows, one) / column(rows, other)))


def _share(rows: Sequence[Row]) -> str:
    return f"{np.mean([row['herded'] < row['without'] for row in rows]):.0%}" if rows else "none"


def _factor(logarithm: Interval) -> str:
    return str(Interval(*(float(np.exp(value)) for value in logarithm)))
