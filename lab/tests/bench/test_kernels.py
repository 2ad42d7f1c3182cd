import numpy as np
import pytest

from kmcf.datasets import paper_model
from kmcf_lab.bench import kernels as bench_kernels
from kmcf_lab.bench import tolerance as bench_tolerance
from kmcf_lab.bench.intervals import measure_intervals
from kmcf_lab.bench.kernels import (
    measure_ble,
    measure_dependent,
    measure_models,
    measure_uncovered,
    oracle_means,
    rmse,
)
from kmcf_lab.bench.speeds import measure_speeds


def quiet(message):
    pass


def test_the_oracle_is_the_kalman_filter_on_model_1a():
    test = paper_model("1a").simulate(100, random_state=0)
    mean, variance, kalman = 0.0, 1 / (1 - 0.81), []
    for t, y in enumerate(test.observations[:, 0]):
        if t:
            mean, variance = 0.9 * mean, 0.81 * variance + 1
        gain = variance / (variance + 1)
        mean, variance = mean + gain * (y - mean), (1 - gain) * variance
        kalman.append(mean)
    assert rmse(oracle_means(paper_model("1a"), test, seed=0), np.array(kalman)[:, None]) < 0.05


def test_models_are_compared_with_the_oracle(monkeypatch):
    monkeypatch.setattr(bench_kernels, "LENGTH", 30)
    monkeypatch.setattr(bench_kernels, "PAPER_MODELS", ("1a", "3a"))
    rows = measure_models(60, repetitions=1, report=quiet)
    by = {(row.problem, row.method): row.mean for row in rows}
    assert by["1a", "default"] == by["1a", "learnt"]  # one number: nothing to learn
    expected = np.sqrt(by["1a", "plain"] * by["3a", "plain"])
    assert by["geometric mean", "plain"] == pytest.approx(expected)


def test_other_studies_run(monkeypatch):
    monkeypatch.setattr(bench_kernels, "LENGTH", 20)
    tracks = bench_kernels.ble_tracks()
    monkeypatch.setattr(bench_kernels, "ble_tracks", lambda: tracks[3:6])
    monkeypatch.setattr(bench_kernels, "_forest", dict)
    for rows in (measure_ble(report=quiet), measure_uncovered(1, report=quiet)):
        assert all(0 < row.mean < 20 for row in rows)
    assert {row.kernel for row in measure_speeds(30, report=quiet)} >= {"Learned()", "LaserScan()"}
    (row, _) = measure_intervals([60], repetitions=1, report=quiet)
    assert 0.3 < row.interval <= 1.0


def test_the_made_up_room_has_dependent_strengths():
    room = bench_kernels._room(500, (0, 0))
    assert room.states.min() >= 0
    assert room.states.max() <= 15
    receivers = np.random.default_rng(7).uniform(0, 15, size=(12, 2))
    distance = np.linalg.norm(room.states[:, None] - receivers, axis=2)
    residual = room.observations - (-55 - 22 * np.log10(distance + 0.3))
    assert np.abs(np.corrcoef(residual.T)[np.triu_indices(12, 1)]).mean() > 0.3
    assert measure_dependent.__doc__


def test_tolerances_are_measured_against_the_exact_rule(monkeypatch):
    monkeypatch.setattr(bench_tolerance, "STEPS", 6)
    rows = {
        (row.epsilon, row.tolerance): row
        for row in bench_tolerance.measure_tolerances([80], models=["1a"], report=quiet)
    }
    loose, tight = rows[1e-3, "observations 1 √δ"], rows[1e-3, "observations 0.03 √δ"]
    assert loose.ranks[1] < tight.ranks[1]
    assert tight.largest < loose.largest
    assert rows[1e-3, "auto"].largest < 0.1
