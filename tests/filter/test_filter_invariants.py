"""What holds for every data set: property-based tests of the filter."""

import numpy as np
import pytest
from filter_oracles import gaussian, matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.gaussian_process.kernels import RBF

import kmcf
from kmcf.kernels import Constant, Gaussian, Laplace, Linear, Matern

COORDINATE = st.floats(-5, 5, allow_subnormal=False)
QUICK = settings(max_examples=40, deadline=None)


def push(states, control, rng):
    return 0.9 * states + 0.5 * rng.normal(size=states.shape)


def make(transition=push, **chosen):
    return kmcf.KernelMonteCarloFilter(transition, random_state=0, **chosen)


def same(A, B):
    """A kernel on arbitrary objects: 1 where they are equal, 0.2 otherwise."""
    return np.array([[1.0 if a == b else 0.2 for b in B] for a in A])


@st.composite
def examples(draw, smallest=2):
    n = draw(st.integers(smallest, 12))
    d, e = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=COORDINATE))
    Y = draw(arrays(np.float64, (n, e), elements=COORDINATE))
    ys = draw(arrays(np.float64, (4, e), elements=COORDINATE))
    return X, Y, ys


def assert_sound(run):
    """Weights sum to one; nothing is NaN that need not be."""
    for belief in run:
        assert belief.weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert np.isfinite(belief.weights).all()
        assert np.isfinite(belief.states).all()
    for name in ("mean", "covariance", "mode", "ess", "negative_mass", "state_coverage"):
        assert np.isfinite(getattr(run, name)).all(), name
    corrected = ~(run.missing | run.rejected)
    assert np.isfinite(run.weight_sum[corrected]).all()
    assert np.isnan(run.weight_sum[~corrected]).all()
    assert ((run.coverage >= 0) & (run.coverage <= 1)).all()
    assert (run.ess > 0).all()
    assert (run.negative_mass >= 0).all()
    assert not (run.herding_loss < 0).any()


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
@pytest.mark.parametrize("rule", ["kbr", "importance"])
@pytest.mark.parametrize("engine", ["literal", "exact"])
@given(
    data=examples(), resampling=st.sampled_from(["herding", "multinomial", "none"]), missing=st.sets(st.integers(0, 3))
)
@QUICK
def test_weights_sum_to_one_and_everything_is_finite(rule, engine, data, resampling, missing):
    X, Y, ys = data
    ys = [None if t in missing else y for t, y in enumerate(ys)]
    assert_sound(make(rule=rule, engine=engine, resampling=resampling, reject=True).fit(X, Y).filter(ys))


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
@given(data=examples(smallest=3))
@QUICK
def test_engines_agree_on_one_step(data):
    """One step from given particles, where no flip of an argmax can add up."""
    X, Y, ys = data
    chosen = {"initial": lambda size, rng: np.zeros((size, X.shape[1])), "epsilon": 1e-2, "delta": 1e-3}
    literal, exact = (make(engine=engine, **chosen).fit(X, Y) for engine in ("literal", "exact"))
    a, b = (flt.step(flt.start(), ys[0]) for flt in (literal, exact))
    if abs(a.report.weight_sum) > 0.01 and not a.report.rejected:
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-6)


@pytest.mark.parametrize("resampling", ["herding", "none"])
@pytest.mark.parametrize("rule", ["kbr", "importance"])
def test_permuting_the_examples_changes_nothing(rule, resampling):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = X + 0.3 * rng.normal(size=X.shape)
    ys = rng.normal(size=(12, 2))
    order = rng.permutation(60)
    chosen = {
        "rule": rule,
        "resampling": resampling,
        "engine": "exact",
        "initial": lambda size, rng: rng.normal(size=(size, 2)),
        "n_resample": 20,
        "resample_threshold": 0,
    }
    # With weighted propagation particle i is example i, so only a transition without noise is free of the order.
    move = push if resampling == "herding" else lambda s, u, rng: 0.9 * s
    plain = make(move, **chosen).fit(X, Y).filter(ys)
    shuffled = make(move, **chosen).fit(X[order], Y[order]).filter(ys)
    np.testing.assert_allclose(shuffled.mean, plain.mean, atol=1e-8)
    np.testing.assert_allclose(shuffled.covariance, plain.covariance, atol=1e-8)
    np.testing.assert_allclose(shuffled.ess, plain.ess, rtol=1e-6)
    for a, b in zip(plain, shuffled, strict=True):
        np.testing.assert_allclose(b.weights, a.weights[order], atol=1e-8)


