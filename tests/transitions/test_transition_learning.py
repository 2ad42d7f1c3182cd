"""Parameters learnt from simulated sequences are those that simulated them."""

import numpy as np
import pytest

from kmcf.datasets import Recording
from kmcf.transitions import (
    ConstantVelocity,
    GaussianRandomWalk,
    Jump,
    LinearGaussian,
    Mixture,
    OdometryMotion,
    VelocityMotion,
    lagged,
    with_velocities,
)
from kmcf.transitions.estimation import second_moments, variance_weights


def simulated(transition, start, controls, seed=0, length=None):
    rng = np.random.default_rng(seed)
    states = [np.asarray(start, dtype=float)]
    for t in range(1, length or len(controls)):
        states.append(transition(states[-1][None], None if controls is None else controls[t], rng)[0])
    return np.array(states)


def drives(length, seed=1):
    rng = np.random.default_rng(seed)
    way = np.where(rng.random(length) < 0.2, 0.0, rng.uniform(0.2, 1.0, size=length))  # a fifth only turns
    return np.stack([rng.normal(scale=0.4, size=length), way, rng.normal(scale=0.4, size=length)], axis=1)


def test_random_walk():
    walk = GaussianRandomWalk([0.5, 0.1], angles=[1])
    states = simulated(walk, [0, 3.1], None, length=4000)
    assert np.abs(states[:, 1]).max() <= np.pi
    learnt = GaussianRandomWalk(angles=[1]).fit(states).scale_
    np.testing.assert_allclose(learnt, [0.5, 0.1], rtol=0.05)


def test_constant_velocity():
    learnt = ConstantVelocity(step=0.5).fit(
        simulated(ConstantVelocity([0.3, 0.7], step=0.5), np.zeros(4), None, length=3000)
    )
    np.testing.assert_allclose(learnt.diffusion_, [0.3, 0.7], rtol=0.05)


def test_constant_velocity_with_times_as_controls():
    times = np.random.default_rng(0).uniform(0.1, 2.0, size=(3000, 1))
    states = simulated(ConstantVelocity(0.4, step=None), np.zeros(2), times)
    np.testing.assert_allclose(ConstantVelocity(step=None).fit(states, times).diffusion_, 0.4, rtol=0.05)
    with pytest.raises(ValueError, match="learns from states and controls"):
        ConstantVelocity(step=None).fit(states)


def test_constant_velocity_is_a_kalman_model():
    """Mean and covariance of the draws against the textbook matrices."""
    h, q = 0.7, 0.5
    draws = ConstantVelocity(q, step=h)(np.tile([1.0, 2.0], (200_000, 1)), None, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(axis=0), [1 + h * 2, 2], atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), q**2 * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]]), rtol=0.02)


def test_linear_gaussian():
    truth = LinearGaussian([[0.9, 0.2], [-0.1, 0.7]], [[0.5, 0.2], [0.2, 0.3]], [1.0, -1.0], [[1.0], [2.0]])
    controls = np.random.default_rng(0).normal(size=5000)
    states = simulated(truth, [0, 0], controls)
    learnt = LinearGaussian().fit(states, controls)
    np.testing.assert_allclose(learnt.matrix_, truth.matrix, atol=0.03)
    np.testing.assert_allclose(learnt.offset_, truth.offset, atol=0.1)
    np.testing.assert_allclose(learnt.control_matrix_, truth.control_matrix, atol=0.03)
    np.testing.assert_allclose(learnt.covariance_, truth.covariance, atol=0.03)
    only_noise = LinearGaussian(truth.matrix, None, truth.offset, truth.control_matrix).fit(states, controls)
    assert not hasattr(only_noise, "matrix_")
    np.testing.assert_allclose(only_noise.covariance_, truth.covariance, atol=0.03)


def test_autoregression():
    truth = LinearGaussian.autoregressive([0.6, -0.3, 0.2], scale=0.5)
    series = simulated(truth, np.zeros(3), None, length=6000)[:, 0]
    learnt = LinearGaussian().fit(lagged(series, 3))
    np.testing.assert_allclose(learnt.matrix_, truth.matrix, atol=0.05)
    np.testing.assert_allclose(learnt.covariance_, truth.covariance, atol=0.02)
    with pytest.raises(ValueError, match="singular"):
        truth.log_density(np.zeros((1, 3)), np.zeros((1, 3)))


@pytest.mark.parametrize("floors", [(0.0, 0.0), (0.05, 0.03)])
def test_odometry(floors):
    truth = OdometryMotion(0.05, 0.02, 0.04, 0.01, *floors)
    controls = drives(6000)
    learnt = OdometryMotion().fit(simulated(truth, np.zeros(3), controls), controls).parameters()
    expected = {"alpha1": 0.05, "alpha2": 0.02, "alpha3": 0.04, "alpha4": 0.01}
    for name, value in expected.items():
        assert learnt[name] == pytest.approx(value, rel=0.2), name
    assert learnt["rotation_floor"] == pytest.approx(floors[0], abs=0.02)
    assert learnt["translation_floor"] == pytest.approx(floors[1], abs=0.02)


