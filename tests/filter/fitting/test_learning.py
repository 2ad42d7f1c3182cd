"""What the filter uses where the user chose nothing: kernels and regularisers."""

import numpy as np
import pytest
from kernels_by_hand import asinh_scaled, gaussian, matrix, median_distance

import kmcf
from kmcf.kernels import Columns, Constant, Gaussian, Laplace, Linear


def drift(states, control, rng):
    return states + 0.1 * rng.normal(size=states.shape)


def examples(n=40, columns=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Y = np.column_stack([np.exp(X[:, 0]) + 0.1 * rng.normal(size=n) for _ in range(columns)])
    return X, Y


def fitted(X, Y, **settings):
    return kmcf.KernelMonteCarloFilter(drift, random_state=0, **settings).fit(X, Y)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize(("rule", "delta"), [("kbr", 9e-6), ("importance", 1e-3)])
def test_regularisers_of_plain_observations(columns, rule, delta, monkeypatch):
    monkeypatch.setattr("kmcf.filter.fitting.kernel_choice.FEWEST_EXAMPLES", 10**9)  # plain without a trial
    flt = fitted(*examples(columns=columns), rule=rule)
    assert flt.epsilon_ == pytest.approx(1e-3, rel=1e-12)
    assert flt.delta_ == pytest.approx(delta, rel=1e-12)


@pytest.mark.parametrize(("rule", "delta", "power"), [("kbr", 1e-4, 2), ("importance", 1e-2, 1)])
@pytest.mark.parametrize("factor", [1.0, 0.01, 50.0])
def test_regularisers_of_other_kernels_follow_the_mean_diagonal(rule, delta, power, factor):
    flt = fitted(*examples(), rule=rule, observation_kernel=factor * Gaussian(1.0))
    assert flt.delta_ == pytest.approx(delta * factor**power, rel=1e-9)


@pytest.mark.parametrize(("rule", "delta", "power"), [("kbr", 1e-4, 2), ("importance", 1e-2, 1)])
def test_an_uneven_diagonal_counts_with_its_mean(rule, delta, power):
    X, Y = examples()
    diagonal = np.mean([float(y @ y) + 2.0 for y in Y])
    flt = fitted(X, Y, rule=rule, observation_kernel=Linear() + Constant(2.0))
    assert flt.delta_ == pytest.approx(delta * diagonal**power, rel=1e-9)


@pytest.mark.parametrize(("rule", "delta", "power"), [("kbr", 1e-4, 2), ("importance", 1e-2, 1)])
def test_precomputed_and_callable_kernels_get_the_same_defaults(rule, delta, power):
    X, Y = examples()
    G = 3.0 * matrix(gaussian(1.0), Y, Y)
    assert fitted(X, G, rule=rule, observation_kernel="precomputed").delta_ == pytest.approx(delta * 3.0**power)

    def similarity(A, B):
        return 3.0 * matrix(gaussian(1.0), A, B)

    assert fitted(X, Y, rule=rule, observation_kernel=similarity).delta_ == pytest.approx(delta * 3.0**power)


def test_given_regularisers_are_used_as_they_are():
    flt = fitted(*examples(), epsilon=0.02, delta=0.3, observation_kernel=7 * Gaussian(1.0))
    assert (flt.epsilon_, flt.delta_) == (0.02, 0.3)


def test_default_state_kernel_is_gaussian_at_half_the_median_distance():
    X, Y = examples()
    kernel = fitted(X, Y).state_kernel_
    np.testing.assert_allclose(kernel(X), matrix(gaussian(0.5 * median_distance(X)), X, X), atol=1e-12)


@pytest.mark.parametrize("columns", [1, 3])
def test_plain_observation_kernel_is_gaussian_on_asinh_scaled_columns(columns, monkeypatch):
    monkeypatch.setattr("kmcf.filter.fitting.kernel_choice.FEWEST_EXAMPLES", 10**9)  # plain without a trial
    X, Y = examples(columns=columns)
    Y[:, 0] *= 1000.0
    kernel = fitted(X, Y).observation_kernel_
    Z = asinh_scaled(Y)(Y)
    np.testing.assert_allclose(kernel(Y), matrix(gaussian(0.7 * median_distance(Z)), Z, Z), atol=1e-10)


def test_a_column_without_spread_does_no_harm():
    """MAD is 1 where it is zero."""
    X, Y = examples(columns=2)
    Y[:, 1] = 5.0
    kernel = fitted(X, Y).observation_kernel_
    only = asinh_scaled(Y[:, :1])(Y[:, :1])
    np.testing.assert_allclose(kernel(Y), matrix(gaussian(0.7 * median_distance(only)), only, only), atol=1e-10)


@pytest.mark.parametrize("angles", [(1,), [1], np.array([1])])
def test_angle_columns_get_a_circular_kernel(angles):
    """A full turn is no distance."""
    X, Y = examples()
    kernel = fitted(X, Y, angles=angles).state_kernel_
    turned = X + np.array([0.0, 2.0 * np.pi])
    np.testing.assert_allclose(kernel(X, turned), kernel(X), atol=1e-12)
    assert np.abs(kernel(X, X + np.array([2.0 * np.pi, 0.0])) - kernel(X)).max() > 0.1


@pytest.mark.parametrize("angles", [(0, 1), np.array([0, 1])])
def test_all_columns_may_be_angles(angles):
    X, Y = examples()
    kernel = fitted(X, Y, angles=angles).state_kernel_
    np.testing.assert_allclose(kernel(X, X + 2.0 * np.pi), kernel(X), atol=1e-12)


def test_scaling_both_kernels_with_default_regularisers_changes_nothing():
    """G_X, m_pi and n epsilon scale alike, and so do (Lambda G_Y)^2 and delta: the weights are the same."""
    X, Y = examples()
    ys = Y[:6] + 0.05
    plain, scaled = (
        fitted(X, Y, engine="exact", state_kernel=a * Gaussian(0.8), observation_kernel=b * Laplace(1.0)).filter(ys)
        for a, b in ((1.0, 1.0), (9.0, 0.2))
    )
    np.testing.assert_allclose(scaled.mean, plain.mean, atol=1e-8)
    np.testing.assert_allclose(scaled.ess, plain.ess, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")  # random data: now and then weights cancel
def test_columns_kernel_ignores_the_other_columns():
    X, Y = examples(columns=2)
    noise = np.random.default_rng(5).normal(size=len(Y))
    kernel = Columns(Gaussian(1.0), 0)
    first = fitted(X, Y, observation_kernel=kernel).filter(Y[:5])
    second = fitted(X, np.column_stack([Y[:, 0], noise]), observation_kernel=kernel).filter(Y[:5])
    np.testing.assert_allclose(first.mean, second.mean, atol=1e-12)
