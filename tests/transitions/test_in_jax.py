"""The same motion with JAX arrays and keys, compiled."""

import numpy as np
import pytest

from kmcf.transitions import (
    ConstantVelocity,
    GaussianRandomWalk,
    Jump,
    LinearGaussian,
    Mixture,
    OdometryMotion,
    RecordedMoves,
    VelocityMotion,
)

jax = pytest.importorskip("jax")

CASES = {
    "random-walk": (GaussianRandomWalk([0.2, 0.3, 0.1], angles=[2]), 3, None),
    "constant-velocity": (ConstantVelocity(0.3, step=0.5), 4, None),
    "linear-gaussian": (
        LinearGaussian([[0.9, 0.1], [0.0, 0.5]], [[0.5, 0.2], [0.2, 0.3]], None, [[1.0], [2.0]]),
        2,
        0.7,
    ),
    "odometry": (OdometryMotion(), 3, [0.3, 0.8, -0.2]),
    "odometry from poses": (OdometryMotion(), 3, [[0.0, 0.0, 0.0], [0.3, 0.8, -0.2]]),
    "velocity": (VelocityMotion(), 3, [0.8, 0.4]),
    "recorded-moves": (
        RecordedMoves(
            2,
            noise=[0.1, 0.3, 0.2],
            angles=[2],
            states=[[0.0, 1.0, 3.0], [1.0, 0.0, -3.0], [3.0, 3.0, 0.0]],
            moves=[[0.2, 0.1, 0.1], [0.0, 0.5, 0.2], [1.0, 1.0, 0.3]],
            durations=[1.0, 1.5, 2.0],
        ),
        3,
        None,
    ),
    "jump": (Jump([[0.0, 1.0], [5.0, -1.0]], scale=0.3), 2, None),
    "mixture": (Mixture([GaussianRandomWalk(0.1), Jump([[0.0], [5.0]])], [0.8, 0.2]), 1, None),
}


@pytest.mark.parametrize(("transition", "width", "control"), CASES.values(), ids=CASES)
def test_compiled_draws_have_the_distribution_of_the_numpy_draws(transition, width, control):
    with jax.enable_x64(True):
        states = np.tile(np.random.default_rng(0).normal(size=width), (20_000, 1))
        given = None if control is None else jax.numpy.asarray(control)
        move = jax.jit(transition)
        compiled = move(jax.numpy.asarray(states), given, jax.random.key(0))
        assert isinstance(compiled, jax.Array)
        assert compiled.dtype == np.float64
        assert not np.array_equal(compiled, move(jax.numpy.asarray(states), given, jax.random.key(1)))
        compiled = np.asarray(compiled)
        plain = transition(states, control, np.random.default_rng(0))
    spread = plain.std(axis=0)
    np.testing.assert_array_less(np.abs(compiled.mean(axis=0) - plain.mean(axis=0)), 6 * spread / np.sqrt(10_000))
    np.testing.assert_allclose(compiled.std(axis=0), spread, rtol=0.05)


def test_without_noise_both_libraries_move_alike():
    with jax.enable_x64(True):
        states = np.random.default_rng(0).normal(size=(5, 3))
        for exact, control in (
            (OdometryMotion(0, 0, 0, 0), [0.3, 0.8, -0.2]),
            (VelocityMotion(0, 0, 0, 0, 0, 0), [0.8, 0.4]),
        ):
            compiled = jax.jit(exact)(states, jax.numpy.asarray(control), jax.random.key(0))
            np.testing.assert_allclose(compiled, exact(states, control, np.random.default_rng(0)), atol=1e-12)


@pytest.mark.parametrize(
    "name", ["random-walk", "constant-velocity", "linear-gaussian", "odometry", "recorded-moves", "mixture"]
)
def test_times_are_taken_alike(name):
    transition, width, control = CASES[name]
    with jax.enable_x64(True):
        states = np.tile(np.random.default_rng(0).normal(size=width), (20_000, 1))
        given = None if control is None else jax.numpy.asarray(control)
        compiled = np.asarray(jax.jit(transition)(jax.numpy.asarray(states), given, jax.random.key(0), elapsed=3.2))
    plain = transition(states, control, np.random.default_rng(0), elapsed=3.2)
    spread = plain.std(axis=0)
    np.testing.assert_array_less(np.abs(compiled.mean(axis=0) - plain.mean(axis=0)), 6 * spread / np.sqrt(10_000))
    np.testing.assert_allclose(compiled.std(axis=0), spread, rtol=0.05)
