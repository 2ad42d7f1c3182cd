"""Observation kernels compared with the oracle, which is compared with the Kalman filter."""

import numpy as np
import pytest

from kmcf.datasets import paper_model
from kmcf_lab.bench import kernels as bench_kernels
from kmcf_lab.bench.kernels import measure_models, oracle_means
from kmcf_lab.kalman import kalman
from kmcf_lab.statistics import rmse


def test_the_oracle_is_the_kalman_filter_on_model_1a():
    test = paper_model("1a").simulate(100, random_state=0)
    exact = kalman(test.observations).means[:, None]
    assert rmse(oracle_means(paper_model("1a"), test, seed=0), exact) < 0.05


def test_models_are_compared_with_the_oracle(monkeypatch):
    monkeypatch.setattr(bench_kernels, "LENGTH", 30)
    rows = measure_models(("1a", "3a"), 60, repetitions=1, report=lambda message: None)
    by = {(row.problem, row.method): row.mean for row in rows}
    assert by["1a", "examples alone"] == by["1a", "learnt"]  # one number: nothing to learn
    expected = np.sqrt(by["1a", "plain"] * by["3a", "plain"])
    assert by["geometric mean", "plain"] == pytest.approx(expected)
