"""One draw of Section 6.1 against literal formulas."""

import numpy as np
import pytest
from embeddings import gaussian_inner
from herding_by_hand import algorithm_4
from kernels_by_hand import gaussian_matrix

from kmcf_lab.resampling import study as resampling


def error(points, weights, variance):
    """‖Σ w k(·, x) − m_N(0, variance)‖², written out."""
    gram = gaussian_matrix(points[:, None], points[:, None], 0.1)
    cross = [gaussian_inner(x, 0.0, 0.0, variance, 0.1) for x in points]
    return weights @ gram @ weights - 2 * weights @ cross + gaussian_inner(0.0, variance, 0.0, variance, 0.1)


def test_a_draw_is_what_the_paper_describes():
    draw = resampling.draw(1e-3, 1.0, np.random.default_rng(0))
    gram = gaussian_matrix(draw.points[:, None], draw.points[:, None], 0.1)
    mean = np.array([gaussian_inner(x, 0.0, 0.0, 0.01, 0.1) for x in draw.points])
    weights = np.linalg.solve(gram + 1e-3 * np.eye(100), mean)
    np.testing.assert_allclose(draw.weights, weights / weights.sum(), rtol=1e-6, atol=1e-9)
    assert np.abs(draw.points).max() <= 1.0
    picks = algorithm_4(
        lambda z: draw.weights @ np.exp(-((z - draw.points) ** 2) / 0.02),
        lambda a, b: np.exp(-((a - b) ** 2) / 0.02),
        draw.points,
        100,
    )
    herded = resampling.TRUTH_P.squared_error(draw.points[picks], np.full(100, 0.01))
    assert draw.errors()["Res-KH_p"] == pytest.approx(herded, rel=0.05)
    assert set(draw.samples["Res-Trunc"]) <= set(draw.points[draw.weights > 0])
    assert np.std(draw.moved["Res-KH"] - draw.samples["Res-KH"]) == pytest.approx(0.1, rel=0.3)


def test_errors_are_the_closed_forms():
    draw = resampling.draw(1e-2, 1.0, np.random.default_rng(1))
    found = draw.errors()
    uniform = np.full(100, 0.01)
    assert found["error_of_estimate"] == pytest.approx(error(draw.points, draw.weights, 0.01), rel=1e-6)
    assert found["woRes_q"] == pytest.approx(error(draw.moved["woRes"], draw.weights, 0.02), rel=1e-9)
    assert found["Res-Trunc_q"] == pytest.approx(error(draw.moved["Res-Trunc"], uniform, 0.02), rel=1e-9)
    assert found["sum_of_squares"] == pytest.approx(np.sum(draw.weights**2))


@pytest.mark.parametrize("width", [resampling.DEMONSTRATION_WIDTH, resampling.SWEEP_WIDTH])
@pytest.mark.parametrize("seed", range(3))
def test_the_ridge_trades_the_error_of_the_estimate_against_the_sum_of_squares(seed, width):
    """The smaller λ, the more accurate m̂_P and the larger Σw², on the same points."""
    draws = [resampling.draw(ridge, width, np.random.default_rng(seed)).errors() for ridge in (1e-8, 1e-4, 1.0)]
    errors, squares = ([one[name] for one in draws] for name in ("error_of_estimate", "sum_of_squares"))
    assert errors[0] <= errors[1] < 0.5 * errors[2]
    assert squares[0] > squares[1] > 1.1 * squares[2]
