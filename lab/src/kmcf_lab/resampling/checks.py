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
from kmcf_lab.resampling.study import BANDWIDTH, METHODS, POINTS, QUOTED, SD, TRANSITION_SD
from kmcf_lab.statistics import Interval, confidence, slope
from kmcf_lab.tables import column, grid, rows_of
from kmcf_lab.truths import smoothed_kernel
from kmcf_lab.verdicts import above, near

# E k(x', x') − E k(x', x̃') of the transition: what Σw² is multiplied with in Theorem 1.
FIRST_TERM = 1.0 - float(smoothed_kernel(np.zeros(()), BANDWIDTH, 2.0 * TRANSITION_SD**2))
_DEMONSTRATION = "Section 6.1, demonstration"
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
    pairs = [
        ("The error of m̂_P is very small, that of m̂_Q without resampling is not.", "error_of_estimate", "woRes_q", 1e3),
        ("Herding adds an error: ‖m̌_P − m_P‖ is greater than ‖m̂_P − m_P‖.", "error_of_estimate", "Res-KH_p", 2.0),
        ("After herding the error on m_Q is much smaller than without resampling.", "Res-KH_q", "woRes_q", 3.0),
        ("Truncating negative weights gives a much larger error of m̌_P than herding.", "Res-KH_p", "Res-Trunc_p", 3.0),
    ]
    judged = [_smaller(claim, column(rows, less), column(rows, more), times) for claim, less, more, times in pairs]
    return [*judged, *_positions(rows), *_weights(rows)]


def _positions(rows: Sequence[Row]) -> list[Statement]:
    inside, truncated = column(rows, "inside"), column(rows, "truncated_inside")
    small, picked = column(rows, "small_weights"), column(rows, "small_picks")
    return [
        _share("Almost all herded samples lie within two standard deviations of P.", inside, at_least=0.9),
        Statement(
            "Some of the samples after truncation lie where the density of P is very small.",
            Verdict.HOLDS if np.median(truncated) < np.median(inside) - 0.02 else Verdict.FAILS,
            f"median share outside two standard deviations {1 - np.median(truncated):.0%}, after herding "
            f"{1 - np.median(inside):.0%}; asked for: two percentage points more",
            _DEMONSTRATION,
        ),
        Statement(
            "Herding discarded samples with very small weights.",
            Verdict.HOLDS if np.median(picked) < 0.25 * np.median(small) else Verdict.FAILS,
            f"samples whose weight is below 1 % of the largest: {np.median(small):.0%} of the points, "
            f"{np.median(picked):.0%} of the picks (medians); asked for: less than a quarter",
            _DEMONSTRATION,
        ),
    ]


def _weights(rows: Sequence[Row]) -> list[Statement]:
    negative, gross = column(rows, "negative"), column(rows, "outside_gross")
    mass = float(2.0 * stats.norm.sf(2.0))
    rest, raw = (
        np.abs(column(rows, "outside_net") - mass) / gross,
        float(np.median(column(rows, "outside_net") / gross)),
    )
    return [
        _share(
            "Samples with large weights are located around the mean of P.",
            (column(rows, "largest_at") <= 2.0 * SD).astype(np.float64),
            at_least=0.9,
            mean=True,
        ),
        Statement(
            "Some of the weights are negative.",
            Verdict.HOLDS if negative.min() > 0 else Verdict.FAILS,
            f"between {int(negative.min())} and {int(negative.max())} of 100",
            _DEMONSTRATION,
        ),
        Statement(
            "Outside two standard deviations positive and negative weights balance, up to P's own mass there.",
            Verdict.HOLDS if np.median(rest) <= 0.1 else Verdict.FAILS,
            f"|sum − P's mass of {mass:.3f}| ÷ sum of absolute values: median {shown(float(np.median(rest)))}; asked "
            f"for: 0.1. Sum ÷ sum of absolute values: {shown(raw)}; the paper's 'almost the same' leaves P's mass out",
            _DEMONSTRATION,
        ),
    ]


def _share(claim: str, shares: FloatArray, at_least: float, mean: bool = False) -> Statement:
    middle = float(shares.mean() if mean else np.median(shares))
    words = f"share of draws {shown(middle)}" if mean else f"median share {shown(middle)}"
    return Statement(
        claim,
        Verdict.HOLDS if middle >= at_least else Verdict.FAILS,
        f"{words}, lowest of all draws {shown(float(shares.min()))}; asked for: {at_least:g}",
        _DEMONSTRATION,
    )


