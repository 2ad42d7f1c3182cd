"""Errors per fold and over folds, on rows written by hand."""

import numpy as np
import pytest
from localize_rows import one_score, row

from kmcf_lab.cells import Cell, Result
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.scores import counted_folds, ordered_quantities, score, summary, typical_fold


def test_a_score_counts_what_the_measure_counts():
    errors = [9.0, 9.0, 0.5, np.nan, 1.5, 1.0]
    rows = tuple(row(t, e, missing=t == 1) for t, e in enumerate(errors))
    result = Result(Cell("localize", {"method": "kmcf", "fold": "a", "repetition": 0}), rows, 1.0, "0")
    found = score(result, Measure("mean", dropped_seconds=2.0))
    assert (found.mean, found.steps, found.missing) == (1.0, 3, 1)
    assert found.share == pytest.approx(1 / 3)
    assert np.isnan(found.crps)  # rows of an earlier version have none
    more = [{**one, "crps": 0.5 * one["error"], "inside": one["error"] < 1.2, "within": 0.5} for one in rows]
    found = score(Result(result.cell, tuple(more), 1.0, "0"), Measure("mean", dropped_seconds=2.0))
    assert (found.crps, found.inside, found.within) == (0.5, pytest.approx(2 / 3), 0.5)
    assert found.rmse == pytest.approx(np.sqrt((0.25 + 2.25 + 1) / 3))
    assert np.isnan(found.rmse_of_mean)  # the estimate is the mean already
    more = [{**one, "error_of_mean": 2.0 * one["error"]} for one in rows]
    found = score(Result(result.cell, tuple(more), 1.0, "0"), Measure("rmse", dropped_seconds=2.0, estimate="mode"))
    assert found.rmse_of_mean == pytest.approx(2.0 * found.rmse)
    with pytest.raises(ValueError, match=r"no step of 'a' counts \(.*first 60 s dropped\); it has 6 steps"):
        score(result, Measure("mean", dropped_seconds=60.0))


def test_averages_have_standard_errors():
    scores = [one_score(fold=name, mean=mean) for name, mean in zip("abc", (1.0, 2.0, 6.0), strict=True)]
    found = summary(scores, "kmcf", "mean")
    assert found.value == 3.0
    assert found.error == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))
    again = [*scores, *(one_score(fold=one.fold, mean=one.mean + 1.0, repetition=1) for one in scores)]
    found = summary(again, "kmcf", "mean")  # repetitions are no further folds
    assert found.value == 3.5
    assert found.error == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))
    assert counted_folds(again) == "3 folds, 2 repetitions"
    single = summary([one for one in again if one.fold == "a"], "kmcf", "mean")
    assert (single.value, single.error) == (1.5, pytest.approx(0.5))
    assert typical_fold(scores, "kmcf", Measure("mean")).fold == "b"
    assert ordered_quantities(Measure("share"))[:2] == ["share", "mean"]
