"""Kernel ridge regression, against refitting without each point."""

import numpy as np

from kmcf.kernels.learned import ridge
from kmcf.kernels.learned.inputs import pooled, with_magnitudes
from kmcf.kernels.learned.ridge import RidgeRegression


def test_ridge_leave_one_out_equals_refitting_without_each_point(problem):
    z, targets, weights, _ = problem
    fitted = RidgeRegression(with_magnitudes).fit(z, targets, weights)
    rows = fitted._rows
    gram = fitted._gram(rows, fitted._additive, fitted._width)
    ridge = None
    for candidate in 10.0 ** np.linspace(-6, 0, 11) * len(z):
        coefficients = np.linalg.solve(gram + candidate * np.eye(len(z)), targets)
        if np.allclose(coefficients, fitted._coefficients, rtol=1e-5, atol=1e-8):
            ridge = candidate
    assert ridge is not None
    for i in (0, 17, 79):
        others = np.delete(np.arange(len(z)), i)
        part = np.linalg.solve(gram[np.ix_(others, others)] + ridge * np.eye(len(z) - 1), targets[others])
        np.testing.assert_allclose(fitted.out_of_sample[i], gram[i, others] @ part, atol=1e-7)


def test_ridge_stays_at_the_edge_beyond_its_training_range(problem):
    z, targets, weights, _ = problem
    fitted = RidgeRegression(pooled).fit(z, targets, weights)
    edge = fitted.predict(np.full((1, 4), 50.0))
    np.testing.assert_allclose(fitted.predict(np.full((1, 4), 5000.0)), edge)


def test_many_columns_are_predicted_without_additive_kernels(monkeypatch):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 6))
    targets = z.sum(axis=1, keepdims=True)
    monkeypatch.setattr(ridge, "MOST_COLUMNS_ADDITIVE", 5)
    fitted = RidgeRegression(lambda rows: rows).fit(z, targets, np.ones(1))
    assert not fitted._additive
    assert np.mean((fitted.out_of_sample - targets) ** 2) < 0.3 * targets.var()


def test_settings_are_compared_on_some_points_and_fitted_to_all(problem, monkeypatch):
    z, targets, weights, _ = problem
    monkeypatch.setattr("kmcf.kernels.learned.inputs.MOST_COMPARED", 50)
    fitted = RidgeRegression(with_magnitudes).fit(z, targets, weights)
    gram = fitted._gram(fitted._rows, fitted._additive, fitted._width)
    candidates = 10.0 ** np.linspace(-6, 0, 11) * len(z)
    fits = [np.linalg.solve(gram + candidate * np.eye(len(z)), targets) for candidate in candidates]
    assert any(np.allclose(one, fitted._coefficients, rtol=1e-5, atol=1e-8) for one in fits)
    assert np.mean((fitted.out_of_sample[:, 0] - targets[:, 0]) ** 2) < 0.3  # of a variance of one
