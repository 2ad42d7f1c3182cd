"""Kernel Herding against the algorithms as printed, explicit distances and the paper's numbers."""

import numpy as np
import pytest
from embeddings import gaussian_inner, signed_weights
from herding_by_hand import algorithm_4
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian, gaussian_matrix
from weighted_points import WeightedPoints

from kmcf.embedding.embedding import Embedding
from kmcf.herding.herding import Herd, herd, herd_embedding, resampling_loss
from kmcf.herding.resampling import multinomial
from kmcf.kernels import FromCallable, Gaussian, Kernel

k = gaussian(0.6)


def kernel_mean(states, weights):
    return lambda z: sum(w * k(z, x) for w, x in zip(weights, states, strict=True))


def explicit_loss(picked, states, weights):
    """‖(1/ℓ) Σ k(·, picked_j) − Σ w_i k(·, X_i)‖ from the kernel matrix of all points together."""
    points = np.vstack([picked, states])
    coefficients = np.concatenate([np.full(len(picked), 1.0 / len(picked)), -weights])
    return np.sqrt(max(coefficients @ gaussian_matrix(points, points, 0.6) @ coefficients, 0.0))


# --- Algorithms 2 and 4 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 25, 60])
def test_picks_are_those_of_algorithm_2(size, d, signed):
    rng = np.random.default_rng(size + d)
    states = rng.normal(size=(25, d))
    weights = signed_weights(25, rng) if signed else rng.dirichlet(np.ones(25))
    result = herd_embedding(Embedding(states, weights, Gaussian(0.6)), size)
    assert result.indices.tolist() == algorithm_4(kernel_mean(states, weights), k, states, size)
    assert result.loss == pytest.approx(explicit_loss(states[result.indices], states, weights), abs=1e-7)


@pytest.mark.parametrize("candidate_count", [1, 7, 40])
def test_picks_from_other_candidates_are_those_of_algorithm_4(candidate_count):
    rng = np.random.default_rng(candidate_count)
    states, weights = rng.normal(size=(15, 2)), signed_weights(15, rng)
    candidates = rng.normal(size=(candidate_count, 2))
    result = herd_embedding(Embedding(states, weights, Gaussian(0.6)), 20, candidates)
    assert result.indices.tolist() == algorithm_4(kernel_mean(states, weights), k, candidates, 20)
    assert result.loss == pytest.approx(explicit_loss(candidates[result.indices], states, weights), abs=1e-7)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), size=st.integers(1, 20))
def test_every_pick_maximises_the_greedy_objective(seed, n, size):
    rng = np.random.default_rng(seed)
    gram = gaussian_matrix(rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), 1.0)
    gram = gram @ gram.T
    weights = signed_weights(n, rng)
    mean = gram @ weights
    result = herd(mean, gram, size, float(weights @ mean))
    for p in range(1, size + 1):
        objective = mean - gram[:, result.indices[: p - 1]].sum(axis=1) / p
        assert objective[result.indices[p - 1]] >= objective.max() - 1e-9 * np.abs(gram).max()
    difference = np.bincount(result.indices, minlength=n) / size - weights
    assert result.loss**2 == pytest.approx(difference @ gram @ difference, abs=1e-9 * np.abs(gram).max())


def test_equal_weights_on_separate_points_pick_each_once():
    states = 100.0 * np.arange(6.0)[:, None]
    result = herd_embedding(Embedding(states, np.full(6, 1 / 6), Gaussian(1.0)), 6)
    assert sorted(result.indices.tolist()) == list(range(6))
    assert result.loss == pytest.approx(0.0, abs=1e-7)


def test_repetitions_follow_the_weights():
    states = 100.0 * np.arange(3.0)[:, None]
    result = herd_embedding(Embedding(states, np.array([0.5, 0.3, 0.2]), Gaussian(1.0)), 10)
    assert np.bincount(result.indices).tolist() == [5, 3, 2]


def test_loss_falls_faster_than_that_of_random_samples():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(300, 1))
    belief = Embedding(states, np.full(300, 1 / 300), Gaussian(1.0))
    losses = [herd_embedding(belief, size).loss for size in (10, 40, 160)]
    assert losses[0] > 3 * losses[1] > 9 * losses[2]  # 1/ℓ would give 4 × each, random samples 2 ×


def test_inputs_are_not_modified():
    gram, weights = np.eye(4) + 0.1, np.array([0.4, 0.3, 0.2, 0.1])
    mean = gram @ weights
    before = mean.copy()
    herd(mean, gram, 5, 1.0)
    np.testing.assert_array_equal(mean, before)
    np.testing.assert_array_equal(gram, np.eye(4) + 0.1)


