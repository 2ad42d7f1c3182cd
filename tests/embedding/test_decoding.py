import numpy as np
import pytest
from embeddings import signed_weights
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix
from scipy import stats

from kmcf.embedding.decoding import density, density_mode, preimage, quantile, smoothing_bandwidth
from kmcf.embedding.embedding import Embedding
from kmcf.kernels import Circular, FromCallable, Gaussian, Laplace, Linear

GRID = np.linspace(-8.0, 8.0, 4001)[:, None]
STEP = 16.0 / 4000


def weighted_rows(seed, n=15, d=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.dirichlet(np.ones(n))


# --- density --------------------------------------------------------------------------------------------------------


def test_density_equals_scipy_for_positive_weights():
    rows, weights = weighted_rows(0)
    scipy_density = stats.gaussian_kde(rows[:, 0], weights=weights)
    h = float(np.sqrt(scipy_density.covariance[0, 0]))
    np.testing.assert_allclose(density(GRID, rows, weights, h), scipy_density(GRID[:, 0]), rtol=1e-9, atol=1e-300)


def test_density_is_a_signed_mixture_of_products_of_normals():
    rng = np.random.default_rng(1)
    rows, weights, points = rng.normal(size=(9, 3)), signed_weights(9, rng), rng.normal(size=(5, 3))
    h = np.array([0.5, 1.0, 2.0])
    expected = [sum(w * np.prod(stats.norm.pdf(p, x, h)) for w, x in zip(weights, rows, strict=True)) for p in points]
    np.testing.assert_allclose(density(points, rows, weights, h), expected, rtol=1e-11, atol=1e-15)


@given(seed=st.integers(0, 1000))
def test_density_integrates_to_one_whatever_the_signs(seed):
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(8, 1)), signed_weights(8, rng)
    assert density(GRID, rows, weights, 0.5).sum() * STEP == pytest.approx(1.0, abs=1e-10)


def test_density_on_a_circle_does_not_see_the_seam():
    angles, weights = np.array([[3.0], [-3.0]]), np.array([0.7, 0.3])
    points = np.linspace(-np.pi, np.pi, 4001)[:, None]
    values = density(points, angles, weights, 0.3, angles=(0,))
    unrolled = 0.7 * stats.norm.pdf(np.mod(points[:, 0], 2 * np.pi), 3.0, 0.3)
    unrolled += 0.3 * stats.norm.pdf(np.mod(points[:, 0], 2 * np.pi), 2 * np.pi - 3.0, 0.3)
    np.testing.assert_allclose(values, unrolled, atol=1e-12)
    assert values[:-1].sum() * (2 * np.pi / 4000) == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_default_smoothing_is_silvermans_rule_at_the_effective_sample_size(d):
    rows, weights = weighted_rows(2, n=40, d=d)
    ess = 1.0 / np.sum(weights**2)
    sd = np.sqrt(np.average((rows - np.average(rows, axis=0, weights=weights)) ** 2, axis=0, weights=weights))
    expected = sd * (4.0 / (d + 2.0) / ess) ** (1.0 / (d + 4.0))
    np.testing.assert_allclose(smoothing_bandwidth(rows, weights), expected, rtol=1e-12)
    np.testing.assert_allclose(density(rows, rows, weights, None), density(rows, rows, weights, expected), rtol=1e-10)


def test_default_smoothing_of_signed_weights_uses_the_spread_of_the_positive_part():
    rows, weights = np.array([[0.0], [2.0], [50.0]]), np.array([0.75, 0.75, -0.5])
    ess = 1.0 / (0.75**2 + 0.75**2 + 0.25)
    assert ess < 1
    assert smoothing_bandwidth(rows, weights)[0] == pytest.approx(1.0 * (4.0 / 3.0) ** 0.2)


def test_default_smoothing_of_angles_is_circular():
    angles = np.array([[np.pi - 0.2], [-np.pi + 0.2]])
    expected = 0.2 * (4.0 / 3.0 / 2.0) ** 0.2
    assert smoothing_bandwidth(angles, np.array([0.5, 0.5]), angles=(0,))[0] == pytest.approx(expected)


def test_default_smoothing_without_spread_is_positive():
    rows = np.array([[1.0, 0.0], [1.0, 4.0]])
    h = smoothing_bandwidth(rows, np.array([0.5, 0.5]))
    assert 0 < h[0] < 1e-3 < h[1]
    assert smoothing_bandwidth(np.ones((3, 1)), np.full(3, 1 / 3))[0] > 0


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, [1.0, 2.0, 3.0], [[1.0, 1.0]], [1.0, 0.0]])
def test_a_bad_bandwidth_is_an_error_that_says_how_many(bandwidth):
    rows, weights = weighted_rows(0, d=2)
    with pytest.raises(ValueError, match=r"one positive number, or one per state column \(2\)"):
        density(rows, rows, weights, bandwidth)
    with pytest.raises(ValueError, match=r"one positive number, or one per state column \(2\)"):
        density_mode(rows, weights, bandwidth)