def _smaller(claim: str, less: FloatArray, more: FloatArray, times: float) -> Statement:
    """Check a claim by the share of draws in which one error is so many times smaller, with a binomial interval."""
    wins, count = int(np.sum(times * less < more)), len(less)
    interval = stats.binomtest(wins, count).proportion_ci(0.95)
    verdict = Verdict.HOLDS if interval.low > 0.5 else Verdict.FAILS if interval.high < 0.5 else Verdict.UNCLEAR
    medians = f"medians {shown(float(np.median(less)))} < {shown(float(np.median(more)))}"
    return Statement(
        claim,
        verdict,
        f"{medians}; {times:g} times as large in {wins} of {count} draws, asked for: most",
        _DEMONSTRATION,
    )


def _sweep(rows: Sequence[Row]) -> list[Statement]:
    squares, without, herding, truncated, estimate = (
        grid(rows, "ridge", key)[1]
        for key in ("sum_of_squares", "woRes_q", "Res-KH_q", "Res-Trunc_q", "error_of_estimate")
    )
    own, flat = slope(squares, without), slope(squares, herding)
    return [
        Statement(
            "The error without resampling increases proportionally to Σw².",
            near(own, 1.0, 0.15),
            f"slope in logarithms {own}; proportional is 1 ± 0.15",
            _SWEEP,
        ),
        Statement(
            "The error after herding is not affected by Σw².",
            near(flat, 0.0, 0.15),
            f"slope in logarithms {flat}, against {own} without resampling; asked for: 0 ± 0.15",
            _SWEEP,
        ),
        _parallel(estimate, herding),
        *_truncation(squares, truncated, herding),
        _regularisation(squares, estimate),
        _below_estimate(herding, estimate),
    ]


def _parallel(estimate: FloatArray, herding: FloatArray) -> Statement:
    """Compare the two errors where that of m̂_P is above what moving n points adds by itself."""
    floor = FIRST_TERM / POINTS
    large = estimate > 3.0 * floor
    claim = "It changes in parallel with the error of m̂_P."
    if large.sum() < 10:
        return Statement(claim, Verdict.UNCLEAR, "too few estimates with a large error", _SWEEP)
    x, y = np.log(estimate[large]), np.log(herding[large])
    fit = stats.linregress(x, y)
    half = float(stats.t.ppf(0.975, large.sum() - 2) * fit.stderr)
    interval = Interval(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)
    return Statement(
        claim,
        near(interval, 1.0, 0.25),
        f"slope in logarithms {interval} over the {int(large.sum())} draws in which the squared error of m̂_P exceeds "
        f"three times {shown(floor)}, the noise of {POINTS} moves; parallel is 1 ± 0.25. Below that the error is noise",
        _SWEEP,
    )


def _truncation(squares: FloatArray, truncated: FloatArray, herding: FloatArray) -> list[Statement]:
    """Check how many times larger the error is after truncation than after herding."""
    ratio = np.log(truncated / herding)
    order = np.argsort(squares.mean(axis=0))
    growth, worse = confidence(ratio[:, order[-1]] - ratio[:, order[0]]), confidence(ratio.mean(axis=1))
    return [
        Statement(
            "Truncation is worse than herding …",
            above(worse, float(np.log(1.1))),
            f"geometric mean of the ratio of errors {_factor(worse)}; asked for: above 1.1",
            _SWEEP,
        ),
        Statement(
            "… especially for large Σw².",
            above(growth, float(np.log(1.5))),
            f"from the smallest to the largest Σw² the ratio grows {_factor(growth)}-fold; asked for: above 1.5",
            _SWEEP,
        ),
    ]


def _regularisation(squares: FloatArray, estimate: FloatArray) -> Statement:
    """Check the footnote on A = 5: λ changes Σw² and leaves the error of m̂_P almost as it is."""
    weights, errors = squares.mean(axis=0), estimate.mean(axis=0)
    spans = [float(values.max() / values.min()) for values in (weights, errors)]
    return Statement(
        "With A = 5 the error of m̂_P stays almost the same while λ changes Σw².",
        Verdict.HOLDS if spans[1] < 5 and spans[0] > 100 else Verdict.FAILS,
        f"averages over draws as in the figure: Σw² spans a factor {shown(spans[0])} over λ, the squared error of m̂_P "
        f"a factor {shown(spans[1])}; asked for: more than 100, less than 5",
        "Section 6.1, footnote on A",
    )


def _below_estimate(herding: FloatArray, estimate: FloatArray) -> Statement:
    share = float(np.mean(herding < estimate))
    return Statement(
        "After herding the error on m_Q can be less than that of m̂_P on m_P.",
        Verdict.HOLDS if share > 0.05 else Verdict.FAILS,
        f"in {share:.0%} of the draws; asked for: 5 %",
        _SWEEP,
    )


def _factor(logarithm: Interval) -> str:
    """Write the interval of a logarithm as that of the factor."""
    return str(Interval(*(float(np.exp(value)) for value in logarithm)))