def test_objects_can_be_herded():
    same = FromCallable(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
    belief = Embedding(["a", "b", "c"], np.array([0.25, 0.75, 0.0]), same)
    assert np.bincount(herd_embedding(belief, 4).indices).tolist() == [1, 3]
    assert herd_embedding(belief, 2, candidates=["c", "a"]).indices.tolist() == [1, 0]


class SharedEntries(Kernel):
    """Number of common entries of two lists: a kernel for which a list of lists is not a table."""

    structured = True

    def prepare(self, objects):
        assert isinstance(objects, list)
        return objects

    def evaluate(self, a, b):
        return np.array([[float(len(set(x) & set(y))) for y in b] for x in a])


def test_candidates_of_structured_kernels_stay_objects():
    belief = Embedding([[1, 2], [3, 4]], np.array([0.2, 0.8]), SharedEntries())
    assert herd_embedding(belief, 1, candidates=[[1, 9], [3, 9], [4, 3]]).indices.tolist() == [2]


# --- the resampler --------------------------------------------------------------------------------------------------


def points_with(weights):
    places = np.arange(float(len(weights)))[:, None]
    return WeightedPoints(np.array(weights), gaussian_matrix(places, places, 0.6))


@pytest.mark.parametrize(("points", "particles", "asked"), [(3, 10, 3), (10, 3, 3), (4, 4, 4), (1, 100, 1)])
def test_the_resampler_herds_its_points_but_no_more_than_particles(points, particles, asked):
    posterior = points_with([0.7, -0.2, 0.4, 0.1, 0.0])
    resampled = Herd(points)(posterior, particles, None)  # no random numbers: herding is deterministic
    assert posterior.sizes == [asked]
    expected = posterior.herd(asked)
    np.testing.assert_array_equal(resampled.indices, expected.indices)
    assert resampled.loss == expected.loss


def test_the_resampler_herds_only_where_weights_are_uneven():
    even, pointed = [0.25] * 4, [0.9, 0.1, 0.0, 0.0]
    for weights, threshold, herded in (
        (even, 0.0, True),
        (even, 1.0, False),
        (even, 0.9, True),
        (pointed, 2.0, True),
        (pointed, 3.28 - 1e-9, True),  # n Σw² = 4 (0.81 + 0.01)
        (pointed, 3.28 + 1e-9, False),
        (pointed, np.inf, False),
    ):
        posterior = points_with(weights)
        resampled = Herd(2, threshold)(posterior, 8, None)
        assert (resampled.indices is not None) == herded == bool(posterior.sizes)
        assert np.isnan(resampled.loss) != herded


def test_a_resampler_that_always_herds_asks_for_no_weights():
    """The compressed engine would have to form them."""

    class Unformed(WeightedPoints):
        def herd(self, size):
            return "picks", size

    assert Herd(3)(Unformed(None), 8, None) == ("picks", 3)


@pytest.mark.parametrize("size", [0, -3])
def test_at_least_one_point_must_be_picked(size):
    with pytest.raises(ValueError, match=f"size = {size}; at least one"):
        herd_embedding(Embedding(np.zeros((2, 1)), np.array([0.5, 0.5]), Gaussian(1.0)), size)


def test_herding_needs_a_kernel():
    with pytest.raises(ValueError, match="without a kernel"):
        herd_embedding(Embedding(np.zeros((2, 1)), np.array([0.5, 0.5])), 2)


# --- what resampling loses ---------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), n=st.integers(1, 10), size=st.integers(1, 15))
def test_resampling_loss_is_the_explicit_norm(seed, n, size):
    rng = np.random.default_rng(seed)
    states, weights = rng.normal(size=(n, 2)), signed_weights(n, rng)
    indices = rng.integers(n, size=size)
    loss = resampling_loss(indices, weights, gaussian_matrix(states, states, 0.6))
    assert loss == pytest.approx(explicit_loss(states[indices], states, weights), abs=1e-6)


# --- the demonstration of Section 6.1 -------------------------------------------------------------------------------


def squared_error(points, weights, variance, gamma):
    """‖Σ w_i k(·, x_i) − m‖² for m the kernel mean of N(0, variance)."""
    gram = gaussian_inner(points, 0.0, points.T, 0.0, gamma)
    mean = gaussian_inner(points[:, 0], 0.0, 0.0, variance, gamma)
    return weights @ gram @ weights - 2.0 * weights @ mean + gaussian_inner(0.0, variance, 0.0, variance, gamma)


@pytest.fixture(scope="module")
def section_6_1():
    """Median errors over seeds with σ_P = σ_cond = γ = 0.1, n = 100, A = 1, λ = 1e-6."""
    gamma, variance, n, equal = 0.1, 0.01, 100, np.full(100, 0.01)
    errors = {name: [] for name in ("given P", "herded P", "truncated P", "given Q", "herded Q", "truncated Q")}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        states = rng.uniform(-1.0, 1.0, size=(n, 1))
        mean = gaussian_inner(states[:, 0], 0.0, 0.0, variance, gamma)
        weights = np.linalg.solve(gaussian_inner(states, 0.0, states.T, 0.0, gamma) + 1e-6 * np.eye(n), mean)
        weights /= weights.sum()
        herded = states[herd_embedding(Embedding(states, weights, Gaussian(gamma)), n).indices]
        truncated = states[multinomial(weights, n, rng)]
        for name, points, w in (("given", states, weights), ("herded", herded, equal), ("truncated", truncated, equal)):
            moved = points + 0.1 * rng.normal(size=points.shape)
            errors[f"{name} P"].append(squared_error(points, w, variance, gamma))
            errors[f"{name} Q"].append(squared_error(moved, w, 2 * variance, gamma))
    return {name: float(np.median(values)) for name, values in errors.items()}


def test_herding_error_has_the_size_the_paper_reports(section_6_1):
    assert section_6_1["given P"] < 1e-7  # paper: 8.49e-10
    assert 1e-5 < section_6_1["herded P"] < 1.5e-4  # paper: 4.74e-5


def test_truncated_multinomial_resampling_is_far_worse(section_6_1):
    assert section_6_1["truncated P"] > 10 * section_6_1["herded P"]  # paper: 0.0538


def test_herding_makes_the_prediction_step_more_accurate(section_6_1):
    assert section_6_1["herded Q"] < 0.02  # paper: 0.00827
    assert section_6_1["given Q"] > 3 * section_6_1["herded Q"]  # paper: 0.125
    assert section_6_1["truncated Q"] > section_6_1["herded Q"]
