"""What holds for every data set: property-based tests of the filter."""

import numpy as np
import pytest
from any_data import assert_sound, make, push
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kmcf.kernels import Gaussian

COORDINATE = st.floats(-5, 5, allow_subnormal=False)
QUICK = settings(max_examples=40, deadline=None)


@st.composite
def examples(draw, smallest=2):
    n = draw(st.integers(smallest, 12))
    d, e = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=COORDINATE))
    Y = draw(arrays(np.float64, (n, e), elements=COORDINATE))
    ys = draw(arrays(np.float64, (4, e), elements=COORDINATE))
    return X, Y, ys


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
    start = np.zeros((1, X.shape[1]))
    chosen = {"initial": lambda size, rng: np.repeat(start, size, 0), "epsilon": 1e-2, "delta": 1e-3, "reject": True}
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
        "relocate": False,  # which examples are drawn when lost depends on their order
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