def test_velocity():
    truth = VelocityMotion(0.05, 0.02, 0.03, 0.04, 0.01, 0.02, step=0.5, rotation_floor=0.05, translation_floor=0.02)
    rng = np.random.default_rng(2)
    controls = np.stack([rng.uniform(-0.3, 1.0, size=8000), rng.normal(scale=0.7, size=8000)], axis=1)
    learnt = VelocityMotion(step=0.5).fit(simulated(truth, np.zeros(3), controls), controls).parameters()
    for name in ("alpha1", "alpha2", "alpha3", "alpha4", "alpha5", "alpha6"):
        assert learnt[name] == pytest.approx(truth.get_params()[name], rel=0.3), name
    assert learnt["rotation_floor"] == pytest.approx(0.05, abs=0.02)


def test_mixture():
    truth = Mixture([GaussianRandomWalk(0.2), Jump([[0.0], [20.0]], scale=1.0)], [0.9, 0.1])
    states = simulated(truth, [0.0], None, length=5000)
    guess = Mixture([GaussianRandomWalk(1.0), Jump([[0.0], [20.0]], scale=1.0)], [0.5, 0.5]).fit(states)
    np.testing.assert_allclose(guess.probabilities_, [0.9, 0.1], atol=0.02)
    np.testing.assert_allclose(guess.transitions_[0].scale_, 0.2, rtol=0.1)
    assert guess.transitions[0].scale == 1.0


def test_trimming_ignores_outliers_and_keeps_the_scale():
    rng = np.random.default_rng(0)
    steps = rng.normal(scale=0.5, size=(5000, 1))
    clean = np.cumsum(steps, axis=0)
    steps[::50] += 100.0  # 2 %
    spoilt = np.cumsum(steps, axis=0)
    assert GaussianRandomWalk().fit(spoilt).scale_[0] > 5
    assert GaussianRandomWalk().fit(spoilt, trim=0.05).scale_[0] == pytest.approx(0.5, rel=0.12)
    assert GaussianRandomWalk().fit(clean, trim=0.05).scale_[0] == pytest.approx(0.5, rel=0.05)


def test_trimmed_moments_of_a_normal_sample_are_unbiased():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    sample = np.random.default_rng(0).multivariate_normal([0, 0], covariance, size=20_000)
    np.testing.assert_allclose(second_moments(sample, 0.2)[0], covariance, atol=0.08)


def test_variance_weights_are_the_likeliest():
    """Against a brute-force search over a grid."""
    rng = np.random.default_rng(0)
    design = rng.uniform(size=(300, 2))
    squares = rng.normal(size=300) ** 2 * (design @ [0.5, 2.0])

    def cost(weights):
        variances = design @ weights
        return np.sum(np.log(variances) + squares / variances)

    best = cost(variance_weights(design, squares))
    assert (
        best <= min(cost(np.array([a, b])) for a in np.linspace(0.05, 2, 40) for b in np.linspace(0.05, 5, 60)) + 1e-6
    )
    np.testing.assert_array_equal(variance_weights(np.zeros((4, 2)), np.zeros(4)), 0)


def test_unknown_states_and_controls_are_left_out():
    states = np.array([[0.0], [1.0], [np.nan], [5.0], [6.0]])
    assert GaussianRandomWalk().fit([states, states]).scale_[0] == pytest.approx(1.0)
    recording = Recording("r", np.arange(5.0), states, states, np.array([0, np.nan, 0, 0, 1.0]))
    learnt = LinearGaussian(matrix=[[1.0]], offset=[0.0]).fit([recording, recording])
    assert learnt.control_matrix_[0, 0] == pytest.approx(1.0)  # the one move that is known: 5 to 6, driven by 1


def test_bad_sequences():
    with pytest.raises(ValueError, match="no two successive known states"):
        GaussianRandomWalk().fit(np.array([[1.0], [np.nan], [2.0]]))
    with pytest.raises(ValueError, match="different widths"):
        GaussianRandomWalk().fit([np.zeros((3, 1)), np.zeros((3, 2))])
    with pytest.raises(ValueError, match="3 states but 2 controls"):
        OdometryMotion().fit(np.zeros((3, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="1 sequences but 2 sequences of controls"):
        OdometryMotion().fit([np.zeros((3, 3))], [np.zeros((3, 3))] * 2)
    with pytest.raises(ValueError, match="learns from states and controls"):
        OdometryMotion().fit(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"trim = 0\.7"):
        GaussianRandomWalk().fit(np.zeros((3, 1)), trim=0.7)
    with pytest.raises(ValueError, match="too few to learn 3 coefficients"):
        LinearGaussian().fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="at least two positions, but got 1"):
        with_velocities([1.0])
