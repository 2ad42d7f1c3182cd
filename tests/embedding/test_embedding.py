import numpy as np
import pytest
from embeddings import gaussian_quadrature, signed_weights
from herding_by_hand import algorithm_4
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix
from scipy import stats

from kmcf.embedding.embedding import Embedding
from kmcf.kernels import FromCallable, Gaussian


def random_embedding(seed, n=12, d=3, kernel=None):
    rng = np.random.default_rng(seed)
    return Embedding(rng.normal(size=(n, d)), signed_weights(n, rng), kernel)


SAME = FromCallable(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
WORDS = Embedding(["left", "right", "stay"], np.array([0.5, 0.8, -0.3]), SAME)


# --- moments --------------------------------------------------------------------------------------------------------


def test_moments_are_weighted_sums():
    belief = random_embedding(0)
    pairs = list(zip(belief.weights, belief.states, strict=True))
    mean = sum(w * x for w, x in pairs)
    np.testing.assert_allclose(belief.mean(), mean, rtol=1e-12)
    np.testing.assert_allclose(belief.covariance(), sum(w * np.outer(x - mean, x - mean) for w, x in pairs), rtol=1e-10)
    np.testing.assert_allclose(belief.second_moment(), sum(w * np.outer(x, x) for w, x in pairs), rtol=1e-10)
    np.testing.assert_allclose(belief.covariance(), belief.second_moment() - np.outer(mean, mean), rtol=1e-9)


def test_covariance_equals_numpy_for_positive_weights():
    rng = np.random.default_rng(1)
    states, weights = rng.normal(size=(20, 2)), rng.dirichlet(np.ones(20))
    expected = np.cov(states.T, aweights=weights, ddof=0)
    np.testing.assert_allclose(Embedding(states, weights).covariance(), expected, rtol=1e-12)


@pytest.mark.parametrize("psd", [False, True])
def test_moments_of_a_normal_distribution(psd):
    belief = Embedding(*gaussian_quadrature(1.5, 0.7))
    np.testing.assert_allclose(belief.mean(), [1.5], rtol=1e-12)
    np.testing.assert_allclose(belief.covariance(psd=psd), [[0.49]], rtol=1e-10)
    np.testing.assert_allclose(belief.second_moment(), [[0.49 + 2.25]], rtol=1e-10)


@given(seed=st.integers(0, 1000))
def test_psd_covariance_is_the_projection_on_the_positive_semidefinite_matrices(seed):
    belief = random_embedding(seed, n=6)
    raw, projected = belief.covariance(), belief.covariance(psd=True)
    scale = np.abs(raw).max()
    # Moreau: P ⪰ 0, P − C ⪰ 0 and ⟨P, P − C⟩ = 0 characterise the projection P of C
    assert np.linalg.eigvalsh(projected).min() >= -1e-12 * scale
    assert np.linalg.eigvalsh(projected - raw).min() >= -1e-12 * scale
    assert abs(np.sum(projected * (projected - raw))) <= 1e-11 * scale**2


def test_signed_weights_can_make_the_covariance_indefinite():
    belief = Embedding(np.array([[0.0], [1.0], [-1.0]]), np.array([2.0, -0.5, -0.5]))
    np.testing.assert_allclose(belief.covariance(), [[-1.0]])
    np.testing.assert_allclose(belief.covariance(psd=True), [[0.0]])


def test_states_with_several_axes_keep_their_shape():
    rng = np.random.default_rng(2)
    states, weights = rng.normal(size=(10, 2, 3)), rng.dirichlet(np.ones(10))
    belief = Embedding(states, weights)
    np.testing.assert_allclose(belief.mean(), np.average(states, axis=0, weights=weights), rtol=1e-12)
    expected = np.cov(states.reshape(10, 6).T, aweights=weights, ddof=0)
    np.testing.assert_allclose(belief.covariance(), expected, rtol=1e-10)
    assert belief.mode("density").shape == (2, 3)
    assert belief.density(states[0]).shape == (1,)


def test_effective_sample_size_and_negative_mass():
    assert Embedding(np.zeros((8, 1)), np.full(8, 1 / 8)).ess == pytest.approx(8.0)
    assert Embedding(np.zeros((3, 1)), np.array([1.0, 0.0, 0.0])).ess == 1.0
    signed = Embedding(np.zeros((4, 1)), np.array([1.0, 0.5, -0.3, -0.2]))
    assert signed.ess == pytest.approx(1.0 / (1.0 + 0.25 + 0.09 + 0.04))
    assert signed.negative_mass == pytest.approx(0.5)
    assert Embedding(np.zeros((2, 1)), np.array([0.5, 0.5])).negative_mass == 0.0


@given(seed=st.integers(0, 1000))
def test_permuting_the_sample_changes_nothing(seed):
    belief = random_embedding(seed, n=9, d=2, kernel=Gaussian(1.0))
    order = np.random.default_rng(seed).permutation(9)
    same = Embedding(belief.states[order], belief.weights[order], Gaussian(1.0))
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(same.mean(), belief.mean(), **close)
    np.testing.assert_allclose(same.covariance(), belief.covariance(), **close)
    np.testing.assert_allclose(same.quantile([0.1, 0.9]), belief.quantile([0.1, 0.9]), **close)
    np.testing.assert_allclose(same.density(belief.states, 0.5), belief.density(belief.states, 0.5), **close)
    np.testing.assert_array_equal(same.mode(), belief.mode())
    assert same.ess == pytest.approx(belief.ess)
    assert same.distance(belief) == pytest.approx(0.0, abs=1e-7)


# --- expectation and probability ------------------------------------------------------------------------------------


def test_expectation_of_scalars_and_matrices():
    belief = random_embedding(3)
    pairs = list(zip(belief.weights, belief.states, strict=True))
    scalar = belief.expectation(lambda x: np.exp(x[:, 0]))
    assert scalar == pytest.approx(sum(w * np.exp(x[0]) for w, x in pairs))
    matrix = belief.expectation(lambda x: x[:, :, None] * x[:, None, :])
    np.testing.assert_allclose(matrix, sum(w * np.outer(x, x) for w, x in pairs), rtol=1e-10)


def test_expectation_of_a_kernel_function_is_the_inner_product_with_it():
    belief = random_embedding(4, d=2, kernel=Gaussian(0.9))
    point = np.array([[0.3, -0.2]])
    inner = belief.expectation(lambda x: gaussian_matrix(x, point, 0.9)[:, 0])
    assert belief.evaluate(point)[0] == pytest.approx(float(inner), rel=1e-12)


@pytest.mark.parametrize("function", [lambda x: 1.0, lambda x: np.ones(5), lambda x: x.T])
def test_expectation_needs_one_value_per_state(function):
    with pytest.raises(ValueError, match="one value per state: an array whose first axis has length 12, not shape"):
        random_embedding(0).expectation(function)


def test_probability_of_a_function_and_of_the_same_box_agree():
    belief = random_embedding(5, d=2)
    lower, upper = [-1.0, -0.5], [0.5, 2.0]
    expected = sum(
        w
        for w, x in zip(belief.weights, belief.states, strict=True)
        if lower[0] <= x[0] <= upper[0] and lower[1] <= x[1] <= upper[1]
    )
    assert belief.probability((lower, upper)) == pytest.approx(expected)
    assert belief.probability(lambda x: np.all((x >= lower) & (x <= upper), axis=1)) == pytest.approx(expected)


def test_box_with_scalars_infinite_bounds_and_edges():
    belief = Embedding(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 5.0]]), np.array([0.2, 0.3, 0.5]))
    assert belief.probability((0.0, 1.0)) == pytest.approx(0.5)
    assert belief.probability((-np.inf, np.inf)) == pytest.approx(1.0)
    assert belief.probability(([-np.inf, 4.0], 10.0)) == pytest.approx(0.5)


