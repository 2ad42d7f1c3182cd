"""The sentences of Section 6.1, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Statement, Verdict
from kmcf.report.numbers import shown
from kmcf_lab.cells import Result, Row
from kmcf_lab.resampling.study import METHODS, QUOTED
from kmcf_lab.statistics import Interval, confidence, slope
from kmcf_lab.tables import column, grid, rows_of
from kmcf_lab.verdicts import above, near

_SWEEP = "Section 6.1, effects of the sum of squared weights"


@dataclass(frozen=True)
class Sweep:
    """Averages over repetitions for each λ, as in the paper's figure."""

    ridges: FloatArray
    """The values of λ."""
    sum_of_squares: FloatArray
    means: dict[str, FloatArray]
    """Mean squared errors by name: "m̂_P" and the three methods on m_Q, (m,) each."""
    errors: dict[str, FloatArray]
    """Their standard errors."""


def sweep(results: Sequence[Result]) -> Sweep:
    """Average the sweep."""
    rows = rows_of(results, "sweep")
    names = {"m̂_P": "error_of_estimate", **{method: f"{method}_q" for method in METHODS}}
    values = {name: grid(rows, "ridge", key)[1] for name, key in names.items()}
    ridges, squares = grid(rows, "ridge", "sum_of_squares")
    count = np.sqrt(max(len(squares), 1))
    spread = {name: np.std(v, axis=0, ddof=1) / count if len(v) > 1 else v[0] * 0 for name, v in values.items()}
    return Sweep(ridges, squares.mean(axis=0), {name: v.mean(axis=0) for name, v in values.items()}, spread)


@dataclass(frozen=True)
class Quoted:
    """A number quoted in the paper, and ours."""

    symbol: str
    paper: float
    pictured: float
    median: float
    low: float
    high: float
    rank: float
    """Share of our draws below the paper's number."""


def quoted(results: Sequence[Result]) -> list[Quoted]:
    """Compare the demonstration's numbers: the pictured draw, the median and the central 90 % of all draws."""
    rows = rows_of(results, "demonstration")
    typical, numbers = typical_result(results).rows[0], []
    for key, symbol, paper in QUOTED:
        values = column(rows, key)
        low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
        rank = float(np.mean(values < paper))
        pictured = float(typical[key])
        numbers.append(Quoted(symbol, paper, pictured, float(median), float(low), float(high), rank))
    return numbers


def typical_result(results: Sequence[Result]) -> Result:
    """Return the draw of the demonstration whose quoted numbers are closest to their medians, in logarithms."""
    draws = [result for result in results if result.cell.study == "demonstration"]
    rows = [row for result in draws for row in result.rows]
    logarithms = np.log(np.maximum([column(rows, key) for key, _, _ in QUOTED], 1e-300))
    distances = np.sum((logarithms - np.median(logarithms, axis=1, keepdims=True)) ** 2, axis=0)
    return draws[int(np.argmin(distances))]


def statements(results: Sequence[Result]) -> list[Statement]:
    """Check what the paper says about its demonstration and its sweep."""
    return [*_demonstration(rows_of(results, "demonstration")), *_sweep(rows_of(results, "sweep"))]


def _demonstration(rows: Sequence[Row]) -> list[Statement]:
    source = "Section 6.1, demonstration"
    pairs = [
        ("The error of m̂_P is very small, that of m̂_Q without resampling is not.", "error_of_estimate", "woRes_q"),
        ("Herding adds an error: ‖m̌_P − m_P‖ is greater than ‖m̂_P − m_P‖.", "error_of_estimate", "Res-KH_p"),
        ("After herding the error on m_Q is much smaller than without resampling.", "Res-KH_q", "woRes_q"),
        ("Truncating negative weights gives a much larger error of m̌_P than herding.", "Res-KH_p", "Res-Trunc_p"),
    ]
    judged = [_smaller(claim, column(rows, less), column(rows, more), source) for claim, less, more in pairs]
    inside, negative = column(rows, "inside"), column(rows, "negative")
    judged.append(
        Statement(
            "Almost all herded samples lie within two standard deviations of P.",
            Verdict.HOLDS if np.median(inside) >= 0.9 else Verdict.FAILS,
            f"median share {shown(float(np.median(inside)))}, lowest of all draws {shown(float(inside.min()))}; "
            "we call 90 % almost all",
            source,
        )
    )
    judged.append(
        Statement(
            "Some of the weights are negative.",
            Verdict.HOLDS if negative.min() > 0 else Verdict.FAILS,
            f"between {int(negative.min())} and {int(negative.max())} of 100",
            source,
        )
    )
    return judged


def _smaller(claim: str, less: FloatArray, more: FloatArray, source: str) -> Statement:
    """Check a claim by the share of draws in which it is true, with an exact binomial interval."""
    wins, count = int(np.sum(less < more)), len(less)
    interval = stats.binomtest(wins, count).proportion_ci(0.95)
    verdict = Verdict.HOLDS if interval.low > 0.5 else Verdict.FAILS if interval.high < 0.5 else Verdict.UNCLEAR
    medians = f"medians {shown(float(np.median(less)))} < {shown(float(np.median(more)))}"
    return Statement(claim, verdict, f"{medians}; true in {wins} of {count} draws", source)


def _sweep(rows: Sequence[Row]) -> list[Statement]:
    squares, without, herding, truncated, estimate = (
        grid(rows, "ridge", key)[1]
        for key in ("sum_of_squares", "woRes_q", "Res-KH_q", "Res-Trunc_q", "error_of_estimate")
    )
    own, flat, parallel = slope(squares, without), slope(squares, herding), slope(estimate, herding)
    return [
        Statement(
            "The error without resampling increases proportionally to Σw².",
            near(own, 1.0, 0.15),
            f"slope in logarithms {own}; proportional is 1",
            _SWEEP,
        ),
        Statement(
            "The error after herding is not affected by Σw².",
            near(flat, 0.0, 0.15),
            f"slope in logarithms {flat}, against {own} without resampling",
            _SWEEP,
        ),
        Statement(
            "It changes in parallel with the error of m̂_P.",
            above(parallel, 0.0),
            f"slope against the error of m̂_P in logarithms {parallel}; positive is parallel",
            _SWEEP,
        ),
        *_truncation(squares, truncated, herding),
    ]


def _truncation(squares: FloatArray, truncated: FloatArray, herding: FloatArray) -> list[Statement]:
    """Check how many times larger the error is after truncation than after herding."""
    ratio = np.log(truncated / herding)
    order = np.argsort(squares.mean(axis=0))
    growth, worse = confidence(ratio[:, order[-1]] - ratio[:, order[0]]), confidence(ratio.mean(axis=1))
    return [
        Statement(
            "Truncation is worse than herding …",
            above(worse, 0.0),
            f"geometric mean of the ratio of errors {_factor(worse)}",
            _SWEEP,
        ),
        Statement(
            "… especially for large Σw².",
            above(growth, 0.0),
            f"from the smallest to the largest Σw² the ratio grows {_factor(growth)}-fold",
            _SWEEP,
        ),
    ]


def _factor(logarithm: Interval) -> str:
    """Write the interval of a logarithm as that of the factor."""
    return str(Interval(*(float(np.exp(value)) for value in logarithm)))
