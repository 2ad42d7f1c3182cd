"""Where settings come from."""

import pytest
from tuning_cases import run

from kmcf.support.search_space import Category, Integer


def test_categories_and_integers():
    space = {"n_resample": Integer(20), "rule": Category(("kbr", "importance"))}
    result = run(n_trials=12, space=space)
    assert {row["rule"] for row in result.rows} == {"kbr", "importance"}
    assert result.best_filter.n_resample == result.best_params["n_resample"]
    assert result.best_filter.rule == result.best_params["rule"]


@pytest.mark.slow
def test_optuna_takes_over():
    optuna = pytest.importorskip("optuna")
    plain = run(n_trials=12, sampler="optuna")
    assert plain.trials[0].proposal.settings["epsilon"] == pytest.approx(1e-3)
    assert [t.value for t in run(n_trials=12, sampler="optuna").trials[:5]] == [t.value for t in plain.trials[:5]]
    own = run(n_trials=3, sampler=optuna.samplers.RandomSampler(seed=1))
    assert len(own.table) == 3
