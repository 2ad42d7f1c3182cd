"""What all ready-made transitions promise."""

import json

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.base import clone

import kmcf
from kmcf import transitions
from kmcf.transitions import (
    ConstantVelocity,
    GaussianRandomWalk,
    Jump,
    LinearGaussian,
    Mixture,
    OdometryMotion,
    RecordedMoves,
    VelocityMotion,
    from_dict,
    named,
    with_recovery,
)

CASES = {
    "random-walk": (GaussianRandomWalk([0.2, 0.4, 0.1], angles=[2]), 3, None),
    "constant-velocity": (ConstantVelocity([0.3, 0.6], step=0.5), 4, None),
    "linear-gaussian": (
        LinearGaussian([[0.9, 0.1], [0.0, 0.5]], [[0.5, 0.2], [0.2, 0.3]], [1.0, 0.0], [[1.0], [2.0]]),
        2,
        [0.7],
    ),
    "odometry": (OdometryMotion(0.02, 0.01, 0.03, 0.02, 0.05, 0.02), 3, [0.3, 0.8, -0.2]),
    "velocity": (VelocityMotion(0.02, 0.01, 0.01, 0.02, 0.005, 0.01, rotation_floor=0.1), 3, [0.8, 0.4]),
    "recorded-moves": (
        RecordedMoves(
            2, noise=[0.4, 0.3], states=[[0.0, 1.0], [1.0, 0.0], [3.0, 3.0]], moves=[[0.2, 0.1], [0.0, 0.5], [1.0, 1.0]]
        ),
        2,
        None,
    ),
    "jump": (Jump([[0.0, 1.0], [1.0, 0.0]], scale=0.7), 2, None),
    "mixture": (Mixture([GaussianRandomWalk(0.1), Jump([[0.0], [5.0]], scale=0.5)], [0.8, 0.2]), 1, None),
}
every = pytest.mark.parametrize(("transition", "width", "control"), CASES.values(), ids=CASES)


def test_all_classes_are_covered_here():
    assert set(CASES) == set(transitions.CLASSES)


@every
def test_states_are_moved_not_changed(transition, width, control):
    states = np.random.default_rng(0).normal(size=(7, width))
    before = states.copy()
    one = transition(states, control, np.random.default_rng(1))
    two = transition(states, control, np.random.default_rng(1))
    assert one.shape == (7, width)
    assert one.dtype == np.float64
    np.testing.assert_array_equal(states, before)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, transition(states, control, np.random.default_rng(2)))


@every
def test_storing_and_restoring(transition, width, control):
    restored = from_dict(json.loads(json.dumps(transition.to_dict())))
    assert type(restored) is type(transition)
    states = np.random.default_rng(0).normal(size=(5, width))
    for copy in (restored, clone(transition)):
        np.testing.assert_array_equal(
            copy(states, control, np.random.default_rng(1)), transition(states, control, np.random.default_rng(1))
        )
    assert repr(transition).startswith(type(transition).__name__)


@every
def test_densities_are_those_of_the_draws(transition, width, control):
    """E[1/p(x')] over draws in a box where the density is not small is the box's volume, whatever p is."""
    previous = np.tile(np.random.default_rng(3).normal(size=width), (200_000, 1))
    draws = transition(previous, control, np.random.default_rng(4))
    low, high = np.quantile(draws, [0.3, 0.7], axis=0)
    inside = np.all((draws > low) & (draws < high), axis=1)
    log = transition.log_density(draws[inside], previous[inside], control)
    terms = np.zeros(len(draws))
    terms[inside] = np.exp(-log)
    error = terms.std() / np.sqrt(len(terms))
    assert terms.mean() == pytest.approx(np.prod(high - low), abs=6 * error + 0.02 * np.prod(high - low))


def test_a_density_integrates_to_one():
    grid = np.linspace(-20, 25, 20_001)[:, None]
    mixture = CASES["mixture"][0]
    density = np.exp(mixture.log_density(grid, np.full_like(grid, 2.0)))
    assert trapezoid(density, grid[:, 0]) == pytest.approx(1.0, abs=1e-6)


def test_learnt_parameters_survive_cloning_and_give_way_to_new_ones():
    sequence = np.cumsum(np.random.default_rng(0).normal(scale=3.0, size=500))
    walk = GaussianRandomWalk().fit(sequence)
    assert walk.scale == 1.0
    assert walk.parameters()["scale"][0] == pytest.approx(3.0, rel=0.1)
    flt = clone(kmcf.KernelMonteCarloFilter(walk))
    assert flt.transition.parameters()["scale"] == walk.scale_
    flt.set_params(transition__scale=7.0)
    assert flt.transition.parameters()["scale"] == 7.0
    assert from_dict(walk.to_dict()).scale == walk.scale_.tolist()


def test_a_filter_runs_with_a_transition_that_recovers():
    rng = np.random.default_rng(0)
    states = rng.uniform(-3, 3, size=(80, 1))
    motion = with_recovery(GaussianRandomWalk(0.1), states, probability=0.05)
    flt = kmcf.KernelMonteCarloFilter(motion, random_state=0).fit(states, states + 0.1 * rng.normal(size=(80, 1)))
    run = flt.filter(np.array([-2.0] * 5 + [2.0] * 5)[:, None])
    assert run.mean[4, 0] == pytest.approx(-2, abs=0.5)
    assert run.mean[9, 0] == pytest.approx(2, abs=0.5)


def test_bad_names_and_bad_rng():
    with pytest.raises(ValueError, match="unknown transition 'teleport'"):
        named("teleport")
    with pytest.raises(ValueError, match="no parameter 'sigma'; it has scale, angles"):
        named("random-walk", sigma=1.0)
    with pytest.raises(ValueError, match="has no name"):
        from_dict({"scale": 1.0})
    with pytest.raises(TypeError, match=r"must be a numpy.random.Generator or a JAX key"):
        GaussianRandomWalk()(np.zeros((2, 1)), None, 0)
    with pytest.raises(TypeError, match="cannot store"):
        Mixture([GaussianRandomWalk(), lambda states, control, rng: states], [0.5, 0.5]).to_dict()
