"""The sentences of Section 6.3, on scores written by hand."""

from dataclasses import replace

import numpy as np
import pytest
from localize_rows import one_score
from scipy import stats

from kmcf.report import Verdict
from kmcf_lab.localize.checks import own_statements, ratios_of_draws, statements
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.report import size_charts

MEASURE = Measure("rmse")
GROUPS = ("2.27 s", "4.54 s", "6.81 s")


def made_up(errors, draws=6, sizes=(200, 300, 400), times=None, spread=0.01):
    """Scores of all methods: errors by method, or by method, interval and n; draws wobble."""
    rng = np.random.default_rng(0)
    scores = []
    for draw in range(draws):
        for group in GROUPS:
            for n in sizes:
                for method, error in errors.items():
                    value = error(group, n) if callable(error) else error
                    where = {"group": group, "examples": n, "repetition": draw}
                    took = (times or {}).get(method, 10.0)
                    wobble = np.exp(spread * rng.normal())
                    scores.append(one_score(method, f"{n}, {group}", value * wobble, milliseconds=took, **where))
    return scores


def verdicts(scores):
    return {one.claim: one.verdict for one in statements(scores, MEASURE)}


PAPER = {
    "kmcf": 2.0,
    "knn-pf": lambda group, n: 2.0 if group == "2.27 s" else 3.0,
    "kbr": 4.0,
    "kmcf-low50": lambda group, n: 1.7 * n / 200,
    "kmcf-low100": 2.0,
    "kmcf-sub150": lambda group, n: 1.7 * n / 200,
    "kmcf-sub300": 2.0,
}
FAST = {"kmcf": 10.0, **{f"kmcf-{name}": 4.0 for name in ("low50", "low100", "sub150", "sub300")}}


def test_what_the_paper_says_holds_where_it_is_so():
    found = verdicts(made_up(PAPER, times=FAST))
    assert len(found) == 17
    assert set(found.values()) == {Verdict.HOLDS}


def test_the_opposite_does_not_hold():
    opposite = {
        "kmcf": 3.0,
        "knn-pf": 2.0,
        "kbr": 2.0,
        "kmcf-low50": lambda group, n: 3.0 - n / 400,
        "kmcf-low100": 4.0,
        "kmcf-sub150": lambda group, n: 3.0 - n / 400,
        "kmcf-sub300": 4.0,
    }
    found = verdicts(made_up(opposite, times={**FAST, "kmcf": 4.0}))
    assert len(found) == 17
    assert set(found.values()) == {Verdict.FAILS}


def test_an_error_that_falls_is_no_degradation_though_it_is_larger_than_kmcfs():
    falling = {**PAPER, "kmcf-sub150": lambda group, n: 800.0 / n}
    found = verdicts(made_up(falling))
    assert found["KMCF-sub150 degrades as the sample size increases."] is Verdict.FAILS
    (one,) = [one for one in statements(made_up(falling), MEASURE) if "sub150 degrades" in one.claim]
    assert "its error with 400 ÷ with 200 examples 0.50" in one.numbers


def test_growth_is_of_errors_at_the_same_interval():
    """Errors double from interval to interval and never change with n; only a part of the settings was run."""
    longer = {"2.27 s": 1.0, "4.54 s": 2.0, "6.81 s": 4.0}
    every = made_up({"kmcf-low50": lambda group, n: longer[group]})
    ends = [one for one in every if (one.examples, one.group) in ((200, "2.27 s"), (400, "6.81 s"))]
    assert verdicts(ends) == {}  # nothing is comparable
    part = [one for one in every if (one.examples, one.group) != (200, "6.81 s")]
    assert verdicts(part) == {"KMCF-low50 degrades as the sample size increases.": Verdict.FAILS}


