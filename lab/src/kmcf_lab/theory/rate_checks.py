"""Section 5.3 and its proof judged: Theorems 2 and 3, Lemma 1, Assumptions 1 to 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Statement, Verdict
from kmcf.report.numbers import shown
from kmcf_lab.cells import Row
from kmcf_lab.resampling.study import BANDWIDTH, SD, TRUTH_P
from kmcf_lab.statistics import confidence
from kmcf_lab.tables import chosen, column
from kmcf_lab.theory.hull import TARGETS, nearest_in_hull
from kmcf_lab.theory.slopes import curve
from kmcf_lab.truths import smoothed_kernel
from kmcf_lab.verdicts import below, consistent, near

_PATIENCE = 4.0


def candidate_statements(rows: Sequence[Row]) -> list[Statement]:
    """Judge the rate in N: i.i.d., independent only, dependent, and candidates that do not cover P."""
    judged = []
    kinds = (("iid", "i.i.d.", "Theorem 2"), ("halves", "independent, not identically distributed", "Theorem 3"))
    for design, words, source in kinds:
        some = chosen(rows, design=design)
        hull, herded = (curve(some, "candidates", name) for name in ("hull", "herded"))
        judged.append(
            Statement(
                f"The point of the hull on which the proof rests approaches m_P like N^(−1/2) ({words} candidates).",
                consistent(hull.slope, -0.5, 0.1),
                f"{hull}; predicted −0.5 ± 0.1",
                f"Proof of {source}",
            )
        )
        judged.append(
            Statement(
                f"Herding from N {words} candidates approaches m_P at least as fast as N^(−1/2).",
                below(herded.slope, -0.5),
                f"{herded} (set by the number of picks, not by N); predicted −0.5 or less where it falls",
                source,
            )
        )
    return [*judged, *_other_designs(rows), _uncovered(chosen(rows, design="uncovered"))]


def _other_designs(rows: Sequence[Row]) -> list[Statement]:
    """Judge stratified candidates, and dependent ones, which no theorem covers."""
    strata, chain = (curve(chosen(rows, design=name), "candidates", "hull") for name in ("strata", "chain"))
    return [
        Statement(
            "Stratified candidates are at least as good as i.i.d. ones.",
            below(strata.slope, -0.5),
            f"{strata}; predicted −0.5 or less",
            "Theorem 3",
        ),
        Statement(
            "Beyond the theorems: candidates that depend on each other, as recorded examples do, have the same rate.",
            consistent(chain.slope, -0.5, 0.15),
            f"{chain}; asked for: −0.5 ± 0.15. Assumption 1 asks for independence",
            "Theorem 3",
        ),
    ]


def half_line_distance() -> float:
    """Return how near distributions on [0, ∞) can come to P: what candidates there leave, however many they are."""
    # Wide, because mass far from P costs least: nothing there is similar to P.
    grid = np.linspace(0.0, 20.0 * SD, 401)
    gram = smoothed_kernel(grid[:, None] - grid, BANDWIDTH, 0.0)
    return float(np.sqrt(nearest_in_hull(TRUTH_P(grid), gram, TRUTH_P.squared_norm).squared_distance))


def _uncovered(rows: Sequence[Row]) -> Statement:
    last = chosen(rows, candidates=max(row["candidates"] for row in rows))
    ratio = confidence(column(last, "herded") / half_line_distance())
    return Statement(
        "Candidates must cover P (sup p/q < ∞): on half of the line herding stops at a positive distance.",
        near(ratio, 1.0, 0.1),
        f"distance at the largest N ÷ that of the half-line's hull ({shown(half_line_distance())}): {ratio}; asked "
        "for: 1 ± 0.1",
        "Theorem 2",
    )


def pick_statements(picks: Sequence[Row], floor: Sequence[Row]) -> list[Statement]:
    """Judge the rate in ℓ, towards targets in the hull and towards one that few candidates cannot reach."""
    loss, limit = (curve(picks, "picks", name) for name in ("loss", "bound"))
    excess = column(picks, "loss") / column(picks, "bound")
    last = chosen(picks, picks=max(row["picks"] for row in picks))
    ratio = confidence(np.sqrt(column(last, "error") / column(last, "error_of_estimate")))
    reached = chosen(floor, picks=max(row["picks"] for row in floor))
    above = confidence(np.sqrt(column(reached, "error") / column(reached, "floor")))
    return [
        Statement(
            "The squared loss of herding is at most 4 (1 + ln ℓ)/ℓ.",
            Verdict.HOLDS if excess.max() <= 1 else Verdict.FAILS,
            f"loss ÷ bound between {shown(float(excess.min()))} and {shown(float(excess.max()))}",
            "Proof of Theorem 2",
        ),
        Statement(
            "It falls at least as fast as ln ℓ/ℓ.",
            below(loss.slope, limit.slope.value),
            f"{loss}; that of (1 + ln ℓ)/ℓ over the same ℓ is {shown(limit.slope.value)}",
            "Theorem 2",
        ),
        Statement(
            "With many picks the error of m̌_P is that of the given estimate.",
            near(ratio, 1.0, 0.05),
            f"‖m̌_P − m_P‖ ÷ ‖m̂_P − m_P‖ at the largest ℓ: {ratio}; asked for: 1 ± 0.05",
            "Theorem 2",
        ),
        Statement(
            "From few candidates herding reaches the floor that N sets, the distance of m_P from their hull.",
            near(above, 1.0, 0.1),
            f"error ÷ floor at the largest ℓ: {above}, {curve(floor, 'picks', 'error')} (squared); asked for: 1 ± 0.1",
            "Theorem 2",
        ),
    ]


def hull_statements(rows: Sequence[Row]) -> list[Statement]:
    """Judge the bound of the proof for targets inside and outside the hull, and its reading of Algorithm 4."""
    outside = [row for row in rows if row["target"] != "inside"]
    room = column(rows, "bound") - column(rows, "infimum") + column(rows, "gap")
    printed, proof = ((column(rows, name) - column(rows, "infimum")) / room for name in ("loss", "loss_frank_wolfe"))
    # A target that cancels is nearest to one or two candidates, which herding finds at once: its excess is rounding.
    gradual = [target for target in TARGETS if target != "cancelling"]
    slopes = [(target, curve(chosen(rows, target=target), "picks", "excess")) for target in gradual]
    sizes = slopes[0][1].x
    limit = float(np.polyfit(np.log(sizes), np.log((1 + np.log(sizes)) / sizes), 1)[0])
    slowest = max((one.slope for _, one in slopes), key=lambda interval: interval.high)
    same = column(chosen(rows, picks=max(row["picks"] for row in rows)), "same_picks")
    infima = column(outside, "infimum")
    return [
        Statement(
            "For any target the squared loss is at most its squared distance from the hull plus 4 (1 + ln ℓ)/ℓ.",
            Verdict.HOLDS if printed.max() <= 1 else Verdict.FAILS,
            f"excess ÷ 4 (1 + ln ℓ)/ℓ at most {shown(float(printed.max()))} for Algorithm 4 and "
            f"{shown(float(proof.max()))} for the proof's algorithm; targets outside have squared distances from "
            f"{shown(float(infima.min()))} to {shown(float(infima.max()))}",
            "Proof of Theorem 3",
        ),
        Statement(
            "The excess falls at least as fast as ln ℓ/ℓ, also for targets with negative weights outside the hull.",
            below(slowest, limit),
            "; ".join(f"{target}: {one.slope}" for target, one in slopes) + f"; (1 + ln ℓ)/ℓ has {shown(limit)}",
            "Theorem 3",
        ),
        Statement(
            "Algorithm 4 is the Frank–Wolfe method with steps 1/ℓ from 0.",
            Verdict.FAILS if same.mean() < 0.99 else Verdict.HOLDS,
            f"{same.mean():.0%} of the picks are the same: Algorithm 4 subtracts the sum over earlier picks divided by "
            "p, that method the sum divided by p − 1. Losses of both have the same order, so the rate stands",
            "Proof of Theorem 3",
        ),
    ]


def importance_statements(rows: Sequence[Row]) -> list[Statement]:
    """Judge Lemma 1, the assumptions and the two terms of the proof of Theorem 3."""
    known = [row for row in rows if row["design"] != "strata"]
    strata = chosen(rows, design="strata")
    sizes, unlike = column(strata, "candidates"), column(strata, "unlikeness")
    growth = float(np.polyfit(np.log(sizes), np.log(sizes * np.sqrt(unlike)), 1)[0])
    decay = [
        float(np.polyfit(np.log(column(some, "candidates")), np.log(column(some, "unlikeness")), 1)[0])
        for some in (chosen(rows, design="halves"), strata)
    ]
    return [
        _agreement("The mean over candidates is unbiased for ∫ g dQ.", rows, "lemma", "Lemma 1"),
        _agreement(
            "The first approximation of the proof has exactly the error (1/N)(∫ p²/q k − Σ‖μ_i‖²/N), so O(N^(−1/2)).",
            known,
            "second",
            "Proof of Theorem 3, second term",
        ),
        _third(known),
        Statement(
            "Independent candidates of different distributions can satisfy Assumption 2.",
            Verdict.HOLDS if max(decay) <= -0.5 else Verdict.FAILS,
            f"max_i ‖q_i/q − 1‖² falls with slope {shown(decay[0])} (two halves) and {shown(decay[1])} (strata); A/√N "
            "has −0.5. Both computed without sampling",
            "Assumption 2",
        ),
        Statement(
            "Assumption 2 gives ‖q_i/q − 1‖ ≤ A/N, as the proof uses it.",
            Verdict.FAILS if growth > 0.25 else Verdict.HOLDS,
            f"for strata N ‖q_i/q − 1‖ grows with slope {shown(growth)}. The rate stands: by independence "
            "the cross terms vanish, and Assumption 2 is not needed",
            "Proof of Theorem 3, second term",
        ),
        _central_limit(rows),
    ]


def _agreement(claim: str, rows: Sequence[Row], name: str, source: str) -> Statement:
    mean, error, exact = (column(rows, key) for key in (name, f"{name}_error", f"{name}_exact"))
    scores = np.abs(mean - exact) / error
    return Statement(
        claim,
        Verdict.HOLDS if scores.max() <= _PATIENCE else Verdict.FAILS,
        f"measured ÷ exact between {shown(float((mean / exact).min()))} and {shown(float((mean / exact).max()))} in "
        f"{len(rows)} settings, at most {shown(float(scores.max()))} standard errors apart; {_PATIENCE:g} standard "
        f"errors are {float(np.max(_PATIENCE * error / exact)):.1%} at most",
        source,
    )


def _third(rows: Sequence[Row]) -> Statement:
    """Judge the error of normalising by S_N: its square times N should approach a constant."""
    largest = [row for row in rows if row["candidates"] >= 100]
    scaled = [column(chosen(largest, design=name), "third") for name in ("iid", "halves")]
    counts = [column(chosen(largest, design=name), "candidates") for name in ("iid", "halves")]
    ratios = [float(n[-1] * t[-1] / (n[0] * t[0])) for n, t in zip(counts, scaled, strict=True)]
    return Statement(
        "Dividing by S_N instead of N adds an error of order N^(−1/2).",
        Verdict.HOLDS if all(0.7 < ratio < 1.4 for ratio in ratios) else Verdict.FAILS,
        f"N × squared error at the largest N ÷ that at N = 100: {', '.join(shown(one) for one in ratios)}; asked for: "
        "between 0.7 and 1.4 (a rate of N^(−1/4) would give 1.7 at N = 300)",
        "Proof of Theorem 3, third term",
    )


def _central_limit(rows: Sequence[Row]) -> Statement:
    """Compare √N (S_N/N − 1) with N(0, σ²) at the largest N, for designs with σ > 0."""
    size = max(row["candidates"] for row in rows)
    some = [row for row in chosen(rows, candidates=size) if row["spread_exact"] > 0]
    draws = float(some[0]["draws"])
    spread = column(some, "spread") / column(some, "spread_exact")
    far, allowed = column(some, "normality").max(), 1.63 / np.sqrt(draws)
    tolerance = _PATIENCE / np.sqrt(2.0 * draws)
    holds = np.all(np.abs(spread - 1.0) <= tolerance) and far <= allowed
    largest = max(row["largest_ratio"] for row in some)
    strata = chosen(rows, candidates=size, design="strata")[0]["spread"]
    return Statement(
        "Assumption 3 holds for i.i.d. candidates and for two halves: sup p/q < ∞ and a central limit theorem.",
        Verdict.HOLDS if holds else Verdict.FAILS,
        f"sup p/q at most {shown(largest)}; at N = {int(size)} the spread is "
        f"{' and '.join(shown(float(one)) for one in spread)} times σ (seen: {tolerance:.0%}), Kolmogorov's distance "
        f"{shown(float(far))} (seen: {shown(float(allowed))}). For strata the spread is {shown(strata)} and tends "
        "to 0, which σ > 0 excludes, but which only helps",
        "Assumption 3",
    )
