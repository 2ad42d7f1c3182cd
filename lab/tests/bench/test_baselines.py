import json

import numpy as np
from typer.testing import CliRunner

from kmcf.baselines import KernelBayesFilter
from kmcf.cli.app import app
from kmcf.datasets import paper_model
from kmcf_lab.bench import baselines as bench_baselines
from kmcf_lab.bench.baselines import make_filters, measure_baselines


def test_all_methods_are_measured(monkeypatch):
    monkeypatch.setattr(bench_baselines, "LENGTH", 20)
    monkeypatch.setattr(bench_baselines, "TRANSITIONS", 50)
    rows = measure_baselines(["1b"], 50, repetitions=2, report=lambda message: None)
    found = {row.method: row for row in rows}
    assert set(found) == set(make_filters(paper_model("1b"), 0))
    assert all(np.isfinite([row.mean, row.standard_error, row.milliseconds]).all() for row in rows)
    assert found["oracle"].mean == min(row.mean for row in rows if row.method != "GP-PF")


def test_the_kernel_bayes_filter_gets_transition_pairs_of_its_own():
    model = paper_model("1b")
    train, moves = model.simulate(30, random_state=0), model.simulate(11, random_state=1)
    flt = KernelBayesFilter(random_state=0)
    bench_baselines._fit(flt, train, moves)
    predicted = flt.forecast(flt.start(), 2, [0.0, 0.0])[1]
    np.testing.assert_array_equal(predicted.states, moves.states[1:])


def test_the_command_prints_and_saves(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_baselines, "LENGTH", 5)
    words = ["bench", "baselines", "--quick", "--n", "30", "--model", "1a", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    assert "kNN-PF" in result.output
    saved = json.loads((tmp_path / "bench_baselines.json").read_text())
    assert len(saved["rows"]) == 8


def test_methods_are_tuned_before_they_are_measured(monkeypatch):
    monkeypatch.setattr(bench_baselines, "LENGTH", 5)
    monkeypatch.setattr(bench_baselines, "TRANSITIONS", 20)
    tuned = []
    original = bench_baselines._tuned

    def noting(flt, train, trials, seed):
        found = original(flt.set_params(n_particles=50), train, trials, seed)
        tuned.append(type(found).__name__)
        assert not hasattr(found, "seed_")
        return found

    monkeypatch.setattr(bench_baselines, "_tuned", noting)
    rows = measure_baselines(["1b"], 40, repetitions=1, trials=2, report=lambda message: None)
    assert len(rows) == 8
    assert set(tuned) == {
        "KernelMonteCarloFilter",
        "KNNParticleFilter",
        "GPParticleFilter",
        "KernelBayesFilter",
        "KNNRegression",
    }
