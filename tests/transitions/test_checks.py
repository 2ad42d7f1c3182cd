"""A transition that cannot be called as the filter calls it, or whose noise is a guess, is noticed at fit."""

import numpy as np
import pytest

import kmcf
from kmcf.transitions import ConstantVelocity, GaussianRandomWalk, LinearGaussian, Mixture, with_velocities

X = np.random.default_rng(0).normal(size=(20, 2))


def fit(transition, **settings):
    return kmcf.KernelMonteCarloFilter(transition, random_state=0, **settings).fit(X, X)


@pytest.mark.parametrize(
    ("transition", "sentence"),
    [
        (lambda states: states, r"transition\(states, control, rng\), but it takes \(states\)"),
        (lambda states, rng: states, r"but it takes \(states, rng\)"),
        (lambda a, b, c, d: a, r"but it takes \(a, b, c, d\)"),
        (GaussianRandomWalk, r"is the class GaussianRandomWalk; pass an object of it"),
        (3, r"must be a function \(states, control, rng\) -> states, not 3"),
        (GaussianRandomWalk(scale="big"), "GaussianRandomWalk has scale = 'big'; it must be a number"),
        (Mixture([GaussianRandomWalk(1.0, step="1")], [1.0]), "has step = '1'; it must be a number or None"),
    ],
)
def test_what_cannot_move_states(transition, sentence):
    with pytest.raises(TypeError, match=sentence):
        fit(transition)


def test_initial_is_checked_too():
    with pytest.raises(TypeError, match=r"initial\(size, rng\), but it takes \(rng\)"):
        fit(GaussianRandomWalk(1.0), initial=lambda rng: X)


def test_callables_of_any_make_are_accepted():
    class Moves:
        def __call__(self, states, control, rng, **further):
            return states

    fit(Moves())
    fit(lambda *everything, **named: everything[0])
    fit(lambda states, control, rng, *, elapsed: states)


@pytest.mark.parametrize(
    ("guess", "name"),
    [
        (GaussianRandomWalk(), "scale"),
        (ConstantVelocity(), "diffusion"),
        (Mixture([GaussianRandomWalk(), GaussianRandomWalk(2.0)], [0.5, 0.5]), "scale"),
    ],
)
def test_a_guessed_noise_is_told(guess, name):
    with pytest.warns(kmcf.GuessedMotionWarning, match=f"{name} .* neither given nor learnt"):
        fit(guess)


@pytest.mark.filterwarnings("error::kmcf.GuessedMotionWarning")
def test_a_noise_that_was_given_or_learnt_is_not(tmp_path):
    for known in (GaussianRandomWalk(1.0), GaussianRandomWalk().fit(X), GaussianRandomWalk().set_params(scale=1.0)):
        fit(known).save(tmp_path / "m.kmcf")
        fit(kmcf.load(tmp_path / "m.kmcf").transition)
    fit(ConstantVelocity(0.5))
    fit(LinearGaussian().fit(X))


def test_positions_do_not_pass_for_velocities():
    """Two coordinates of a walk are no position and velocity; one coordinate with its own velocity is."""
    walk = np.cumsum(np.random.default_rng(1).normal(size=(200, 2)), axis=0)
    with pytest.raises(ValueError, match="column 1 of the states is not the velocity of column 0"):
        ConstantVelocity().fit(walk)
    smooth = np.cumsum(walk, axis=0)
    for column in range(2):
        ConstantVelocity().fit(with_velocities(smooth[:, column]))
        ConstantVelocity().fit(with_velocities(walk[:, column]))  # a poor model of a random walk, but velocities
    with pytest.raises(ValueError, match="not the velocity"):
        ConstantVelocity(step=0.001).fit(
            with_velocities(smooth[:, 0], step=1.0) * [1.0, 3.6e5]
        )  # km/h for m/s, and so on
