"""The velocity motion model, against the formulas of the book, and learnt from simulated drives."""

import numpy as np
import pytest
from motion_cases import KnownNormals, simulated

from kmcf.transitions import VelocityMotion


def table_5_3(control, pose, alpha, h, normals):
    """sample_motion_model_velocity, line by line."""
    v, w = control
    v_hat = v + np.sqrt(alpha[0] * v**2 + alpha[1] * w**2) * normals[0]
    w_hat = w + np.sqrt(alpha[2] * v**2 + alpha[3] * w**2) * normals[1]
    g_hat = np.sqrt(alpha[4] * v**2 + alpha[5] * w**2) * normals[2]
    x, y, t = pose
    return [
        x - v_hat / w_hat * np.sin(t) + v_hat / w_hat * np.sin(t + w_hat * h),
        y + v_hat / w_hat * np.cos(t) - v_hat / w_hat * np.cos(t + w_hat * h),
        t + w_hat * h + g_hat * h,
    ]


@pytest.mark.parametrize("seed", range(5))
def test_velocity_is_table_5_3(seed):
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0.01, 0.2, size=6)
    poses, normals, control = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), [0.7, -0.4]
    expected = np.array([table_5_3(control, p, alpha, 0.5, row) for p, row in zip(poses, normals, strict=True)])
    for found in (
        VelocityMotion(*alpha, step=0.5)(poses, control, KnownNormals(normals)),
        VelocityMotion(*alpha)(poses, [*control, 0.5], KnownNormals(normals)),
    ):
        np.testing.assert_allclose(found[:, :2], expected[:, :2], atol=1e-12)
        np.testing.assert_allclose(np.exp(1j * found[:, 2]), np.exp(1j * expected[:, 2]), atol=1e-12)


def test_driving_straight_needs_no_turn():
    exact = VelocityMotion(0, 0, 0, 0, 0, 0)
    np.testing.assert_allclose(exact(np.zeros((1, 3)), [2.0, 0.0], np.random.default_rng(0)), [[2, 0, 0]])


def test_bad_controls_and_states():
    model, states, rng = VelocityMotion(), np.zeros((2, 3)), np.random.default_rng(0)
    with pytest.raises(ValueError, match="needs a control"):
        model(states, None, rng)
    with pytest.raises(ValueError, match="not finite"):
        model(states, [0.0, np.nan, 1.0], rng)
    with pytest.raises(ValueError, match="control has the shape"):
        model(states, [1.0, 2.0, 3.0, 4.0], rng)
    with pytest.raises(ValueError, match="VelocityMotion moves poses"):
        model(np.zeros((2, 2)), [1.0, 0.0, 0.1], rng)
    with pytest.raises(ValueError, match="there is no density"):
        model.log_density(states, states, [0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="times must be positive"):
        model(states, [1.0, 0.0, 0.0], rng)


@pytest.mark.slow
def test_its_noise_is_learnt():
    truth = VelocityMotion(0.05, 0.02, 0.03, 0.04, 0.01, 0.02, step=0.5, rotation_floor=0.05, translation_floor=0.02)
    rng = np.random.default_rng(2)
    controls = np.stack([rng.uniform(-0.3, 1.0, size=8000), rng.normal(scale=0.7, size=8000)], axis=1)
    learnt = VelocityMotion(step=0.5).fit(simulated(truth, np.zeros(3), controls), controls).parameters()
    for name in ("alpha1", "alpha2", "alpha3", "alpha4", "alpha5", "alpha6"):
        assert learnt[name] == pytest.approx(truth.get_params()[name], rel=0.3), name
    assert learnt["rotation_floor"] == pytest.approx(0.05, abs=0.02)
