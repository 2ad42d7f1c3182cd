"""The odometry motion model, against the formulas of the book, and learnt from simulated drives."""

import numpy as np
import pytest
from motion_cases import KnownNormals, simulated

from kmcf.transitions import OdometryMotion


def table_5_6(odometry, pose, alpha, normals):
    """sample_motion_model_odometry, line by line."""
    (bx, by, bt), (ax, ay, at) = odometry
    rot1 = np.arctan2(ay - by, ax - bx) - bt
    trans = np.hypot(bx - ax, by - ay)
    rot2 = at - bt - rot1
    a1, a2, a3, a4 = alpha
    rot1 -= np.sqrt(a1 * rot1**2 + a2 * trans**2) * normals[0]
    noisy_trans = (
        trans - np.sqrt(a3 * trans**2 + a4 * (np.arctan2(ay - by, ax - bx) - bt) ** 2 + a4 * rot2**2) * normals[1]
    )
    noisy_rot2 = rot2 - np.sqrt(a1 * rot2**2 + a2 * trans**2) * normals[2]
    x, y, t = pose
    return [x + noisy_trans * np.cos(t + rot1), y + noisy_trans * np.sin(t + rot1), t + rot1 + noisy_rot2]


@pytest.mark.parametrize("seed", range(5))
def test_odometry_is_table_5_6(seed):
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0.01, 0.2, size=4)
    before = np.array([1.0, 2.0, 0.2])
    after = before + np.array([0.5, 0.3, 0.4])
    poses, normals = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)) * 0.5
    expected = np.array(
        [table_5_6((before, after), pose, alpha, row) for pose, row in zip(poses, normals, strict=True)]
    )
    found = OdometryMotion(*alpha)(poses, [before, after], KnownNormals(normals))
    np.testing.assert_allclose(found[:, :2], expected[:, :2], atol=1e-12)
    np.testing.assert_allclose(np.exp(1j * found[:, 2]), np.exp(1j * expected[:, 2]), atol=1e-12)
    assert np.abs(found[:, 2]).max() <= np.pi


def test_default_noise_is_the_papers():
    assert OdometryMotion().get_params() | {"alpha1": 0.1} == OdometryMotion().get_params()
    assert [OdometryMotion().get_params()[f"alpha{number}"] for number in (1, 2, 3, 4)] == [0.1] * 4


def test_controls_in_all_three_forms():
    exact = OdometryMotion(0, 0, 0, 0)
    before, after = np.array([3.0, 1.0, 0.5]), np.array([3.5, 1.5, 1.0])
    states, rng = np.zeros((1, 3)), np.random.default_rng(0)
    from_poses = exact(states, np.stack([before, after]), rng)
    np.testing.assert_allclose(exact(states, np.concatenate([before, after]), rng), from_poses)
    direction = np.pi / 4 - 0.5
    np.testing.assert_allclose(exact(states, [direction, np.sqrt(0.5), 0.5 - direction], rng), from_poses)


def test_bad_controls_and_states():
    model, states, rng = OdometryMotion(), np.zeros((2, 3)), np.random.default_rng(0)
    with pytest.raises(ValueError, match="needs a control"):
        model(states, None, rng)
    with pytest.raises(ValueError, match="not finite"):
        model(states, [0.0, np.nan, 1.0], rng)
    with pytest.raises(ValueError, match="control has the shape"):
        model(states, [1.0, 2.0, 3.0, 4.0], rng)
    with pytest.raises(ValueError, match="OdometryMotion moves poses"):
        model(np.zeros((2, 2)), [1.0, 0.0, 0.1], rng)
    with pytest.raises(ValueError, match="there is no density"):
        model.log_density(states, states, [0.0] * 3)
    with pytest.raises(ValueError, match=r"alpha2 = -1\.0; it must be finite and not negative"):
        OdometryMotion(alpha2=-1.0)(states, [0.0, 1.0, 0.0], rng)


def drives(length, seed=1):
    rng = np.random.default_rng(seed)
    way = np.where(rng.random(length) < 0.2, 0.0, rng.uniform(0.2, 1.0, size=length))  # a fifth only turns
    return np.stack([rng.normal(scale=0.4, size=length), way, rng.normal(scale=0.4, size=length)], axis=1)


@pytest.mark.parametrize("floors", [(0.0, 0.0), (0.05, 0.03)])
def test_its_noise_is_learnt(floors):
    truth = OdometryMotion(0.05, 0.02, 0.04, 0.01, *floors)
    controls = drives(6000)
    learnt = OdometryMotion().fit(simulated(truth, np.zeros(3), controls), controls).parameters()
    expected = {"alpha1": 0.05, "alpha2": 0.02, "alpha3": 0.04, "alpha4": 0.01}
    for name, value in expected.items():
        assert learnt[name] == pytest.approx(value, rel=0.2), name
    assert learnt["rotation_floor"] == pytest.approx(floors[0], abs=0.02)
    assert learnt["translation_floor"] == pytest.approx(floors[1], abs=0.02)


def test_factors_of_wrong_wheels_are_learnt():
    truth = OdometryMotion(0.01, 0.005, 0.01, 0.005, 0.02, 0.02)
    made = drives(2000)
    measured = made / [0.9, 0.8, 0.9]  # what the odometry claims
    poses = simulated(truth, np.zeros(3), made)
    learnt = OdometryMotion().fit(poses, measured).parameters()
    assert learnt["rotation_factor"] == pytest.approx(0.9, abs=0.02)
    assert learnt["translation_factor"] == pytest.approx(0.8, abs=0.02)
    assert learnt["rotation_floor"] == pytest.approx(0.02, abs=0.01)
    honest = OdometryMotion().fit(poses, made).parameters()
    assert honest["rotation_factor"] == pytest.approx(1.0, abs=0.02)
    assert honest["translation_factor"] == pytest.approx(1.0, abs=0.02)


def test_factors_multiply_what_was_measured():
    exact = OdometryMotion(0, 0, 0, 0, rotation_factor=0.5, translation_factor=2.0)
    reached = exact(np.zeros((1, 3)), [np.pi, 1.0, 0.0], np.random.default_rng(0))
    np.testing.assert_allclose(reached, [[0.0, 2.0, np.pi / 2]], atol=1e-12)
    noisy = OdometryMotion(rotation_factor=0.5, translation_factor=2.0)
    corrected = OdometryMotion()
    pose, seen = np.array([[0.3, 1.1, 0.9]]), np.array([0.4, 0.7, 0.2])
    expected = corrected.log_density(pose, np.zeros((1, 3)), seen * [0.5, 2.0, 0.5])
    np.testing.assert_allclose(noisy.log_density(pose, np.zeros((1, 3)), seen), expected)


def test_a_few_noisy_moves_do_not_make_a_factor():
    truth = OdometryMotion(0.0, 0.0, 0.0, 0.0, 0.2, 0.2)
    controls = drives(12)
    learnt = OdometryMotion().fit(simulated(truth, np.zeros(3), controls), controls).parameters()
    assert learnt["rotation_factor"] == learnt["translation_factor"] == 1.0
