"""The judge of Section 6.2 against made-up results with known truths."""

import numpy as np
from scipy import stats
from synthetic_results import as_the_paper_says, made_up, times_as_the_paper_says

from kmcf.report import Verdict
from kmcf_lab.synthetic.checks import compare, own_statements, statements
from kmcf_lab.synthetic.measured import errors_of


def test_what_the_paper_saw_would_hold():
    results = made_up(as_the_paper_says, sizes=(100, 200, 400), times=times_as_the_paper_says)
    found = statements(results)
    assert len(found) == 9 + 6 + 7 + 16  # methods, controls, reductions, times
    assert {one.claim: one.verdict for one in found if one.verdict is not Verdict.HOLDS} == {}


def test_the_opposite_would_not():
    def opposite(model, n, method):
        return 1.0 / as_the_paper_says(model, n, method)

    def opposite_times(model, n, method):
        slow = {"KBR": 30.0, "KBR, literal": 30.0, "kNN-PF": 0.001}.get(method, 1.0)
        return slow * (2.0 if model == "3a" else 1.0) * {True: (n / 100) ** 2, False: 1.0}["sub" in method]

    results = made_up(opposite, sizes=(100, 200, 400), times=opposite_times)
    by_chance = ("oracle improved", "reduced the costs", "due to the resampling")
    found = [one for one in statements(results) if not any(words in one.claim for words in by_chance)]
    competitive = [
        one for one in found if "competitive with KMCF" in one.claim or "competitively: compared" in one.claim
    ]
    assert {one.verdict for one in found if one not in competitive} == {Verdict.FAILS}


def test_equal_methods_cannot_be_told_apart():
    results = made_up(lambda model, n, method: 1.0)
    by_claim = {one.claim: one.verdict for one in statements(results)}
    assert by_claim["The KBR filter performed worse than KMCF for most of the models."] is Verdict.UNCLEAR
    assert by_claim["For these models KMCF performed the best or competitively: compared with KBR."] is Verdict.HOLDS


def test_comparisons_are_paired_tests():
    errors = errors_of(made_up(as_the_paper_says, sizes=(200,)))
    ours, theirs = ([errors.values["2a", 200, name][r] for r in range(12)] for name in ("KBR", "KMCF"))
    expected = stats.ttest_rel(np.log(ours), np.log(theirs)).confidence_interval(0.95)
    found = compare(errors, "KBR", "KMCF", ["2a"])
    np.testing.assert_allclose(found.each["2a"][1:], np.exp([expected.low, expected.high]), rtol=1e-12)
    assert str(found.each["2a"]) == str(found.pooled)


def test_one_clear_exception_refutes_a_statement_about_all():
    def exception(model, n, method):
        return 3.0 if (model, method) == ("4b", "KMCF") else as_the_paper_says(model, n, method)

    by_claim = {one.claim: one.verdict for one in statements(made_up(exception))}
    assert by_claim["For the other models GP-PF performed poorly."] is Verdict.FAILS


def test_parts_of_the_results_are_enough():
    results = made_up(as_the_paper_says, models=("3a",), repetitions=1)
    some = [one for one in results if one.cell.coordinates["method"] in ("KMCF", "kNN-PF")]
    found = statements(some) + own_statements(some)
    assert [one.verdict for one in found] == [Verdict.UNCLEAR]
    assert statements([]) == own_statements([]) == []
