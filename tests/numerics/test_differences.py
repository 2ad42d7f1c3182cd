import sys

import numpy as np
import pytest

from kmcf.numerics.differences import numpy_squares, scalar_squares, scaled_squares, squares_loop


@pytest.mark.parametrize("factor", [1.0, -0.5, 0.3])
def test_all_loops_give_the_same_bits(factor):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=13), rng.normal(size=40)
    truth = np.array([[(x - y) * (x - y) * factor for y in b] for x in a])
    for loop in (numpy_squares, scalar_squares, squares_loop()):
        found = np.empty((13, 40))
        loop(a, b, factor, found)
        np.testing.assert_array_equal(found, truth)


def test_numbers_may_be_read_only_and_anywhere_in_memory():
    a, b = np.arange(6.0)[::2], np.ones((4, 2))[:, 0]
    b.flags.writeable = False
    np.testing.assert_array_equal(scaled_squares(a, b), [[1.0] * 4, [1.0] * 4, [9.0] * 4])
    assert scaled_squares(a, b[:0]).shape == (3, 0)


def test_without_numba_it_is_the_loop_on_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert squares_loop.__wrapped__() is numpy_squares


def test_numba_is_not_loaded_for_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert scaled_squares(np.zeros(1), np.full(1, 2.0)).item() == 4.0
    assert "numba" not in sys.modules
