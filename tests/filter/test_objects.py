"""Kernels of all kinds, and states and observations that are any objects."""

import numpy as np
import pytest
from any_data import assert_sound, make
from kernels_by_hand import gaussian, matrix
from sklearn.gaussian_process.kernels import RBF

from kmcf.kernels import Constant, Gaussian, Laplace, Linear, Matern

# --- kernels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.8),
        Laplace(),
        Matern(nu=2.5),
        Gaussian(0.5) + 0.1 * Linear(),
        Gaussian(0.5) * Matern(nu=0.5) + Constant(0.1),
        RBF(0.8),
        lambda A, B: matrix(gaussian(0.8), A, B),
    ],
    ids=["gaussian", "laplace", "matern", "sum", "product", "scikit-learn", "callable"],
)
def test_any_kernel_on_states_and_observations(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    Y = X + 0.2 * rng.normal(size=X.shape)
    run = make(state_kernel=kernel, observation_kernel=kernel).fit(X, Y).filter([0.5] * 5)
    assert_sound(run)
    assert abs(run.mean[-1, 0] - 0.5) < 0.35


def test_the_same_kernel_in_four_spellings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    Y = X + 0.2 * rng.normal(size=(30, 2))
    ys = Y[:6] + 0.1
    spellings = [Gaussian(0.8), RBF(0.8), lambda A, B: matrix(gaussian(0.8), A, B)]
    means = [make(observation_kernel=kernel, engine="exact").fit(X, Y).filter(ys).mean for kernel in spellings]
    G, rows = matrix(gaussian(0.8), Y, Y), matrix(gaussian(0.8), ys, Y)
    means.append(make(observation_kernel="precomputed", engine="exact").fit(X, G).filter(rows).mean)
    for mean in means[1:]:
        np.testing.assert_allclose(mean, means[0], atol=1e-7)


def test_precomputed_batches_and_gaps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1))
    G, rows = matrix(gaussian(0.8), X, X), matrix(gaussian(0.8), X[:6] + 0.1, X)
    flt = make(observation_kernel="precomputed").fit(X, G)
    assert flt.filter(rows.reshape(2, 3, 20)).mean.shape == (2, 3, 1)
    rows[1] = np.nan
    np.testing.assert_array_equal(flt.filter(rows).missing, [False, True, False, False, False, False])


# --- objects ----------------------------------------------------------------------------------------------------------


def same(A, B):
    """A kernel on arbitrary objects: 1 where they are equal, 0.2 otherwise."""
    return np.array([[1.0 if a == b else 0.2 for b in B] for a in A])


def test_objects_as_observations():
    """Two words, one per side: hearing one moves the belief to its side."""
    X = np.linspace(-2, 2, 21)[:, None]
    words = ["left" if x < 0 else "right" for x in X[:, 0]]
    flt = make(observation_kernel=same).fit(X, words)
    run = flt.filter(["left", "left", None, "right", "right"])
    assert_sound(run)
    assert run.mean[1, 0] < -0.4
    assert run.mean[4, 0] > 0.1
    np.testing.assert_array_equal(run.missing, [False, False, True, False, False])
    assert flt.step(flt.start(), float("nan")).report.missing


def test_ragged_arrays_as_observations():
    """Bags of points of different sizes, compared by a callable; an all-NaN bag is missing."""

    def mean_kernel(A, B):
        return np.array([[np.exp(-((np.mean(a) - np.mean(b)) ** 2)) for b in B] for a in A])

    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(40, 1))
    bags = [x + 0.2 * rng.normal(size=rng.integers(2, 6)) for x in X[:, 0]]
    run = (
        make(observation_kernel=mean_kernel).fit(X, bags).filter([np.array([1.0, 1.1]), np.full(3, np.nan), np.ones(4)])
    )
    np.testing.assert_array_equal(run.missing, [False, True, False])
    assert abs(run.mean[2, 0] - 1.0) < 0.4


ROOMS = ["kitchen", "hall", "study"]


def rooms():
    """A restless walk over three rooms, observed by a noisy number."""
    rng = np.random.default_rng(0)
    states = [ROOMS[i] for i in rng.integers(3, size=45)]
    observations = np.array([3.0 * ROOMS.index(room) for room in states]) + 0.3 * rng.normal(size=45)

    def wander(states, control, rng):
        return [room if rng.uniform() < 0.3 else ROOMS[int(rng.integers(3))] for room in states]

    return make(wander, state_kernel=same).fit(states, observations)


def test_objects_as_states():
    flt = rooms()
    run = flt.filter([0.0, 3.0, None, 6.1])
    assert run.mode[0] == "kitchen"
    assert run.mode[1] == "hall"
    assert run.mode[3] == "study"
    belief = run[3]
    assert belief.weights.sum() == pytest.approx(1.0)
    assert belief.probability(lambda rooms: [room == "study" for room in rooms]) > 0.8
    assert len(belief.states) == 45
    assert set(belief.sample(10)) <= set(ROOMS)
    for name in ("mean", "covariance"):
        with pytest.raises(TypeError, match=f"objects, for which no {name} is defined"):
            getattr(run, name)
    with pytest.raises(TypeError, match="no mean, covariance, density or quantile"):
        belief.mean()


def test_batches_of_object_states():
    flt = rooms()
    run = flt.filter(np.array([[0.0, 3.0], [6.0, 0.1]]))
    assert [list(modes) for modes in run.mode] == [["kitchen", "hall"], ["study", "kitchen"]]
    assert run.ess.shape == (2, 2)


def test_states_of_unequal_size():
    """States that are paths: tuples of different lengths."""
    paths = [("a",), ("a", "b"), ("a", "b", "c")] * 5
    lengths = np.array([len(path) for path in paths], dtype=float)
    flt = make(lambda s, u, rng: s, state_kernel=same).fit(paths, lengths)
    run = flt.filter([1.0, 3.0])
    assert run.mode == [("a",), ("a", "b", "c")]
    batch = flt.filter(np.array([[1.0, 1.0], [3.0, 3.0]]))
    assert batch.mode[1][0] == ("a", "b", "c")
