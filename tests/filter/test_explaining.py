"""What a filter says about itself."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import kmcf
from kmcf.transitions import GaussianRandomWalk


@pytest.fixture(scope="module")
def many_columns():
    rng = np.random.default_rng(0)
    states = rng.uniform(-3.0, 3.0, size=(420, 2))
    observations = np.cos(states @ rng.normal(size=(2, 10))) + 0.3 * rng.normal(size=(420, 10))
    flt = kmcf.KernelMonteCarloFilter(GaussianRandomWalk(0.3), observation_kernel=kmcf.kernels.Gaussian())
    return flt.set_params(random_state=0).fit(states, observations)


def test_four_lines_name_engine_ranks_tolerance_cost_and_what_follows_when_lost(many_columns):
    engine, why, cost, lost = many_columns.explain().splitlines()
    p, q = many_columns.ranks_
    assert f"engine {many_columns.engine_}, {p} features of the states and {q} of the observations" in engine
    assert "420 examples" in engine
    assert "the tolerance follows the regularisers" in why
    assert "of their sd" in why
    assert "ms without the transition (measured); fit took" in cost
    assert lost == "where observations contradict the prediction, it looks for the state among all examples"


def test_a_file_explains_what_the_filter_did(many_columns, tmp_path):
    many_columns.save(tmp_path / "model.kmcf")
    expected = many_columns.explain().splitlines()[:2]
    assert kmcf.load(tmp_path / "model.kmcf").explain(measure=False).splitlines()[:2] == expected
    assert kmcf.store.describe_file(tmp_path / "model.kmcf")["fitted"]["explanation_"] == "\n".join(expected)


def test_times_of_a_fit_are_told_by_part(many_columns):
    times = many_columns.fit_times_
    assert set(times) == {"choice of the observation kernel", "pairs made up", "observation kernel", "rule"}
    assert all(seconds >= 0.0 for seconds in times.values())


def test_a_tolerance_that_was_set_is_explained_as_such():
    states = np.linspace(-2.0, 2.0, 60)[:, None]
    for tolerance, words in ((1e-4, "tolerance 0.0001, as set"), (None, "tolerance 1e-08, because a step is cheap")):
        flt = kmcf.KernelMonteCarloFilter(GaussianRandomWalk(0.3), tolerance=tolerance, random_state=0)
        assert words in flt.fit(states, states).explain(measure=False)


def test_several_sensors_are_explained_each():
    states = np.linspace(-2.0, 2.0, 60)[:, None]
    flt = kmcf.KernelMonteCarloFilter(GaussianRandomWalk(0.3), random_state=0)
    flt.fit({"a": (states, states), "b": (states, states**2)})
    lines = flt.explain().splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == ["sensor 'a'"] * 2 + ["sensor 'b'"] * 2


@pytest.mark.parametrize("given", [0, 1])
def test_a_column_that_is_hardly_ever_there_is_no_obstacle(given):
    states = np.random.default_rng(0).normal(size=(40, 1))
    silent = np.full((40, 1), np.nan)
    silent[:given] = 1.0
    flt = kmcf.KernelMonteCarloFilter(GaussianRandomWalk(0.3), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.FewExamplesWarning)
        flt.fit(states, np.hstack([states, silent]))
    assert "a step takes" in flt.explain()


def test_only_a_fitted_filter_explains():
    with pytest.raises(NotFittedError, match="no examples yet"):
        kmcf.KernelMonteCarloFilter(GaussianRandomWalk(0.3)).explain()