def test_better_in_all_the_results_is_refuted_by_one_setting():
    """Half the error on average, but a tenth more at one interval and n."""
    worse = lambda group, n: 4.4 if (group, n) == ("4.54 s", 300) else 1.8  # noqa: E731
    claim = "KMCF performs better than the KBR filter."
    found = statements(made_up({"kmcf": worse, "kbr": 4.0}), MEASURE)
    (one,) = [one for one in found if one.claim == claim]
    assert one.verdict is Verdict.FAILS
    assert "but not at 4.54 s, n = 300: 1.1" in one.numbers
    few = verdicts(made_up({"kmcf": worse, "kbr": 4.0}, draws=4, spread=0.2))
    assert few[claim] is Verdict.HOLDS  # 1.1 could be chance there


def test_what_a_few_draws_cannot_tell_is_undecided():
    found = verdicts(made_up({"kmcf": 2.0, "knn-pf": 2.3}, draws=3, spread=0.5))
    assert found["At 6.81 s KMCF outperforms kNN-PF."] is Verdict.UNCLEAR
    single = statements(made_up(PAPER, draws=1), MEASURE)
    assert {one.verdict for one in single} == {Verdict.UNCLEAR}
    assert all("which a single data set cannot show" in one.numbers for one in single)


def test_draws_are_the_independent_units():
    scores = made_up({"kmcf": 2.0, "kbr": 3.0}, draws=5, spread=0.2)
    logs = ratios_of_draws("kmcf", "kbr", scores, "rmse")
    assert logs.shape == (5,)
    values = {(s.method, s.fold, s.repetition): np.log(s.rmse) for s in scores}
    folds = {s.fold for s in scores}
    by_hand = [np.mean([values["kmcf", fold, k] - values["kbr", fold, k] for fold in folds]) for k in range(5)]
    np.testing.assert_allclose(logs, by_hand)
    low, high = stats.t.interval(0.95, 4, np.mean(by_hand), stats.sem(by_hand))
    (one,) = statements(scores, MEASURE)
    assert f"[{np.exp(low):.2f}, {np.exp(high):.2f}] over 5 draws" in one.numbers


def test_sentences_are_about_the_papers_methods_only():
    ours = {"kmcf-defaults": 1.0, "ours": 1.0, "ours-low50": 1.0, "knn": 1.0, "kbr": 4.0}
    assert statements(made_up(ours), MEASURE) == []
    printed = {name for name, method in METHODS.items() if method.printed}
    assert printed == {*PAPER, "nai"}


def test_ours_are_judged_beside_the_papers_by_the_same_bounds():
    lower = {"kmcf": 2.0, "ours": 2.1, "kmcf-low50": 3.0, "ours-low50": 2.0, "kmcf-low100": 2.0, "ours-low100": 2.0}
    found = own_statements(made_up(lower), MEASURE)
    assert [one.verdict for one in found] == [Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS]
    assert {one.source for one in found} == {"not in the paper"}
    assert "ours, rank 50 ÷ KMCF-low50 0.67" in found[1].numbers
    assert own_statements([one_score()], MEASURE) == own_statements(made_up(PAPER), MEASURE) == []


@pytest.mark.parametrize(("worse", "verdict"), [(1.4, Verdict.HOLDS), (0.8, Verdict.FAILS), (1.02, Verdict.FAILS)])
def test_modes_are_compared_with_means_where_both_were_recorded(worse, verdict):
    scores = [replace(one, rmse_of_mean=worse * one.rmse) for one in made_up({"kmcf": 2.0, "kbr": 4.0})]
    known = verdicts(made_up({"kmcf": 2.0, "kbr": 4.0}))
    further = {claim: found for claim, found in verdicts(scores).items() if claim not in known}
    assert [claim.split(":")[0] for claim in further] == ["KMCF", "KBR filter"]
    assert set(further.values()) == {verdict}
    (one,) = [one for one in statements(scores, MEASURE) if one.claim in further and "KMCF" in one.claim]
    assert f"mode ÷ mean {1 / worse:.2f}" in one.numbers


def test_without_intervals_nothing_is_checked():
    assert statements([one_score()], MEASURE) == size_charts([one_score()], MEASURE) == []
    assert len(size_charts(made_up({"kmcf": 1.0}), MEASURE)[0].blocks) == 6
