"""The sentences of Section 6.3, on scores written by hand."""

from localize_rows import one_score

from kmcf.report import Verdict
from kmcf_lab.localize.checks import statements
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.report import size_charts


def test_statements_are_checked_in_pairs():
    measure = Measure("rmse")
    scores = []
    for repetition in range(4):
        for group, factor in (("2.27 s", 1.0), ("6.81 s", 2.0)):
            common = {"group": group, "repetition": repetition}
            wobble = 0.01 * repetition
            scores.append(one_score("kmcf", f"n, {group}", 1.0 + wobble, milliseconds=9.0, **common))
            scores.append(one_score("knn-pf", f"n, {group}", factor + 0.02 * repetition, **common))
            scores.append(one_score("kbr", f"n, {group}", 0.5 + 2 * wobble, **common))
    found = {one.claim: one.verdict for one in statements(scores, measure)}
    assert found == {
        "KMCF performs better than the KBR filter.": Verdict.FAILS,
        "At 2.27 s KMCF is competitive with kNN-PF.": Verdict.HOLDS,
        "At 6.81 s KMCF outperforms kNN-PF.": Verdict.HOLDS,
    }
    assert len(size_charts(scores, measure)[0].blocks) == 4
    assert statements([one_score()], measure) == size_charts([one_score()], measure) == []