@given(order=st.permutations(list(range(15))), y=st.floats(-2, 2))
@QUICK
def test_permuting_the_examples_changes_nothing_in_a_step(order, y):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(15, 1))
    Y = X + 0.3 * rng.normal(size=X.shape)
    chosen = {"initial": lambda size, rng: rng.normal(size=(size, 1)), "engine": "exact"}
    plain = make(**chosen).fit(X, Y)
    shuffled = make(**chosen).fit(X[order], Y[order])
    a, b = plain.step(plain.start(), y), shuffled.step(shuffled.start(), y)
    np.testing.assert_allclose(b.weights, a.weights[order], atol=1e-8)


# --- duplicates and constants -----------------------------------------------------------------------------------------

DEGENERATE = {
    "every example twice": lambda X, Y: (np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)),
    "one example many times": lambda X, Y: (np.repeat(X[:1], 10, axis=0), np.repeat(Y[:1], 10, axis=0)),
    "constant states": lambda X, Y: (np.ones_like(X), Y),
    "constant observations": lambda X, Y: (X, np.ones_like(Y)),
    "all zero": lambda X, Y: (np.zeros_like(X), np.zeros_like(Y)),
    "mostly one value": lambda X, Y: (np.where(np.arange(len(X))[:, None] > 3, 0.0, X), Y),
    "two examples": lambda X, Y: (X[:2], Y[:2]),
    "huge": lambda X, Y: (1e8 * X, 1e12 * Y),
    "tiny": lambda X, Y: (1e-8 * X, 1e-12 * Y),
    "far from the origin": lambda X, Y: (X + 1e6, Y - 1e6),
}


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
@pytest.mark.parametrize("change", DEGENERATE.values(), ids=DEGENERATE.keys())
@pytest.mark.parametrize("rule", ["kbr", "importance"])
@pytest.mark.parametrize("engine", ["literal", "exact"])
def test_degenerate_examples_work(change, rule, engine):
    rng = np.random.default_rng(0)
    X, Y = change(rng.normal(size=(12, 2)), rng.normal(size=(12, 2)))
    run = make(lambda s, u, rng: s, rule=rule, engine=engine).fit(X, Y).filter(np.concatenate([Y[:4], Y[:4] * 1.001]))
    assert_sound(run)
    assert not run.rejected[:4].any()


def test_constant_observations_teach_nothing():
    """The posterior is the prior: its mean is the mean of the (given) particles, up to regularisation."""
    X = np.linspace(-3, 3, 40)
    prior = np.random.default_rng(0).normal(0.5, 0.7, size=(40, 1))
    flt = make(initial=lambda size, rng: prior, epsilon=1e-6, state_kernel=Gaussian(1.0)).fit(X, np.ones(40))
    belief = flt.step(flt.start(), 1.0)
    assert abs(belief.mean()[0] - prior.mean()) < 0.02
    assert abs(belief.covariance()[0, 0] - prior.var()) < 0.05


def test_every_example_twice_is_as_every_example_once():
    """With G_X, G_Y doubled in multiplicity the weights halve, so means agree: n epsilon counts both copies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1))
    Y = X + 0.3 * rng.normal(size=X.shape)
    chosen = {
        "initial": lambda size, rng: np.linspace(-2, 2, size)[:, None],
        "n_particles": 20,
        "engine": "exact",
        "state_kernel": Gaussian(0.5),
        "observation_kernel": Gaussian(0.5),
    }
    once, twice = make(**chosen).fit(X, Y), make(**chosen).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    a, b = once.step(once.start(), 0.3), twice.step(twice.start(), 0.3)
    np.testing.assert_allclose(b.weights[:20] + b.weights[20:], a.weights, atol=1e-7)


# --- kernels of all kinds ---------------------------------------------------------------------------------------------


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
