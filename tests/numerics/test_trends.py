"""Trends, against functions that are known and fits written out by hand."""

import numpy as np
import pytest

from kmcf.numerics.trends import KNOTS, SHAPES, Trends, WeightedBasis, _basis

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2, 2, size=(120, 1)), axis=0)


@pytest.mark.parametrize(("truth", "linear", "curved"), [(0.0, False, False), (3.0, True, False)])
def test_the_simplest_shape_that_predicts_is_taken(truth, linear, curved):
    found = Trends(X).fit(truth * X + 0.3 * np.random.default_rng(1).normal(size=X.shape))
    assert (found.shape.linear, found.shape.width is not None) == (linear, curved)


def test_a_curve_is_followed_and_goes_on_as_a_line():
    found = Trends(X).fit(np.sin(3 * X) + 2 * X + 0.05 * RNG.normal(size=X.shape))
    assert found.shape.width is not None
    assert np.abs(found(X) - np.sin(3 * X) - 2 * X).max() < 0.3
    far = found(np.array([[40.0], [50.0], [60.0]]))[:, 0]
    assert far[2] - far[1] == pytest.approx(far[1] - far[0], rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_errors_are_those_of_fits_without_the_row(shape):
    targets, weights = np.cos(X) + 0.1 * RNG.normal(size=X.shape), RNG.uniform(0.5, 2.0, size=len(X))
    roots, basis = np.sqrt(weights)[:, None], _basis(X, X[:KNOTS], shape)
    _, errors = WeightedBasis(basis, roots).ridge(targets, shape)
    for row in (0, 57, 119):
        rest = np.arange(len(X)) != row
        coefficients, _ = WeightedBasis(basis[rest], roots[rest]).ridge(targets[rest], shape)
        left = weights[row] * (targets[row] - basis[row] @ coefficients).item() ** 2
        assert errors[row] == pytest.approx(left / targets.var(), rel=1e-6)


def test_rows_that_count_less_matter_less():
    bad = np.where(np.arange(120) % 2 == 0, 100.0, 0.0)[:, None]
    found = Trends(X).fit(2.0 * X + bad, np.where(bad[:, 0] > 0, 1e-12, 1.0))
    np.testing.assert_allclose(found(X), 2.0 * X, atol=1e-3)


def test_units_of_columns_do_not_matter():
    wave, noise = 3.0 * np.sin(3 * X), np.random.default_rng(2).normal(size=X.shape)
    shapes = [Trends(X).fit(np.hstack([scale * noise, wave])).shape for scale in (1.0, 1000.0)]
    assert shapes[0] == shapes[1]
    assert shapes[0].width is not None


def test_columns_that_do_not_vary_or_repeat_do_no_harm():
    inputs = np.hstack([X, X, np.ones_like(X)])
    np.testing.assert_allclose(Trends(inputs).fit(5.0 * X)(inputs), 5.0 * X, atol=1e-3)
