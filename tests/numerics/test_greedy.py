import sys

import numpy as np
import pytest

from kmcf.numerics.greedy import greedy_loop, numpy_loop, scalar_loop


@pytest.mark.parametrize("seed", range(5))
def test_all_loops_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    count = 80 if seed else 200
    points = rng.normal(size=(count, 2))
    gram = np.exp(-0.5 * np.sum((points[:, None] - points[None]) ** 2, axis=2))
    weights = rng.normal(size=count)
    mean_values = gram @ (weights / weights.sum())
    indices, score = numpy_loop(mean_values, gram, 60)
    for other in (scalar_loop, greedy_loop()):
        other_indices, other_score = other(mean_values, gram, 60)
        np.testing.assert_array_equal(other_indices, indices)
        np.testing.assert_array_equal(other_score, score)


@pytest.mark.parametrize("size", [1, 127, 128, 129, 300])
def test_ties_negative_scores_and_zeros_of_both_signs_go_to_the_first_candidate(size):
    mean_values = np.full(size, -1.0)
    mean_values[size // 2 :] = -0.0
    mean_values[-1] = 0.0
    gram = np.eye(size)
    indices, score = numpy_loop(mean_values, gram, 10)
    assert indices[0] == size // 2
    for other in (scalar_loop, greedy_loop()):
        other_indices, other_score = other(mean_values, gram, 10)
        np.testing.assert_array_equal(other_indices, indices)
        np.testing.assert_array_equal(other_score, score)


def test_without_numba_it_is_the_loop_on_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert greedy_loop.__wrapped__() is numpy_loop
