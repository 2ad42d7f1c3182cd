"""Section 5: the measurements against brute force, and the judge against made-up results."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell, Result
from kmcf_lab.tables import rows_of
from kmcf_lab.theory.bound import bound_cells
from kmcf_lab.theory.checks import curve, statements
from kmcf_lab.theory.consistency import consistency_cells, regularisers
from kmcf_lab.theory.rates import rate_cells
from kmcf_lab.theory.study import compute, run_theory


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_theory(tmp_path_factory.mktemp("cells"), repetitions=4, draws=60, sizes=(50, 100, 200), steps=30)


@pytest.mark.parametrize("space", ["circle", "line"])
def test_the_expectation_is_the_mean_of_many_moves(space):
    settings = {"space": space, "transition_sd": 0.3, "points": 30, "ridge": 1e-4, "repetition": 0, "seed": 1}
    (row,) = compute(Cell("bound", {**settings, "draws": 4000}))
    assert abs(row["measured"] - row["expected"]) < 4 * row["standard_error"]
    assert row["standard_error"] < 0.05 * row["expected"]


def test_the_bound_is_the_sum_of_its_terms_and_above_the_expectation(results):
    for row in rows_of(results, "bound"):
        assert row["bound"] == pytest.approx(row["first_term"] + row["factor"] * row["error_of_estimate"], rel=1e-9)
        assert row["expected"] <= row["bound"] * (1 + 1e-9)
        assert 0 < row["first_term"] <= 1 / row["effective_sample_size"]
        assert row["factor"] == 1 if row["space"] == "line" else row["factor"] >= 1


def test_effective_sample_sizes_span_decades(results):
    sizes = [row["effective_sample_size"] for row in rows_of(results, "bound")]
    assert min(sizes) < 1
    assert max(sizes) > 50


def test_more_picks_and_more_candidates_are_better(results):
    picks, candidates = rows_of(results, "picks"), rows_of(results, "candidates")
    assert (np.diff(curve(picks, "picks", "loss").mean) < 0).all()
    assert curve(candidates, "candidates", "herded").mean[-1] < 0.1 * curve(candidates, "candidates", "herded").mean[0]
    assert all(row["loss"] <= row["bound"] for row in picks)


def test_the_filter_approaches_the_exact_posterior(results):
    for name in ("distance", "mean_error"):
        assert curve(rows_of(results, "consistency"), "n", name).slope.value < -0.2


def test_regularisers_decay_slowly():
    (early, late) = (np.array(regularisers(n)) for n in (100, 10_000))
    assert (late < early).all()
    assert (late * 10_000 >= early * 100).all()


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
)
def test_wrong_claims_are_not_confirmed(results, study, changes, claim):
    (judged,) = [one for one in statements(altered(results, study, **changes)) if claim in one.claim][:1]
    assert judged.verdict.value == "does not hold"


def test_cells_are_all_different():
    cells = [*bound_cells(10, 2, 0), *rate_cells(3, 0), *consistency_cells((50, 100), 10, 2, 0)]
    assert len({cell.digest for cell in cells}) == len(cells)
    assert not {cell.digest for cell in cells} & {cell.digest for cell in rate_cells(3, 1)}
