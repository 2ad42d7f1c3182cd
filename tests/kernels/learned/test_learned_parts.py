"""The regressors behind the learnt kernel, against brute force."""

import numpy as np
import pytest

from kmcf.kernels.learned import naive_bayes, ridge, stack
from kmcf.kernels.learned.inputs import RobustInputs, pooled, with_magnitudes
from kmcf.kernels.learned.naive_bayes import NaiveBayes
from kmcf.kernels.learned.ridge import RidgeRegression
from kmcf.kernels.learned.stack import CrossFitted, Stack
from kmcf.kernels.learned.targets import state_targets


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(80, 1))
    z = np.tanh(states) + 0.3 * rng.normal(size=(80, 4))
    return z, state_targets(states).values, state_targets(states).weights, states


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


@pytest.mark.parametrize("shared", [False, True])
def test_naive_bayes_leave_one_out_equals_refitting_without_each_point(problem, monkeypatch, shared):
    monkeypatch.setattr(naive_bayes, "STATE_WIDTHS", (0.4,))
    monkeypatch.setattr(naive_bayes, "COLUMN_WIDTHS", (0.3,))
    monkeypatch.setattr(naive_bayes, "TEMPERS", (0.7,))
    z, targets, weights, states = problem
    fitted = NaiveBayes(shared=shared).fit(z, targets, weights, states)
    # Brute force: densities from all other examples, on the same grid of z.
    scaled, bins = z / fitted._scale, fitted._bins(z)
    grid = np.linspace(*fitted._edges, naive_bayes.BINS)
    rows = (states - states.mean(axis=0)) / states.std(axis=0)
    places = naive_bayes._places(rows)
    del scaled
    for i in (3, 40):
        others = np.delete(np.arange(len(z)), i)
        evidence = np.zeros(len(places))
        for j in range(z.shape[1]):
            columns = range(z.shape[1]) if shared else [j]
            kernel = np.mean(
                [np.exp(-0.5 * ((grid[bins[i, j]] - grid[bins[others, c]]) / 0.3) ** 2) for c in columns], axis=0
            )
            marginal = kernel.mean()
            for g, place in enumerate(places):
                closeness = np.exp(-0.5 * ((rows[place, 0] - rows[others, 0]) / 0.4) ** 2)
                density = (closeness @ kernel + 1e-3 * marginal) / (closeness.sum() + 1e-3)
                evidence[g] += np.log(density / marginal)
        chances = np.exp(0.7 * evidence - np.max(0.7 * evidence))
        expected = chances / chances.sum() @ targets[places]
        np.testing.assert_allclose(fitted.out_of_sample[i], expected, atol=1e-6)
    assert fitted.predict(z[:5]).shape == (5, targets.shape[1])


def test_a_stack_weighs_by_out_of_sample_skill(problem):
    _, targets, _, _ = problem
    rng = np.random.default_rng(1)

    class Fixed:
        def __init__(self, predictions):
            self.out_of_sample = predictions

        def predict(self, z):
            return self.out_of_sample[: len(z)]

    stack = Stack([Fixed(targets.copy()), Fixed(rng.normal(size=targets.shape))], targets)
    np.testing.assert_allclose(stack.coefficients[:, 0], 1.0, atol=1e-6)
    np.testing.assert_allclose(stack.coefficients[:, 1], 0.0, atol=1e-6)
    np.testing.assert_allclose(stack.out_of_sample, targets, atol=1e-6)


def test_cross_fitting_never_sees_the_held_out_targets():
    class Memory:
        def get_params(self, deep=True):
            return {}

        def fit(self, z, targets):
            self.seen = {row.tobytes(): target for row, target in zip(z, targets, strict=True)}
            return self

        def predict(self, z):
            return np.array([self.seen.get(row.tobytes(), np.full(1, np.nan)) for row in z])

    z, targets = np.arange(20.0)[:, None], np.arange(20.0)[:, None]
    fitted = CrossFitted(Memory(), z, targets, folds=4, random_state=0)
    assert np.isnan(fitted.out_of_sample).all()
    np.testing.assert_array_equal(fitted.predict(z), targets)


def test_targets_are_centred_scaled_and_tell_modes_apart():
    states = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    targets = state_targets(states)
    np.testing.assert_allclose(targets.values.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(targets.values.std(axis=0), 1.0, atol=1e-6)
    assert (targets.weights > 0).all()
    wrapped = state_targets(np.array([[3.1], [-3.1], [0.0], [1.0], [2.0]] * 4), angles=(0,)).values
    assert np.linalg.norm(wrapped[0] - wrapped[1]) < np.linalg.norm(wrapped[0] - wrapped[2])


def test_inputs_are_robust_and_stay_in_range():
    rows = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [1000.0, 5.0]])
    inputs = RobustInputs(rows)
    z = inputs(rows)
    np.testing.assert_allclose(z[:, 0], np.arcsinh((rows[:, 0] - 1.5) / 1.0))
    np.testing.assert_allclose(z[:, 1], 0.0)
    np.testing.assert_allclose(inputs(np.array([[1e9, 5.0]])), z[3:4])


def test_predictions_do_not_depend_on_the_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    states = rng.normal(size=(40, 1))
    z = states + 0.3 * rng.normal(size=(40, 4))
    targets = state_targets(states)
    fitted = stack.default_stack(z, *targets, states)
    whole = fitted.predict(z)
    monkeypatch.setattr(stack, "ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(fitted.predict(z), whole, atol=1e-12)
    assert fitted.predict(z[:0]).shape == (0, whole.shape[1])


def test_many_columns_are_predicted_without_additive_kernels(monkeypatch):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 6))
    targets = z.sum(axis=1, keepdims=True)
    monkeypatch.setattr(ridge, "MOST_COLUMNS_ADDITIVE", 5)
    fitted = RidgeRegression(lambda rows: rows).fit(z, targets, np.ones(1))
    assert not fitted._additive
    assert np.mean((fitted.out_of_sample - targets) ** 2) < 0.3 * targets.var()