# --- mode -----------------------------------------------------------------------------------------------------------


def test_mode_of_two_close_points_lies_between_them():
    np.testing.assert_allclose(density_mode(np.array([[-1.0], [1.0]]), np.array([0.5, 0.5]), 3.0), [0.0], atol=1e-4)


@pytest.mark.parametrize("signed", [False, True])
def test_mode_of_a_bimodal_density_is_its_highest_peak(signed):
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.normal(-3.0, 0.4, 40), rng.normal(2.0, 0.4, 60)])[:, None]
    weights = np.full(100, 0.01)
    if signed:
        weights += 0.005 * rng.normal(size=100)
        weights /= weights.sum()
    values = sum(w * stats.norm.pdf(GRID[:, 0], x, 0.5) for w, x in zip(weights, rows[:, 0], strict=True))
    highest = GRID[np.argmax(values), 0]
    assert 1.5 < highest < 2.5
    assert density_mode(rows, weights, 0.5)[0] == pytest.approx(highest, abs=STEP)


def test_mode_may_lie_between_states_that_are_not_the_best():
    # alone 0.38; each of the pair 0.31 (1 + exp(−1.9² / 2)) = 0.36; halfway 0.62 exp(−0.95² / 2) = 0.39
    states, weights = np.array([[0.0], [7.0], [8.9]]), np.array([0.38, 0.31, 0.31])
    np.testing.assert_allclose(density_mode(states, weights, 1.0), [7.95], atol=1e-2)


def test_mode_in_two_dimensions_against_a_grid():
    rng = np.random.default_rng(4)
    rows, weights = rng.normal(size=(20, 2)), rng.dirichlet(np.ones(20))
    h = np.array([0.6, 0.9])
    axis = np.linspace(-3, 3, 241)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    values = np.exp(-0.5 * np.sum(((grid[:, None] - rows[None]) / h) ** 2, axis=2)) @ weights
    np.testing.assert_allclose(density_mode(rows, weights, h), grid[np.argmax(values)], atol=0.025)


def test_mode_of_angles_is_found_across_the_seam():
    angles = np.array([[np.pi - 0.3], [-np.pi + 0.1], [0.0]])
    mode = density_mode(angles, np.array([0.4, 0.4, 0.2]), 0.5, angles=(0,))[0]
    assert np.mod(mode, 2 * np.pi) == pytest.approx(np.pi - 0.1, abs=1e-3)


@given(seed=st.integers(0, 1000))
def test_mode_is_at_least_as_high_as_every_state(seed):
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(10, 2)), signed_weights(10, rng)
    best = density_mode(rows, weights, 0.7)
    at_states = density(rows, rows, weights, 0.7)
    assert density(best[None], rows, weights, 0.7)[0] >= at_states.max() - 1e-12


def test_mode_of_a_single_state_is_that_state():
    np.testing.assert_allclose(density_mode(np.array([[2.0, -1.0]]), np.array([1.0]), None), [2.0, -1.0])


# --- quantiles ------------------------------------------------------------------------------------------------------

LEVELS = np.array([0.0, 0.01, 0.1, 0.25, 0.5, 0.77, 0.99, 1.0])


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_equal_weights_give_hazens_quantiles(n):
    sample = np.random.default_rng(n).normal(size=n)
    expected = np.quantile(sample, LEVELS, method="hazen")
    np.testing.assert_allclose(quantile(sample, np.full(n, 1 / n), LEVELS), expected, rtol=1e-12)


def test_weights_that_represent_a_density_give_its_quantiles():
    points = np.random.default_rng(0).permutation(np.linspace(-6, 6, 2401))
    weights = stats.norm.pdf(points)
    weights /= weights.sum()
    inner = LEVELS[1:-1]
    np.testing.assert_allclose(quantile(points, weights, inner), stats.norm.ppf(inner), atol=1e-4)


def test_integer_weights_are_repetitions_in_the_limit_of_many():
    column, counts = np.array([1.0, 3.0, 4.0]), np.array([200, 500, 300])
    repeated = np.repeat(column, counts)
    for level in (0.1, 0.45, 0.85):  # the midpoints of the three steps
        assert quantile(column, counts / 1000, np.array([level]))[0] == np.quantile(repeated, level)


