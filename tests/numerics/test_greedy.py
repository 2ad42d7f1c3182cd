import sys

import numpy as np
import pytest

from kmcf.numerics.greedy import greedy_loop, numpy_loop, scalar_loop


@pytest.mark.parametrize("seed", range(5))
def test_all_loops_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(80, 2))
    gram = np.exp(-0.5 * np.sum((points[:, None] - points[None]) ** 2, axis=2))
    weights = rng.normal(size=80)
    mean_values = gram @ (weights / weights.sum())
    indices, score = numpy_loop(mean_values, gram, 60)
    for other in (scalar_loop, greedy_loop()):
        other_indices, other_score = other(mean_values, gram, 60)
        np.testing.assert_array_equal(other_indices, indices)
        np.testing.assert_array_equal(other_score, score)


def test_without_numba_it_is_the_loop_on_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert greedy_loop.__wrapped__() is numpy_loop
