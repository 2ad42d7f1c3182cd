"""Slopes are fitted where a curve falls, and nowhere else."""

import numpy as np
import pytest

from kmcf_lab.theory.slopes import curve, falling

X = np.array([10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0])


def noisy(curve_of_x, seed=0, noise=0.05, repetitions=20):
    rng = np.random.default_rng(seed)
    return curve_of_x * np.exp(noise * rng.normal(size=(repetitions, len(X))))


@pytest.mark.parametrize("power", [-0.25, -0.5, -2.0])
def test_a_power_law_has_no_plateau(power):
    assert falling(X, noisy(X**power)) == len(X)


@pytest.mark.parametrize("floor_at", [50.0, 100.0, 200.0])
def test_the_plateau_begins_where_the_floor_is_reached(floor_at):
    values = noisy(1 / np.minimum(X, floor_at))
    assert X[falling(X, values) - 1] == floor_at


def test_the_slope_ignores_the_plateau():
    values = noisy(np.maximum(1 / X, 1e-2))
    rows = [{"n": n, "repetition": r, "error": values[r, k]} for r in range(20) for k, n in enumerate(X)]
    measured = curve(rows, "n", "error")
    assert measured.slope.value == pytest.approx(-1.0, abs=0.05)
    assert measured.plateau == pytest.approx(1e-2, rel=0.05)
    assert "over 10 to 100, then a plateau" in str(measured)


def test_what_does_not_fall_has_no_plateau_either():
    assert falling(X, noisy(np.ones(len(X)) * 1.0 + X)) == len(X)
    assert falling(X[:2], noisy(1 / X)[:, :2]) == 2
