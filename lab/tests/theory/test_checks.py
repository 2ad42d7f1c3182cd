"""The judge: on a small run, and on results altered so that the claims are wrong."""

import pytest

from kmcf_lab.cells import Result
from kmcf_lab.theory.checks import statements


def test_every_statement_is_judged_and_one_fails(results):
    judged = statements(results)
    failed = [one.claim for one in judged if one.verdict.value == "does not hold"]
    assert len(judged) == 13
    assert len(failed) == 1
    assert "θ ∈ H ⊗ H" in failed[0]
    assert sum(one.verdict.value == "holds" for one in judged) >= 9


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
        ("consistency", {"distance": lambda row: row["n"] * 1.0}, "RKHS distance"),
    ],
    ids=["bound", "loss", "rate-of-loss", "hull", "herded", "consistency"],
)
def test_wrong_claims_are_not_confirmed(results, study, changes, claim):
    (judged,) = [one for one in statements(altered(results, study, **changes)) if claim in one.claim][:1]
    assert judged.verdict.value == "does not hold"
