"""The study of smoothing: its oracles against closed forms, its rows against the runs they summarise."""

import numpy as np
import pytest

from kmcf.datasets import paper_model
from kmcf_lab.bench import smoothing
from kmcf_lab.bench.smoothing import measure_smoothing, root_mean_square
from kmcf_lab.bench.smoothing_oracles import model_oracle, spikes_oracle
from kmcf_lab.kalman import kalman


def test_the_grid_is_the_kalman_smoother():
    test = paper_model("1a").simulate(40, random_state=0)
    oracle = model_oracle(paper_model("1a"), test.observations, None)
    known = kalman(test.observations)
    np.testing.assert_allclose(oracle.filtered[:, 0], known.means, atol=1e-4)
    mean = known.means[-1]
    for t in range(38, -1, -1):  # Rauch, Tung and Striebel
        predicted = 0.81 * known.variances[t] + 1.0
        mean = known.means[t] + 0.9 * known.variances[t] / predicted * (mean - 0.9 * known.means[t])
        assert oracle.smoothed[t, 0] == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize("name", ["4a", "2b"])
def test_knowing_more_helps(name):
    model = paper_model(name)
    test = model.simulate(100, random_state=0)
    oracle = model_oracle(model, test.observations, test.controls)
    errors = [root_mean_square(means - test.states) for means in (oracle.smoothed, oracle.filtered)]
    assert errors[0] < errors[1] < root_mean_square(test.states - test.states.mean())


def test_spikes_on_a_grid():
    rng = np.random.default_rng(0)
    places = np.stack([np.linspace(0, 100, 400), np.full(400, 10.0)], axis=1)
    rates = np.exp(-0.5 * ((places[:, :1] - np.linspace(0, 100, 8)) / 12.0) ** 2)
    truth = places[::10]
    seen = rng.poisson(rates[::10])
    oracle = spikes_oracle(places, rng.poisson(rates).astype(float), seen.astype(float), np.array([3.0, 0.5]), 4.0)
    errors = [np.linalg.norm(means - truth, axis=1).mean() for means in (oracle.smoothed, oracle.filtered)]
    assert errors[0] < errors[1] < 15.0


def test_a_row_is_what_was_measured():
    (row,) = measure_smoothing(["1a"], 60, steps=20, repetitions=2, tracks=0, spikes=False)
    filtered, smoothed = [], []
    for case in smoothing.model_cases("1a", 60, 20, 2):
        run = case.flt.smooth(case.observations)
        filtered.append(root_mean_square(run.filtered.mean - case.truth))
        smoothed.append(root_mean_square(run.mean - case.truth))
    assert row.filtered == pytest.approx(np.mean(filtered))
    assert row.smoothed == pytest.approx(np.mean(smoothed))
    apart = np.array(smoothed) - np.array(filtered)
    assert row.standard_error == pytest.approx(apart.std(ddof=1) / np.sqrt(2))
    assert row.gain == pytest.approx(1 - np.mean(smoothed) / np.mean(filtered))
    assert row.cost > 1.0


def test_states_that_leave_the_examples_are_left_alone():
    rows = list(measure_smoothing([], 80, steps=40, repetitions=1, tracks=0, spikes=False, away=True))
    assert [row.problem for row in rows] == [
        f"{m}, away, on {s}" for s in ("examples", "particles") for m in ("1a", "2a")
    ]
    assert all(0.05 < row.unsmoothed < 0.95 for row in rows)
    for case in smoothing.away_cases("1a", "particles", 80, 40, 1):
        assert np.abs(case.flt.states_).max() <= 2.0 < 5.0 < np.abs(case.truth).max()
        assert case.flt.smooth(case.observations).unsmoothed.mean() == pytest.approx(rows[2].unsmoothed)