def test_signed_weights_use_the_mean_of_the_two_monotone_envelopes():
    rng = np.random.default_rng(5)
    column, weights = rng.normal(size=12), signed_weights(12, rng)
    order = sorted(range(12), key=lambda i: column[i])
    cumulative = [sum(weights[i] for i in order[: k + 1]) - 0.5 * weights[order[k]] for k in range(12)]
    middle = [0.5 * (max(cumulative[: k + 1]) + min(cumulative[k:])) for k in range(12)]
    middle = [min(max(value, 0.0), 1.0) for value in middle]
    assert min(weights) < 0
    for level in (0.05, 0.3, 0.5, 0.8):
        k = max(k for k in range(12) if middle[k] <= level) if middle[0] <= level else None
        if k is None or k == 11:
            expected = column[order[0 if k is None else 11]]
        else:
            share = (level - middle[k]) / (middle[k + 1] - middle[k])
            expected = column[order[k]] + share * (column[order[k + 1]] - column[order[k]])
        assert quantile(column, weights, np.array([level]))[0] == pytest.approx(expected, abs=1e-12)


def test_states_without_weight_do_not_matter():
    column, weights = np.array([0.0, 1.0, 2.0]), np.array([0.3, 0.3, 0.4])
    with_others = quantile(np.append(column, [-100.0, 0.5, 100.0]), np.append(weights, [0.0, 0.0, 0.0]), LEVELS)
    np.testing.assert_allclose(with_others, quantile(column, weights, LEVELS), rtol=1e-14)


@given(seed=st.integers(0, 1000), n=st.integers(1, 15))
def test_quantiles_increase_stay_among_the_states_and_ignore_the_order(seed, n):
    rng = np.random.default_rng(seed)
    column, weights = rng.normal(size=n), signed_weights(n, rng)
    values = quantile(column, weights, LEVELS)
    assert np.all(np.diff(values) >= 0)
    assert values.min() >= column.min()
    assert values.max() <= column.max()
    order = rng.permutation(n)
    np.testing.assert_allclose(quantile(column[order], weights[order], LEVELS), values, rtol=1e-9, atol=1e-9)


# --- pre-image ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_preimage_of_a_gaussian_kernel_minimises_the_distance_over_a_grid(seed):
    rng = np.random.default_rng(seed)
    states, weights = rng.normal(size=(20, 1)), rng.dirichlet(np.ones(20))
    distances = 1.0 - 2.0 * gaussian_matrix(GRID[::4], states, 0.8) @ weights
    found = preimage(Embedding(states, weights, Gaussian(0.8)))
    assert found.shape == (1,)
    assert found[0] == pytest.approx(GRID[::4][np.argmin(distances), 0], abs=4 * STEP)


def test_preimage_in_two_dimensions_with_a_bandwidth_per_column():
    rng = np.random.default_rng(7)
    states, weights = rng.normal(size=(15, 2)), rng.dirichlet(np.ones(15))
    widths = np.array([0.8, 1.5])
    axis = np.linspace(-2, 2, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    values = np.exp(-0.5 * np.sum(((grid[:, None] - states[None]) / widths) ** 2, axis=2)) @ weights
    found = preimage(Embedding(states, weights, Gaussian(widths)))
    np.testing.assert_allclose(found, grid[np.argmax(values)], atol=0.025)


@given(seed=st.integers(0, 1000))
def test_preimage_is_never_worse_than_the_best_state(seed):
    rng = np.random.default_rng(seed)
    states, weights = rng.normal(size=(8, 1)), signed_weights(8, rng)
    found = preimage(Embedding(states, weights, Gaussian(0.5)))
    at_states = gaussian_matrix(states, states, 0.5) @ weights
    assert (gaussian_matrix(found[None], states, 0.5) @ weights)[0] >= at_states.max() - 1e-12


@pytest.mark.parametrize("kernel", [Laplace(1.0), Linear()], ids=repr)
def test_preimage_of_other_kernels_is_the_best_state(kernel):
    rng = np.random.default_rng(8)
    states, weights = rng.normal(size=(10, 2)), rng.dirichlet(np.ones(10))

    def k(a, b):
        return float(kernel(a[None], b[None])[0, 0])

    distances = [k(x, x) - 2.0 * sum(w * k(x, z) for w, z in zip(weights, states, strict=True)) for x in states]
    np.testing.assert_array_equal(preimage(Embedding(states, weights, kernel)), states[int(np.argmin(distances))])


def test_preimage_of_angles_and_objects_is_one_of_the_states():
    angles = np.array([[3.1], [-3.1], [0.0]])
    weights = np.array([0.35, 0.35, 0.3])
    assert abs(preimage(Embedding(angles, weights, Circular(0.5), angles=(0,)))[0]) == 3.1
    assert abs(preimage(Embedding(angles, weights, Gaussian(0.5), angles=(0,)))[0]) == 3.1
    same = FromCallable(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
    assert preimage(Embedding(["a", "b"], np.array([0.4, 0.6]), same)) == "b"
