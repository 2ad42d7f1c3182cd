import numpy as np
import pytest
from scipy.stats import chi2

import kmcf
from kmcf.trust.distances import RawDistances
from kmcf.trust.residuals import LEAST_SHARE, WIDTH, Expected, contradicted
from kmcf.trust.thresholds import signal_tail


def averages_by_hand(x, y, at):
    """Averages and spreads around the places where the table has them, then averages of these around one place."""
    width = WIDTH * np.sqrt(x.shape[1]) * x.std(axis=0)
    rows = []
    for place in x:
        share = np.array([np.exp(-0.5 * np.sum(((place - other) / width) ** 2)) for other in x])
        share /= share.sum()
        mean = sum(share[i] * y[i] for i in range(len(x)))
        spread = sum(share[i] * (y[i] - mean) ** 2 for i in range(len(x))) + LEAST_SHARE * y.var(axis=0)
        rows.append((mean, np.sqrt(spread)))
    share = np.array([np.exp(-0.5 * np.sum(((at - other) / width) ** 2)) for other in x])
    share /= share.sum()
    return tuple(sum(share[i] * rows[i][k] for i in range(len(x))) for k in (0, 1))


def test_residuals_are_those_of_averages_around_the_state():
    rng = np.random.default_rng(0)
    x, at = rng.normal(size=(40, 2)), np.array([0.3, -0.2])
    y = np.column_stack([x[:, 0] + rng.normal(size=40), x[:, 1] ** 2, np.full(40, 3.0)])
    expected, seen = Expected.of(x, y), np.array([0.7, 2.0, 3.0])
    mean, spread = averages_by_hand(x, y, at)
    truth = np.arcsinh((seen - mean)[:2] / spread[:2])
    np.testing.assert_allclose(expected.residual(at, seen)[:2], truth, rtol=1e-9)
    np.testing.assert_allclose(expected.residuals(np.stack([at, at + np.nan]), np.stack([seen, seen]))[0, :2], truth)
    assert abs(expected.residual(at, seen)[2]) < 1e-6  # a constant column does not differ


def test_states_that_are_not_known_have_no_residual():
    rng = np.random.default_rng(0)
    expected = Expected.of(rng.normal(size=(30, 1)), rng.normal(size=(30, 4)))
    assert expected.residual(np.array([np.nan]), np.zeros(4)) is None
    assert np.isnan(expected.residuals(np.full((1, 1), np.nan), np.zeros((1, 4)))).all()
    assert Expected.of(["here", "there"], np.zeros((2, 4))) is None


def test_residuals_have_the_same_size_where_the_noise_is_small_and_where_it_is_large():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=(3000, 1))
    y = np.exp(x) * rng.normal(size=(3000, 2))
    found = np.sinh(Expected.of(x, y).residuals(x, y))
    sizes = [np.sqrt(np.mean(found[np.abs(x[:, 0] - at) < 0.2] ** 2)) for at in (0.0, 1.0, 1.7)]
    np.testing.assert_allclose(sizes, 1.0, atol=0.25)


def test_angles_have_no_seam():
    angle = np.linspace(-np.pi, np.pi, 400)[:, None]
    expected, seen = Expected.of(angle, np.cos(angle), [0]), np.array([-1.0])
    below, above = (expected.residual(np.array([side * (np.pi - 1e-9)]), seen) for side in (-1, 1))
    np.testing.assert_allclose(below, above, atol=1e-6)
    np.testing.assert_allclose(expected.residuals(np.array([[np.pi]]), seen[None])[0], above, atol=1e-6)


def test_of_many_examples_some_are_averaged_over():
    x = np.random.default_rng(0).normal(size=(9000, 1))
    known = RawDistances.of(x).expected(x, ())
    assert known.table.shape == (128, 2)
    assert abs(known.residual(np.zeros(1), RawDistances.of(x).coordinates(np.zeros((1, 1)))[0])[0]) < 0.2


@pytest.mark.parametrize("columns", [1, 5, 40])
def test_thresholds_of_root_mean_squares_are_those_of_chi_square(columns):
    values = np.sqrt(np.random.default_rng(0).chisquare(columns, size=200_000) / columns)
    truth = np.sqrt(chi2.isf(0.002, columns) / columns)
    np.testing.assert_allclose(signal_tail("residual_shift", values).quantile(0.002), truth, rtol=0.06)


@pytest.mark.slow
def test_a_shift_that_only_residuals_show_is_noticed():
    """In a model of volatility every shifted observation is one of a wilder state; all to one side, they are not."""
    model = kmcf.datasets.paper_model("3b")
    train, test = model.simulate(200, random_state=(104, 0)), model.simulate(130, random_state=(104, 1))
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=104).fit(*train[:2])
    seen = test.observations + 2.0 * train.observations.std(axis=0) * (np.arange(130) >= 100)[:, None]
    run = flt.filter(seen, test.controls)
    assert run.alarm[100:120].any()
    assert "changed sensor" in run.alarm_reason[100:120]
    assert run.alarm[:100].mean() < 0.05


def test_residuals_contradict_seldom_by_chance():
    """Independent residuals of unit variance, in running means: about one step in a thousand, with any columns."""
    from scipy.signal import lfilter

    for columns in (1, 8):
        means = lfilter([0.1], [1.0, -0.9], np.random.default_rng(columns).normal(size=(100_000, columns)), axis=0)
        found = np.mean([contradicted(np.array([row, row]), 0.001) for row in means])
        assert 0.0003 < found < 0.003
    assert not contradicted(None, 0.001)
