"""Recordings of laps: images, poses, odometry."""

import numpy as np
import pytest

from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.poses import moved
from kmcf_lab.localize.building import Camera, simulated_building

CAMERA = Camera(width=32, height=24)


@pytest.fixture
def drive(building):
    """Drive laps with a small camera."""

    def laps(camera=CAMERA, **settings):
        return simulated_building(building=building, camera=camera, **settings)

    return laps


def driven(start, motions):
    poses = [np.asarray(start)]
    for motion in motions:
        poses.append(moved(poses[-1], motion))
    return np.array(poses)


def test_odometry_integrates_to_the_truth_without_noise_and_drifts_with_it(drive):
    dot = Camera(width=2, height=2)
    exact, noisy = (drive(dot, laps=1, odometry_noise=noise)[0] for noise in (0.0, 0.01))
    poses = driven(exact.states[0], exact.controls[1:])
    np.testing.assert_allclose(poses[:, :2], exact.states[:, :2], atol=1e-9)
    np.testing.assert_allclose(wrapped_difference(poses[:, 2] - exact.states[:, 2]), 0.0, atol=1e-9)
    drift = driven(noisy.states[0], noisy.controls[1:])[:, :2] - noisy.states[:, :2]
    assert np.linalg.norm(drift, axis=1).max() > 0.5
    np.testing.assert_array_equal(exact.controls[0], 0.0)


def test_laps_depend_on_the_seed_only_and_differ_from_each_other(drive):
    two, again = (drive(laps=laps, frame_interval=5.0) for laps in (2, 1))
    other = drive(laps=1, frame_interval=5.0, random_state=1)
    for name in ("time", "states", "observations", "controls"):
        np.testing.assert_array_equal(getattr(two[0], name), getattr(again[0], name))
    assert not np.allclose(two[0].states[:50], two[1].states[:50])
    assert not np.allclose(two[0].states[:50], other[0].states[:50])


def test_a_recording_has_what_loaders_return(drive):
    (lap,) = drive(laps=1, frame_interval=10.0)
    length = len(lap)
    assert lap.states.shape == lap.controls.shape == (length, 3)
    assert lap.observations.shape == (length, 24, 32)
    assert lap.observations.dtype == np.uint8
    assert set(lap.units) == {"time", "states", "observations", "controls"}
    np.testing.assert_allclose(np.diff(lap.time), 10.0)
    assert np.abs(lap.states[:, 2]).max() <= np.pi


def test_lighting_of_each_lap(building, drive):
    laps = drive(laps=2, lighting=("sunny", "night"), lighting_variation=0.0, frame_interval=40.0)
    for lap, light in zip(laps, ("sunny", "night"), strict=True):
        quiet = building.photograph(lap.states, CAMERA, light, random_state=9)
        other = building.photograph(lap.states, CAMERA, {"sunny": "night", "night": "sunny"}[light], 9)
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