def test_probabilities_of_signed_weights_are_returned_as_computed():
    assert WORDS.probability(lambda words: np.array([w == "stay" for w in words])) == pytest.approx(-0.3)


def test_bad_regions_are_errors():
    belief = random_embedding(0, d=2)
    with pytest.raises(
        ValueError, match=r"one boolean per state, shape \(12,\), but returned an array of shape \(12, 2\)"
    ):
        belief.probability(lambda x: x > 0)
    with pytest.raises(TypeError, match=r"a region is a function .* or a box"):
        belief.probability(0.5)
    with pytest.raises(TypeError, match=r"a region is a function .* or a box"):
        belief.probability((0.0, 1.0, 2.0))
    with pytest.raises(ValueError, match="box of 3 lower and 1 upper bounds does not match states with 2 columns"):
        belief.probability(([0.0, 0.0, 0.0], 1.0))


# --- density, mode, quantiles through the embedding -----------------------------------------------------------------


@pytest.mark.parametrize("points", [0.5, [0.5], [[0.5]], [0.5, 1.0], [[0.5], [1.0]]], ids=repr)
def test_points_of_one_dimensional_densities_may_be_scalars_vectors_or_columns(points):
    belief = Embedding(np.array([[0.0], [1.0]]), np.array([0.3, 0.7]))
    expected = [0.3 * stats.norm.pdf(p, 0, 0.4) + 0.7 * stats.norm.pdf(p, 1, 0.4) for p in np.ravel(points)]
    np.testing.assert_allclose(belief.density(points, bandwidth=0.4), expected, rtol=1e-12)


