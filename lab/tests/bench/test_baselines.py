"""All methods on the paper's models."""

import numpy as np
import pytest

from kmcf.baselines import KernelBayesFilter
from kmcf.datasets import paper_model
from kmcf_lab.bench import baselines
from kmcf_lab.bench.baselines import make_filters, measure_baselines


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(baselines, "LENGTH", 20)
    monkeypatch.setattr(baselines, "TRANSITIONS", 50)


def test_all_methods_are_measured():
    rows = measure_baselines(["1b"], 50, repetitions=2, report=lambda message: None)
    measured = {row.method: row for row in rows}
    assert set(measured) == set(make_filters(paper_model("1b"), 0))
    assert all(np.isfinite([row.mean, row.standard_error, row.milliseconds]).all() for row in rows)
    assert measured["oracle"].mean == min(row.mean for row in rows if row.method != "GP-PF")


def test_the_kernel_bayes_filter_gets_transition_pairs_of_its_own():
    model = paper_model("1b")
    train, moves = model.simulate(30, random_state=0), model.simulate(11, random_state=1)
    flt = KernelBayesFilter(random_state=0)
    baselines._fit(flt, train, moves)
    predicted = flt.forecast(flt.start(), 2, [0.0, 0.0])[1]
    np.testing.assert_array_equal(predicted.states, moves.states[1:])


def test_methods_are_tuned_before_they_are_measured(monkeypatch):
    monkeypatch.setattr(baselines, "LENGTH", 5)
    tuned = []
    original = baselines._tuned

    def noting(flt, train, trials, seed):
        found = original(flt.set_params(n_particles=50), train, trials, seed)
        tuned.append(type(found).__name__)
        assert not hasattr(found, "seed_")
        return found

    monkeypatch.setattr(baselines, "_tuned", noting)
    rows = measure_baselines(["1b"], 40, repetitions=1, trials=2, report=lambda message: None)
    assert len(rows) == 8
    assert set(tuned) == {
        "KernelMonteCarloFilter",
        "KNNParticleFilter",
        "GPParticleFilter",
        "KernelBayesFilter",
        "KNNRegression",
    }
