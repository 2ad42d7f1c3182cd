import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian, Learned


def literal_algorithm_6(K, size):
    """Algorithm 6 as printed, with the full joint kernel matrix."""
    n, chosen, errors = len(K), [], []
    for r in range(1, size + 1):
        scores = [K[i].mean() - K[i, chosen].sum() / r if i not in chosen else -np.inf for i in range(n)]
        chosen.append(int(np.argmax(scores)))
        difference = np.bincount(chosen, minlength=n) / r - 1 / n
        errors.append(np.sqrt(difference @ K @ difference))
    return chosen, errors


@pytest.fixture
def examples():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(60, 2))
    return states, states @ rng.normal(size=(2, 3)) + 0.2 * rng.normal(size=(60, 3))


def test_it_is_algorithm_6(examples):
    states, observations = examples
    kernels = {"state_kernel": Gaussian(0.8), "observation_kernel": Gaussian(1.3)}
    K = Gaussian(0.8)(states) * Gaussian(1.3)(observations)
    chosen, errors = literal_algorithm_6(K, 60)
    found = kmcf.subsample(states, observations, 60, **kernels)
    np.testing.assert_array_equal(found.indices[:40], chosen[:40])
    np.testing.assert_allclose(found.errors[:40], errors[:40], atol=1e-7)
    assert sorted(found.indices) == list(range(60))
    assert found.error == pytest.approx(0.0, abs=1e-7)


def test_blocks_do_not_matter(examples, monkeypatch):
    whole = kmcf.subsample(*examples, 20)
    monkeypatch.setattr("kmcf.herding.subsampling.BLOCK_NUMBERS", 130)
    np.testing.assert_array_equal(kmcf.subsample(*examples, 20).indices, whole.indices)


def test_size_by_error_threshold(examples):
    found = kmcf.subsample(*examples, error=0.05)
    assert found.error <= 0.05
    assert np.all(found.errors[:-1] > 0.05)
    assert len(kmcf.subsample(*examples, 3, error=1e-9).indices) == 3


def test_herded_examples_represent_better_than_random_ones(examples):
    states, observations = examples
    kernels = {"state_kernel": Gaussian(0.8), "observation_kernel": Gaussian(1.3)}
    K = Gaussian(0.8)(states) * Gaussian(1.3)(observations)
    rng = np.random.default_rng(1)
    random_errors = []
    for _ in range(20):
        d = np.bincount(rng.choice(60, 15, replace=False), minlength=60) / 15 - 1 / 60
        random_errors.append(np.sqrt(d @ K @ d))
    assert kmcf.subsample(states, observations, 15, **kernels).error < min(random_errors)


@pytest.mark.parametrize(
    ("model", "steepest", "flattest"), [("1a", -1.05, -0.8), ("2a", -0.9, -0.7), ("3a", -0.7, -0.55)]
)
def test_the_error_falls_faster_than_that_of_random_examples_and_slower_where_observations_are_many_numbers(
    model, steepest, flattest
):
    """Appendix C.2: like 1/r only for finite-dimensional RKHSs. Random choices without repetition are known exactly:
    E ‖m̄ − m̂‖² = (1/r − 1/n) n/(n − 1) (mean of k(z, z) − ‖m̂‖²)."""
    n, sizes = 1000, np.array([10, 20, 50, 100, 200])
    data = paper_model(model).simulate(n, random_state=0)
    kernels = Gaussian(multiplier=0.5).fit(data.states), Gaussian(multiplier=0.7).fit(data.observations)
    K = kernels[0](data.states) * kernels[1](data.observations)
    random = np.sqrt((1 / sizes - 1 / n) * n / (n - 1) * (np.diag(K).mean() - K.mean()))
    found = kmcf.subsample(
        data.states, data.observations, 200, state_kernel=kernels[0], observation_kernel=kernels[1]
    ).errors[sizes - 1]
    slope = np.polyfit(np.log(sizes), np.log(found), 1)[0]
    assert steepest < slope < flattest
    assert slope < np.polyfit(np.log(sizes), np.log(random), 1)[0] - 0.02
    assert (found < 0.65 * random).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "say how many"),
        ({"size": 0}, "between 1 and"),
        ({"size": 61}, "between 1 and"),
        ({"error": -1.0}, "positive"),
    ],
)
def test_bad_requests_get_a_sentence(examples, arguments, message):
    with pytest.raises(ValueError, match=message):
        kmcf.subsample(*examples, **arguments)


def test_unequal_lengths_get_a_sentence(examples):
    with pytest.raises(ValueError, match="60 states but 59 observations"):
        kmcf.subsample(examples[0], examples[1][:-1], 5)


def test_learnt_kernels_learn_from_the_states(examples):
    states, observations = examples
    found = kmcf.subsample(states, observations, 10, observation_kernel=Learned())
    fitted = Learned().fit(observations, states)
    given = kmcf.subsample(states, fitted(observations), 10, observation_kernel="precomputed")
    np.testing.assert_array_equal(found.indices, given.indices)
