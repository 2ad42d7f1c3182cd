"""The predictor from trends, against Bayes' rule written out, refitting, and the sufficient statistic."""

import numpy as np
import pytest

from kmcf.kernels.learned.places import representative
from kmcf.kernels.learned.stack import Stack, default_stack
from kmcf.kernels.learned.targets import state_targets
from kmcf.kernels.learned.trend_posterior import TrendPosterior, _folds
from kmcf.numerics.noisy_trends import NoisyTrend

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(150, 1))
ROWS = 0.5 * STATES + np.exp(STATES) * RNG.normal(size=(150, 6)) * np.arange(1.0, 7.0)
Z = np.arcsinh(ROWS)
TARGETS = state_targets(STATES)


@pytest.fixture(scope="module")
def fitted():
    return TrendPosterior().fit(Z, *TARGETS, STATES)


def posterior_means(model, rows, temper):
    """Average the targets by Gaussian densities, number by number."""
    places = representative(STATES)
    values = TARGETS.values[places] - TARGETS.values[places].mean(axis=0)
    means, sizes = model.mean(STATES[places]), model.sizes(STATES[places])
    predictions = []
    for row in rows:
        logs = []
        for mean, size in zip(means, sizes, strict=True):
            variances = model.variances * size**2
            logs.append(-0.5 * np.sum((row - mean) ** 2 / variances + np.log(2 * np.pi * variances)))
        weights = np.exp(temper * (np.array(logs) - max(logs)))
        predictions.append(weights @ values / weights.sum())
    return np.array(predictions)


def test_predictions_are_posterior_means(fitted):
    model = NoisyTrend.fit(STATES, ROWS)
    np.testing.assert_allclose(fitted.predict(Z[:5]), posterior_means(model, ROWS[:5], fitted._temper), atol=1e-6)


def test_out_of_sample_predictions_are_those_of_trends_without_the_fold(fitted):
    held_out = _folds(np.hstack([STATES, Z]))[2]
    rest = np.setdiff1d(np.arange(150), held_out)
    model = NoisyTrend.fit(STATES[rest], ROWS[rest])
    expected = posterior_means(model, ROWS[held_out], fitted._temper)
    np.testing.assert_allclose(fitted.out_of_sample[held_out], expected, atol=1e-6)


def test_the_order_of_examples_does_not_matter(fitted):
    order = np.random.default_rng(1).permutation(150)
    other = TrendPosterior().fit(Z[order], TARGETS.values[order], TARGETS.weights, STATES[order])
    np.testing.assert_allclose(other.out_of_sample, fitted.out_of_sample[order], atol=1e-6)
    np.testing.assert_allclose(other.predict(Z[:9]), fitted.predict(Z[:9]), atol=1e-6)


def test_it_knows_how_large_numbers_are():
    """Noise whose size depends on the state: the sum of squares is all that matters, and few examples suffice."""
    rng = np.random.default_rng(2)
    states, others = rng.normal(size=(80, 1)), rng.normal(size=(2000, 1))
    observe = lambda x: np.arcsinh(np.exp(x) * rng.normal(size=(len(x), 10)))  # noqa: E731
    z, new = observe(states), observe(others)
    targets = state_targets(states)
    scaled = (others[:, 0] - states.mean()) / states.std()
    grid = np.linspace(-4, 4, 400)
    logs = -10 * grid - 0.5 * np.sum(np.sinh(new) ** 2, axis=1)[:, None] * np.exp(-2 * grid) - 0.5 * grid**2
    exact = np.exp(logs - logs.max(axis=1, keepdims=True))
    least = np.sqrt(np.mean((exact @ grid / exact.sum(axis=1) - others[:, 0]) ** 2)) / states.std()
    stack = default_stack(z, *targets, states)
    before = stack._predictors[:-1]
    own, others, together, without = (
        np.sqrt(np.mean((one.predict(new)[:, 0] - scaled) ** 2))
        for one in (stack._predictors[-1], before[1], stack, Stack(before, targets.values))
    )
    assert own < 1.15 * least
    assert own < others
    assert together < without


def test_where_trends_say_nothing_others_get_the_say():
    rng = np.random.default_rng(3)
    states = rng.uniform(-3, 3, size=(200, 1))
    z = np.sin(6 * states + np.arange(3.0)) + 0.05 * rng.normal(size=(200, 3))
    stack = default_stack(z, *state_targets(states), states)
    own = stack.coefficients[:, -1] * stack._predictors[-1].predict(z)
    assert np.abs(own).mean() < 0.05 * np.abs(stack.predict(z)).mean()


def test_wild_and_constant_columns_do_no_harm():
    z = np.hstack([Z, np.full((150, 1), 2.0), 400.0 * np.sign(Z[:, :1])])
    fitted = TrendPosterior().fit(z, *TARGETS, STATES)
    assert np.isfinite(fitted.out_of_sample).all()
    assert np.isfinite(fitted.predict(1e3 * z)).all()


def test_jax_predicts_the_same(fitted):
    jnp = pytest.importorskip("jax.numpy")
    np.testing.assert_allclose(np.asarray(fitted.predict(jnp.asarray(Z))), fitted.predict(Z), atol=1e-5)
