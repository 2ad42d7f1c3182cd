"""Jumps."""

import numpy as np

from kmcf.transitions import Jump


def test_a_jump_draws_each_place_equally_often():
    draws = Jump([[0.0], [1.0], [2.0]])(np.zeros((30_000, 1)), None, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(draws[:, 0].astype(int)) / 30_000, 1 / 3, atol=0.02)
