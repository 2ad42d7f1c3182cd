"""Stacked and cross-fitted predictors."""

import numpy as np

from kmcf.kernels.learned import stack
from kmcf.kernels.learned.stack import CrossFitted, Stack
from kmcf.kernels.learned.targets import state_targets


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


def test_predictions_that_hardly_vary_are_not_blown_up(problem):
    _, targets, _, _ = problem

    class Faint:
        out_of_sample = 1e-6 * targets

        def predict(self, z):
            return self.out_of_sample[: len(z)]

    assert Stack([Faint()], targets).coefficients.max() == stack.LARGEST_COEFFICIENT


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
