import numpy as np
import pytest

from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.poses import moved
from kmcf_lab.localize.building import Building, Camera, FloorPlan, Space, simulated_building
from kmcf_lab.localize.building.drive import ROBOT_RADIUS, drive_lap, smooth_route

BUILDING = Building()
SMALL = {"building": BUILDING, "camera": Camera(width=32, height=24)}


def test_a_lap_is_smooth_closed_and_never_in_a_wall():
    for seed in range(5):
        time, poses = drive_lap(BUILDING.plan, BUILDING.route, 0.4, 0.2, np.random.default_rng(seed))
        assert BUILDING.plan.clearance(poses[:, :2]).min() > ROBOT_RADIUS / 2
        steps = np.linalg.norm(np.diff(poses[:, :2], axis=0), axis=1)
        assert steps.max() < 0.4 * 0.2 * 2.5
        assert 300 < time[-1] < 480
        assert np.linalg.norm(poses[-1, :2] - poses[0, :2]) < 0.5
        directions = np.arctan2(*np.diff(poses[:, :2], axis=0).T[::-1])
        off = wrapped_difference(poses[:-1, 2] - directions)
        assert 0.01 < off.std() < 0.1  # the heading follows the path, with a wobble
        assert steps.std() / steps.mean() > 0.1  # the speed varies


def driven(start, motions):
    poses = [np.asarray(start)]
    for motion in motions:
        poses.append(moved(poses[-1], motion))
    return np.array(poses)


def test_odometry_integrates_to_the_truth_without_noise_and_drifts_with_it():
    exact, noisy = (simulated_building(laps=1, odometry_noise=noise, **SMALL)[0] for noise in (0.0, 0.01))
    poses = driven(exact.states[0], exact.controls[1:])
    np.testing.assert_allclose(poses[:, :2], exact.states[:, :2], atol=1e-9)
    np.testing.assert_allclose(wrapped_difference(poses[:, 2] - exact.states[:, 2]), 0.0, atol=1e-9)
    drift = driven(noisy.states[0], noisy.controls[1:])[:, :2] - noisy.states[:, :2]
    assert np.linalg.norm(drift, axis=1).max() > 0.5
    np.testing.assert_array_equal(exact.controls[0], 0.0)


def test_laps_depend_on_the_seed_only_and_differ_from_each_other():
    two, again = (simulated_building(laps=laps, frame_interval=5.0, **SMALL) for laps in (2, 1))
    other = simulated_building(laps=1, frame_interval=5.0, random_state=1, **SMALL)
    for name in ("time", "states", "observations", "controls"):
        np.testing.assert_array_equal(getattr(two[0], name), getattr(again[0], name))
    assert not np.allclose(two[0].states[:50], two[1].states[:50])
    assert not np.allclose(two[0].states[:50], other[0].states[:50])


def test_a_recording_has_what_loaders_return():
    (lap,) = simulated_building(laps=1, frame_interval=10.0, **SMALL)
    length = len(lap)
    assert lap.states.shape == lap.controls.shape == (length, 3)
    assert lap.observations.shape == (length, 24, 32)
    assert lap.observations.dtype == np.uint8
    assert set(lap.units) == {"time", "states", "observations", "controls"}
    np.testing.assert_allclose(np.diff(lap.time), 10.0)
    assert np.abs(lap.states[:, 2]).max() <= np.pi


def test_lighting_of_each_lap():
    laps = simulated_building(laps=2, lighting=("sunny", "night"), lighting_variation=0.0, frame_interval=40.0, **SMALL)
    for lap, light in zip(laps, ("sunny", "night"), strict=True):
        quiet = BUILDING.photograph(lap.states, SMALL["camera"], light, random_state=9)
        other = BUILDING.photograph(lap.states, SMALL["camera"], {"sunny": "night", "night": "sunny"}[light], 9)
        mine, wrong = (np.abs(lap.observations.astype(int) - images).mean() for images in (quiet, other))
        assert mine < wrong


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"laps": 0}, "laps = 0"),
        ({"laps": True}, "laps = True"),
        ({"speed": -1.0}, "speed = -1.0"),
        ({"frame_interval": 0.0}, "frame_interval = 0.0"),
        ({"frame_interval": np.nan}, "frame_interval = nan"),
        ({"odometry_noise": (0.1, 0.1)}, "one number >= 0, or four"),
        ({"odometry_noise": -0.1}, "one number >= 0, or four"),
        ({"lighting": ("sunny", "night")}, "2 entries for 3 laps"),
        ({"lighting": "dusk"}, "unknown lighting 'dusk'"),
        ({"lighting_variation": -1.0}, "lighting_variation = -1.0"),
    ],
)
def test_bad_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        simulated_building(**setting)


def test_bad_routes():
    with pytest.raises(ValueError, match="at least three waypoints"):
        smooth_route([[0, 0], [1, 1]])
    room = FloorPlan((Space("room", (0, 0, 4, 4)),))
    with pytest.raises(ValueError, match=r"closer than 0.2 m to a wall at \(.*move its waypoints"):
        simulated_building(building=Building(room, ((1, 1), (3.9, 1), (3.9, 3), (1, 3))))