def test_a_single_point_of_a_plane():
    belief = Embedding(np.array([[0.0, 1.0]]), np.array([1.0]))
    expected = stats.norm.pdf(0.5) * stats.norm.pdf(1.0)
    np.testing.assert_allclose(belief.density([0.5, 2.0], bandwidth=1.0), [expected], rtol=1e-12)
    np.testing.assert_allclose(belief.density([[0.5, 2.0], [0.5, 0.0]], bandwidth=1.0), [expected] * 2, rtol=1e-12)


@pytest.mark.parametrize("points", [0.5, [0.5, 1.0, 2.0], np.zeros((4, 3))], ids=repr)
def test_points_of_the_wrong_dimension_are_an_error(points):
    with pytest.raises(ValueError, match="do not match states with 2 columns"):
        random_embedding(0, d=2).density(points)


def test_mode_by_weight_is_the_state_with_the_largest_weight():
    belief = Embedding(np.array([[1.0], [2.0], [3.0]]), np.array([0.6, 0.9, -0.5]))
    np.testing.assert_array_equal(belief.mode(), [2.0])
    assert WORDS.mode() == "right"


@pytest.mark.parametrize("seed", range(5))
def test_mode_by_weight_maximises_the_density_as_its_smoothing_vanishes(seed):
    belief = random_embedding(seed, d=2)
    np.testing.assert_allclose(belief.mode("density", bandwidth=1e-3), belief.mode(), atol=1e-6)


def test_the_density_decides_between_states_of_equal_weight():
    rng = np.random.default_rng(0)
    states = np.concatenate([rng.uniform(-20, 20, size=(100, 1)), rng.normal(7.0, 0.5, size=(900, 1))])
    particles = Embedding(states, np.full(1000, 1e-3))
    density = stats.gaussian_kde(states[:, 0])
    assert density(particles.mode())[0] > 0.98 * density(np.linspace(-20, 20, 4001)).max()
    assert Embedding(["left", "right", "stay", "right"], np.full(4, 0.25), SAME).mode() == "right"
    assert Embedding(["left", "right", "stay", "right"], np.full(4, 0.25)).mode() == "left"
    turned = Embedding(np.array([[0.0], [3.1], [-3.1], [3.0]]), np.full(4, 0.25), angles=(0,))
    assert abs(turned.mode()[0]) >= 3.0


def test_mode_by_density_is_the_top_of_the_smoothed_density():
    states = np.array([[0.0], [5.0], [5.4], [5.8]])
    belief = Embedding(states, np.array([0.4, 0.2, 0.2, 0.2]))
    np.testing.assert_array_equal(belief.mode(), [0.0])
    np.testing.assert_allclose(belief.mode("density", bandwidth=0.5), [5.4], atol=1e-3)


def test_unknown_mode_is_an_error():
    with pytest.raises(ValueError, match="method = 'mean'; it must be 'weight' or 'density'"):
        random_embedding(0).mode("mean")


def test_quantiles_have_the_shape_of_the_levels():
    rng = np.random.default_rng(6)
    sample = rng.normal(size=(25, 2))
    weights = np.full(25, 1 / 25)
    flat = Embedding(sample[:, :1], weights)
    assert isinstance(flat.quantile(0.3), float)
    assert flat.quantile(0.3) == pytest.approx(np.quantile(sample[:, 0], 0.3, method="hazen"))
    levels = np.array([[0.1, 0.5], [0.9, 0.6]])
    np.testing.assert_allclose(flat.quantile(levels), np.quantile(sample[:, 0], levels, method="hazen"))
    expected = np.stack([np.quantile(sample[:, j], levels, method="hazen") for j in range(2)], axis=-1)
    np.testing.assert_allclose(Embedding(sample, weights).quantile(levels), expected)
    np.testing.assert_allclose(Embedding(sample, weights).quantile(0.5), np.median(sample, axis=0))


@pytest.mark.parametrize("q", [-0.1, 1.1, [0.5, 2.0], np.nan])
def test_levels_outside_the_unit_interval_are_an_error(q):
    with pytest.raises(ValueError, match="quantile levels lie between 0 and 1"):
        random_embedding(0).quantile(q)


