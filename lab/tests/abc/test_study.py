"""The study: budgets are kept, bandwidths are chosen on pilot sequences, sequences are shared."""

import numpy as np
import pytest

from kmcf.datasets import paper_model
from kmcf_lab.abc import study
from kmcf_lab.abc.checks import all_rows
from kmcf_lab.tables import chosen


def test_nobody_simulates_more_than_the_budget(results):
    rows = [row for row in all_rows(results) if row["method"] != "oracle"]
    for row in rows:
        steps = 1 if row["method"] == "KMCF" else row["length"]
        assert row["size"] * steps <= row["budget"]
    assert {row["size"] for row in chosen(rows, method="ABC", budget=120)} == {30, 6}


def test_every_cell_has_every_method_at_every_length(results):
    rows = all_rows(results)
    assert len(chosen(rows, model="1a")) == 3 * (2 * 2 * 2 + 2)
    assert len(chosen(rows, model="2a")) == 3 * (2 * 2 * 3 + 2)
    assert all(0.05 < row["rmse"] < 10.0 for row in rows)


def test_sequences_do_not_depend_on_the_budget_and_fill_the_steps():
    where = {"model": "1a", "repetition": 0, "seed": 0}
    first, again = (study.sequences(paper_model("1a"), "test", 50, where) for _ in range(2))
    assert len(first) == study.TEST_STEPS // 50
    np.testing.assert_array_equal(first[1].states, again[1].states)
    pilot = study.sequences(paper_model("1a"), "pilot", 50, where)
    assert not np.array_equal(first[0].states, pilot[0].states)


def test_the_summary_is_sufficient_for_stochastic_volatility():
    """Two observations with the same summary have the same likelihood ratios."""
    y, same = np.array([3.0, 4.0, *[0.0] * 8]), np.array([5.0, *[0.0] * 9])
    np.testing.assert_allclose(study.log_mean_square(np.stack([y, same]))[0], study.log_mean_square(same[None])[0])
    model, states = paper_model("3a"), np.array([[-1.0], [2.0]])
    np.testing.assert_allclose(model.log_likelihood(states, y), model.log_likelihood(states, same))


def test_the_best_bandwidth_on_the_pilots_is_taken(monkeypatch):
    model = paper_model("1a")
    train = model.simulate(50, random_state=0)
    monkeypatch.setattr(study, "error_on", lambda flt, pilots: abs(flt.bandwidth - 0.3 * distance))
    distance = study.typical_distance(train.observations)
    flt = study.AbcParticleFilter(model.transition, model.observe, model.initial, n_particles=10, random_state=0)
    assert study.tuned_abc(flt, train, []).bandwidth == pytest.approx(0.3 * distance)
