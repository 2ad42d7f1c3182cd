"""The result of a study: the best trials combined, a table."""

import sys

import numpy as np
import pytest
from tuning_cases import flt, run

from kmcf.kernels import Gaussian, Laplace
from kmcf.support.search_space import Category, Integer, LogNormal
from kmcf.tuning.result import combined
from kmcf.tuning.space import Space
from kmcf.tuning.transfer import transferred
from kmcf.tuning.trials import Proposal, Trial


def trial(number, value, status="complete", variant="a", **settings):
    return Trial(number, Proposal(variant, settings), status, value, blocks=(float(number),) * 20)


def test_the_five_best_are_combined():
    kernels = (Gaussian(), Laplace())
    parameters = {"e": LogNormal(1.0), "k": Integer(5), "kernel": Category(kernels)}
    space = Space("variant", {"a": None}, {"a": parameters})
    values = [(0.1, 3, 1), (0.2, 9, 0), (0.4, 5, 1), (0.8, 4, 0), (1.6, 6, 0), *[(99.0, 99, 1)] * 10]
    trials = [trial(i, float(i), e=e, k=k, kernel=kernels[j]) for i, (e, k, j) in enumerate(values)]
    found = combined(trials, space, 5).settings
    assert found["e"] == pytest.approx((0.1 * 0.2 * 0.4 * 0.8 * 1.6) ** (1 / 5))
    assert found["k"] == 5
    assert found["kernel"] is kernels[0]
    assert combined(trials, space, 1).settings == {"e": pytest.approx(0.1), "k": 3, "kernel": kernels[1]}


def test_only_trials_of_the_majority_variant_are_combined():
    parameters = {"e": LogNormal(1.0)}
    space = Space("variant", {"a": None, "b": None}, {"a": parameters, "b": parameters})
    trials = [
        trial(i, float(i), variant=v, e=e)
        for i, (v, e) in enumerate(zip("babba" + 10 * "a", (1.0, 50.0, 2.0, 4.0, 70.0, *[90.0] * 10), strict=True))
    ]
    found = combined(trials, space, 5)
    assert found.variant == "b"
    assert found.settings["e"] == pytest.approx(2.0)


@pytest.mark.parametrize(("count", "expected"), [(1, 1.0), (3, 1.0), (5, 1.0), (6, 2.0), (9, 4.0), (15, 16.0)])
def test_of_few_trials_the_bad_ones_are_not_combined(count, expected):
    """The settings of trial i are 4 to the power i, so the geometric mean of the first k is 2 to the power k - 1."""
    parameters = {"e": LogNormal(1.0)}
    space = Space("variant", {"a": None, "b": None}, {"a": parameters, "b": parameters})
    trials = [trial(i, float(i), variant="a" if i < max(1, count // 3) else "b", e=4.0**i) for i in range(count)]
    found = combined(trials, space, 5)
    assert found.variant == "a"
    assert found.settings["e"] == pytest.approx(expected)


def test_the_result_combines_the_best_and_is_fitted_on_everything():
    result = run(n_trials=15, prune=False)
    best = sorted(result.rows, key=lambda row: row["value"])[:5]
    for name in ("state_kernel__multiplier", "epsilon", "delta"):
        mean = np.exp(np.mean([np.log(row[name]) for row in best]))
        assert result.best_params[name] == pytest.approx(transferred({name: mean}, 30, 60)[name])
    assert len(result.best_filter.states_) == 60
    assert result.best_filter.epsilon_ == result.best_params["epsilon"]
    assert result.best_filter.initial is not None
    assert result.best_filter.random_state == 5
    assert run(flt=flt(random_state=77)).best_filter.random_state == 77


def test_the_table_with_and_without_pandas(monkeypatch):
    result = run(n_trials=6)
    table = result.table
    assert list(table["trial"]) == list(range(6))
    assert list(table["value"]) == [t.value for t in result.trials]
    assert "6 trials" in repr(result)
    monkeypatch.setitem(sys.modules, "pandas", None)
    records = result.table
    assert len(records) == 6
    assert records["epsilon"].tolist() == [row["epsilon"] for row in result.rows]
