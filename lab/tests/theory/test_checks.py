"""The judge: on a small run, and on results altered so that the claims are wrong."""

import numpy as np
import pytest

from kmcf.report import Verdict
from kmcf_lab.cells import Result
from kmcf_lab.resampling.study import POINTS, TRANSITION_SD
from kmcf_lab.theory.bound_checks import benefit_statements
from kmcf_lab.theory.checks import statements
from kmcf_lab.theory.filter_checks import corollary_statements

# What the paper claims or uses and what is not so: θ of Section 6.1 and of model 1a, two steps of a proof, a logarithm.
FAILING = (
    "The problem of Section 6.1",
    "Algorithm 4 is the Frank–Wolfe method",
    "Assumption 2 gives",
    "Corollary 1 follows from Theorem 2",
    "θ_tra",
    "θ_obs",
    "θ_pos",
)


def test_every_statement_is_judged_and_seven_fail(results):
    judged = statements(results)
    failed = [one.claim for one in judged if one.verdict.value == "does not hold"]
    assert len(judged) == 52
    assert len(failed) == len(FAILING)
    for claim, words in zip(failed, FAILING, strict=True):
        assert words in claim
    assert sum(one.verdict.value == "holds" for one in judged) >= 26


def altered(results, study, **changes):
    """The same results with some quantities of a study replaced by functions of their rows."""
    made = []
    for result in results:
        rows = result.rows
        if result.cell.study == study:
            rows = tuple(
                {**row, **{k: f({**result.cell.coordinates, **row}) for k, f in changes.items()}} for row in rows
            )
        made.append(Result(result.cell, rows, result.seconds, result.version))
    return made


@pytest.mark.parametrize(
    ("study", "changes", "claim"),
    [
        ("bound", {"bound": lambda row: 0.5 * row["expected"]}, "the bound of Theorem 1 holds"),
        ("picks", {"loss": lambda row: 2 * row["bound"]}, "at most 4 (1 + ln ℓ)/ℓ"),
        ("picks", {"loss": lambda row: row["picks"] ** -0.2 * (1 + 0.01 * row["repetition"])}, "as fast as ln ℓ/ℓ"),
        ("candidates", {"hull": lambda row: row["candidates"] ** -0.1}, "like N^(−1/2)"),
        ("candidates", {"herded": lambda row: row["candidates"] ** -0.1}, "at least as fast as N^(−1/2)"),
        ("candidates", {"herded": lambda row: 1.0 / row["candidates"]}, "Candidates must cover P"),
        ("floor", {"error": lambda row: 2 * row["floor"]}, "reaches the floor"),
        ("hull", {"loss": lambda row: row["bound"] + 1.0}, "For any target"),
        ("hull", {"excess": lambda row: row["picks"] ** -0.3}, "The excess falls"),
        ("importance", {"lemma": lambda row: 1.5 * row["lemma"]}, "unbiased"),
        ("importance", {"second": lambda row: 3 * row["second"]}, "The first approximation"),
        ("importance", {"third": lambda row: row["candidates"] ** -0.5}, "Dividing by S_N"),
        ("importance", {"spread": lambda row: 2 * row["spread"]}, "Assumption 3"),
        ("importance", {"unlikeness": lambda row: row["candidates"] ** -0.25}, "can satisfy Assumption 2"),
        ("corollaries", {"herded_p": lambda row: row["n"] ** (0.15 - row["b"])}, "0.25 the error of m̌_P"),
        ("corollaries", {"copied_q": lambda row: row["n"] ** -0.05}, "0.25 the error of m̌_Q"),
        ("corollaries", {"once_q": lambda row: row["copied_q"]}, "Copying the picks"),
        ("corollaries", {"truncated_q": lambda row: 1.2 * row["copied_q"]}, "Stopping at n"),
        ("benefit", {"herded": lambda row: 0.99 * row["without"]}, "Resampling helps where"),
        ("benefit", {"herded": lambda row: 0.1 * row["without"]}, "the gain is small"),
        ("benefit", {"herded": lambda row: 1.05 * row["without"]}, "nearly deterministic"),
        ("benefit", {"copied": lambda row: 0.97 * row["once"]}, "beat the ℓ picks alone"),
        ("consistency", {"distance": lambda row: row["n"] ** -0.1}, "RKHS distance"),
        ("consistency", {"sum_error": lambda row: row["n"] ** -0.1}, "sum of the weights"),
        ("normalisation", {"median_distance": lambda row: 1 + 0.01 * row["repetition"]}, "A sum far from 1"),
        ("normalisation", {"median_distance": lambda row: 0.97 * row["median_raw"]}, "Where the sum is far from 1"),
    ],
)
def test_wrong_claims_are_not_confirmed(results, study, changes, claim):
    (judged,) = [one for one in statements(altered(results, study, **changes)) if claim in one.claim][:1]
    assert judged.verdict.value == "does not hold"


def test_a_small_gain_is_one_whose_whole_interval_is_small():
    """Errors with herding are 0.5 [0.35, 0.78] of those without: perhaps less than half of them."""
    even = {"transition_sd": TRANSITION_SD, "sum_of_squares": 1.0 / POINTS, "without": 1.0, "copied": 0.5, "once": 1.0}
    rows = [{**even, "herded": float(np.exp(gain))} for gain in (-1.0, -0.3) * 3]
    (judged,) = [one for one in benefit_statements(rows) if "the gain is small" in one.claim]
    assert judged.verdict is Verdict.UNCLEAR


def test_fewer_particles_change_little_only_if_the_whole_interval_is_near_1():
    """The ratio of errors is 0.89 [0.787, 1.02], half of them 0.8: the upper end of its interval alone would pass."""
    known = {"b": 0.25, "candidates": 4, "once_q": 2.0, "copied_q": 1.0, "drawn_q": 1.0}
    rows = [
        {
            **known,
            "n": n,
            "copies": n + 2,
            "repetition": repetition,
            "herded_p": n**-0.3,
            "estimate_p": n**-0.25,
            "truncated_q": 0.8 if repetition % 2 else 1.0,
        }
        for n in (10, 30, 90)
        for repetition in range(2)
    ]
    (judged,) = [one for one in corollary_statements(rows) if "Stopping at n" in one.claim]
    assert judged.verdict is Verdict.UNCLEAR
    assert "[0.787, 1.02]" in judged.numbers