# --- angles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heading", [0.0, np.pi - 0.05, -np.pi + 0.02, 3.0])
def test_statistics_of_angles_do_not_see_the_seam(heading):
    rng = np.random.default_rng(7)
    position, deviation = rng.normal(size=200), 0.3 * rng.normal(size=200)
    position += 2.0 * deviation
    weights = rng.dirichlet(np.ones(200))
    wrapped = np.angle(np.exp(1j * (heading + deviation)))
    belief = Embedding(np.stack([position, wrapped], axis=1), weights, angles=(1,))
    turn = np.angle(np.sum(weights * np.exp(1j * deviation)))
    mean = belief.mean()
    assert mean[0] == pytest.approx(weights @ position)
    assert np.exp(1j * mean[1]) == pytest.approx(np.exp(1j * (heading + turn)), abs=1e-12)
    assert -np.pi <= mean[1] <= np.pi
    centred = np.stack([position - weights @ position, deviation - turn], axis=1)
    np.testing.assert_allclose(belief.covariance(), (centred * weights[:, None]).T @ centred, rtol=1e-9)
    straight = Embedding(np.stack([position, deviation], axis=1), weights)
    levels = [0.1, 0.5, 0.9]
    quantiles, expected = belief.quantile(levels), straight.quantile(levels)
    np.testing.assert_allclose(quantiles[:, 0], expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(np.exp(1j * quantiles[:, 1]), np.exp(1j * (heading + expected[:, 1])), atol=1e-9)
    assert np.all(np.diff(quantiles[:, 1]) > 0)


def test_deviations_are_wrapped_in_the_angle_columns_only():
    belief = Embedding(np.array([[4.0, 3.0], [-4.0, -3.0]]), np.array([0.5, 0.5]), angles=(1,))
    deviations = belief.deviations(np.array([-4.0, 3.0]))
    np.testing.assert_allclose(deviations, [[8.0, 0.0], [0.0, 2 * np.pi - 6.0]], atol=1e-12)


def test_reading_statistics_does_not_change_the_states():
    states = np.array([[3.0], [-3.0], [2.9]])
    belief = Embedding(states.copy(), np.array([0.3, 0.3, 0.4]), Gaussian(1.0), angles=(0,))
    belief.mean(), belief.covariance(), belief.quantile(0.5), belief.density(0.0), belief.mode("density")
    belief.preimage(), belief.sample(4), belief.deviations(np.array([1.0]))
    np.testing.assert_array_equal(belief.states, states)


# --- samples, objects, the rest -------------------------------------------------------------------------------------


def test_samples_are_the_herded_states_in_random_order():
    belief = random_embedding(8, n=10, d=1, kernel=Gaussian(0.7))

    def k(a, b):
        return float(np.exp(-0.5 * np.sum((a - b) ** 2) / 0.49))

    def mean(z):
        return sum(w * k(z, x) for w, x in zip(belief.weights, belief.states, strict=True))

    picks = algorithm_4(mean, k, belief.states, 30)
    drawn = belief.sample(30, random_state=1)
    assert drawn.shape == (30, 1)
    np.testing.assert_array_equal(np.sort(drawn[:, 0]), np.sort(belief.states[picks, 0]))
    np.testing.assert_array_equal(drawn, belief.sample(30, random_state=1))
    assert not np.array_equal(drawn, belief.sample(30, random_state=2))


def test_object_states_have_modes_probabilities_expectations_and_samples():
    assert WORDS.expectation(lambda words: [len(w) for w in words]) == pytest.approx(0.5 * 4 + 0.8 * 5 - 0.3 * 4)
    assert WORDS.preimage() == "right"
    assert WORDS.squared_norm() == pytest.approx(0.25 + 0.64 + 0.09)
    assert set(WORDS.sample(6)) == {"left", "right"}


@pytest.mark.parametrize("method", ["mean", "covariance", "second_moment"])
def test_object_states_have_no_moments(method):
    with pytest.raises(TypeError, match=r"a list of 3 objects \(str\), for which no mean.*use mode\(\)"):
        getattr(WORDS, method)()


def test_object_states_have_no_density_or_quantiles_or_boxes():
    for ask in (lambda: WORDS.density(0.0), lambda: WORDS.quantile(0.5), lambda: WORDS.probability((0.0, 1.0))):
        with pytest.raises(TypeError, match="for which no mean, covariance, density or quantile is defined"):
            ask()
    with pytest.raises(TypeError, match="a list of 3 objects"):
        WORDS.mode("density")


def test_as_many_weights_as_states():
    with pytest.raises(ValueError, match="3 states but 2 weights"):
        Embedding(np.zeros((3, 1)), np.array([0.5, 0.5]))


def test_length_and_representation():
    belief = Embedding(np.zeros((4, 1)), np.full(4, 0.25))
    assert len(belief) == 4
    assert repr(belief) == "Embedding(4 states, effective sample size 4.0)"


def test_without_a_kernel_what_needs_one_is_an_error():
    belief = random_embedding(0)
    assert belief.kernel is None
    for ask in (belief.squared_norm, belief.preimage, lambda: belief.sample(3), lambda: belief.distance(belief)):
        with pytest.raises(ValueError, match="made without a kernel"):
            ask()


def test_what_is_no_function_or_no_number_is_refused():
    embedding = random_embedding(0)
    with pytest.raises(TypeError, match="expectation takes a function of the states, not 3"):
        embedding.expectation(3)
    with pytest.raises(ValueError, match="size = 0; it must be a positive integer"):
        embedding.sample(0)
