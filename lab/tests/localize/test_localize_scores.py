"""Errors, worst moments and their causes, the paper's statements: on rows written by hand."""

import numpy as np
import pytest

from kmcf.datasets import Recording
from kmcf.kernels import Gaussian
from kmcf.report import Verdict
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.cells import Cell, Result
from kmcf_lab.localize.checks import statements
from kmcf_lab.localize.moments import Cause, Circumstances, explained, gap, telling_steps, worst_steps
from kmcf_lab.localize.problem import LocalizationFold, Measure, Settings
from kmcf_lab.localize.report import size_charts
from kmcf_lab.localize.scores import (
    Score,
    counted_folds,
    ordered_quantities,
    score,
    summary,
    typical_fold,
)
from kmcf_lab.statistics import estimate


def row(time, error, **changes):
    plain = {"missing": False, "rejected": False, "milliseconds": 2.0, "examples": 10, "group": "", "tuned": ""}
    return {"time": float(time), "error": error, "x": 0.0, "y": 0.0, "mass_near_truth": 0.5, **plain, **changes}


def one_score(method="kmcf", fold="a", mean=1.0, **changes):
    plain = {"group": "", "examples": 100, "repetition": 0, "share": 0.5, "rmse": mean, "milliseconds": 1.0}
    plain |= {"steps": 5, "missing": 0, "rejected": 0, "tuned": ""}
    return Score(method=method, fold=fold, mean=mean, **{**plain, **changes})


def test_a_score_counts_what_the_measure_counts():
    errors = [9.0, 9.0, 0.5, np.nan, 1.5, 1.0]
    rows = tuple(row(t, e, missing=t == 1) for t, e in enumerate(errors))
    result = Result(Cell("localize", {"method": "kmcf", "fold": "a", "repetition": 0}), rows, 1.0, "0")
    found = score(result, Measure("mean", dropped_seconds=2.0))
    assert (found.mean, found.steps, found.missing) == (1.0, 3, 1)
    assert found.share == pytest.approx(1 / 3)
    assert found.rmse == pytest.approx(np.sqrt((0.25 + 2.25 + 1) / 3))
    with pytest.raises(ValueError, match=r"no step of 'a' counts \(.*first 60 s dropped\); it has 6 steps"):
        score(result, Measure("mean", dropped_seconds=60.0))


def test_averages_have_standard_errors():
    scores = [one_score(fold=name, mean=mean) for name, mean in zip("abc", (1.0, 2.0, 6.0), strict=True)]
    found = summary(scores, "kmcf", "mean")
    assert found.value == 3.0
    assert found.error == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))
    assert np.isnan(estimate([4.0]).error)
    again = [*scores, *(one_score(fold=one.fold, mean=one.mean + 1.0, repetition=1) for one in scores)]
    found = summary(again, "kmcf", "mean")  # repetitions are no further folds
    assert found.value == 3.5
    assert found.error == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))
    assert counted_folds(again) == "3 folds, 2 repetitions"
    single = summary([one for one in again if one.fold == "a"], "kmcf", "mean")
    assert (single.value, single.error) == (1.5, pytest.approx(0.5))
    assert typical_fold(scores, "kmcf", Measure("mean")).fold == "b"
    assert ordered_quantities(Measure("share"))[:2] == ["share", "mean"]


def test_worst_steps_are_apart_and_count():
    errors = [50.0, 1.0, 2.0, 9.0, 8.0, np.nan, 3.0, 7.0]
    rows = [row(4 * t, e) for t, e in enumerate(errors)]
    assert worst_steps(rows, Measure("mean", dropped_seconds=1.0), 3) == [3, 7]
    assert worst_steps(rows, Measure("mean"), 1) == [0]
    rows[3] = row(12, 9.0, missing=True)
    assert telling_steps(rows, Measure("mean", dropped_seconds=1.0), 1) == {"accurate": [1], "difficult": [4]}


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"blind_seconds": 3.0}, Cause.missing),
        ({"rejected": True}, Cause.rejected),
        ({"gap": 4.0}, Cause.uncovered),
        ({"similarity_there": 0.7}, Cause.lookalike),
        ({}, Cause.inertia),
    ],
)
def test_causes(changes, cause):
    plain = {"error": 6.0, "blind_seconds": 0.0, "rejected": False, "gap": 0.2, "near": 1.0}
    plain |= {"similarity_here": 0.8, "similarity_there": 0.1, "mass": 0.2}
    found = Circumstances(**{**plain, **changes})
    assert found.cause is cause
    assert found.explanation.endswith(".")


def look_alike_fold():
    """A street of 21 m whose ends look the same; nothing was recorded between 8 and 12 m."""
    places = np.array([*range(9), *range(12, 21)], dtype=float)
    states = np.stack([places, np.zeros(18)], axis=1)
    looks = np.minimum(places, 20 - places)[:, None]
    walk = np.array([[1.0, 0.0], [10.0, 0.0], [19.0, 0.0], [19.0, 0.0]])
    seen = np.array([[1.0], [10.0], [1.0], [np.nan]])
    test = Recording("test", np.arange(4.0), walk, seen)
    return LocalizationFold("street", [test], states, looks, test)


def test_moments_are_explained_from_the_examples():
    fold = look_alike_fold()
    rows = [row(t, 18.0, x=19.0 if t == 0 else 1.0, missing=t == 3) for t in range(4)]
    settings = Settings(GaussianRandomWalk(), observation_kernel=Gaussian(0.5))
    moments = explained(fold, rows, [0, 1, 2, 3], settings, near=1.0)
    causes = [moment.circumstances.cause for moment in moments]
    assert causes == [Cause.lookalike, Cause.uncovered, Cause.lookalike, Cause.missing]
    assert moments[0].circumstances.similarity_there == pytest.approx(1.0)
    assert moments[1].circumstances.gap == 2.0
    assert moments[3].circumstances.blind_seconds == 1.0


def test_an_example_that_looks_the_other_way_is_not_near():
    poses = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, np.pi]])
    test = Recording("test", np.zeros(1), np.array([[0.1, 0.0, np.pi]]), [None], angles=(2,))
    assert gap(LocalizationFold("f", [test], poses, [None, None], test), 0) == pytest.approx(4.9)


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
