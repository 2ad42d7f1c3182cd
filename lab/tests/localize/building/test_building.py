"""The building seen through the camera: what looks alike, light, noise, seeds."""

import numpy as np
import pytest

from kmcf_lab.localize.building import LIGHTINGS, Building, Camera, FloorPlan, Lighting, Space


def turned(poses):
    """The office building's long corridors change places by half a turn about (13, 8)."""
    return np.column_stack([26.0 - poses[:, 0], 16.0 - poses[:, 1], poses[:, 2] + np.pi])


def test_look_alike_corridors_differ_only_by_noise(building):
    rng = np.random.default_rng(0)
    south = np.column_stack([rng.uniform(2, 22, 20), rng.uniform(0.5, 1.5, 20), rng.uniform(-0.2, 0.2, 20)])
    quiet = Camera(noise=0.0, unsteadiness=0.0)
    here, there = (building.photograph(poses, quiet).astype(int) for poses in (south, turned(south)))
    # Rounding sometimes decides which of two neighbouring pixels a ray meets.
    assert (np.abs(here - there) <= 1).mean() > 0.999
    here, there = (building.photograph(p, random_state=k).astype(int) for k, p in enumerate((south, turned(south))))
    assert 2.0 < np.std(here - there) < 15.0


def test_twin_offices_look_the_same_and_other_places_do_not(building):
    quiet = Camera(noise=0.0, unsteadiness=0.0)
    poses = np.array([[-1.5, 9.8, 2.9], [-4.0, 10.3, -2.5], [-2.0, 9.0, 2.0]])
    for light in LIGHTINGS:
        north, south = (building.photograph(p, quiet, light).astype(int) for p in (poses, poses - [0, 5.0, 0]))
        assert (np.abs(north - south) <= 1).mean() > 0.999
    elsewhere = building.photograph([[25.0, 7.0, 1.57], [28.0, 7.9, 0.0], [8.0, 5.0, 0.5]], quiet).astype(int)
    for image in elsewhere:
        assert (np.abs(image - north) > 10).mean(axis=(1, 2)).min() > 0.2


def test_light_changes_windows_and_sun_but_the_same_light_does_not(building):
    pose = [[34.8, 9.0, 1.5]]
    quiet = Camera(noise=0.0, unsteadiness=0.0)
    cloudy, sunny, night = (building.photograph(pose, quiet, light)[0].astype(int) for light in LIGHTINGS)
    window = np.s_[25:40, 35:60]
    assert np.median(night[window]) < 60 < 150 < np.median(cloudy[window])
    assert sunny[95:110, 60:100].mean() > cloudy[95:110, 60:100].mean() + 40


def test_noise_has_the_size_that_was_asked_for(building):
    pose = np.repeat([[5.0, 1.0, 0.0]], 200, axis=0)
    images = building.photograph(pose, Camera(width=80, height=60, noise=6.0, unsteadiness=0.0)).astype(float)
    spread = images.std(axis=0)
    inner = (images.mean(axis=0) > 20) & (images.mean(axis=0) < 230)
    assert 3.0 <= np.median(spread[inner]) <= 6.0
    assert spread[inner].min() > 2.2
    assert spread[inner].max() < 7.5


def test_images_depend_on_the_seed_only():
    hall = FloorPlan((Space("hall", (0, 0, 8, 4), "laboratory"),))
    first, again, other = (Building(hall, ((1, 1), (7, 1), (7, 3)), seed) for seed in (0, 0, 1))
    poses = [[2.0, 1.0, 0.0], [6.0, 2.0, 1.5]]
    np.testing.assert_array_equal(first.photograph(poses), again.photograph(poses))
    assert (first.photograph(poses) != first.photograph(poses, random_state=1)).mean() > 0.5
    assert (first.photograph(poses) != other.photograph(poses)).mean() > 0.5


def test_bad_poses_lighting_and_styles(building):
    with pytest.raises(ValueError, match=r"pose 1, \(100, 1\), is not in the free space"):
        building.photograph([[5.0, 1.0, 0.0], [100.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match=r"\(n, 3\)"):
        building.photograph([5.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="unknown lighting 'dusk'; choose one of cloudy, sunny, night"):
        building.photograph([[5.0, 1.0, 0.0]], lighting="dusk")
    with pytest.raises(ValueError, match="lamps = -1"):
        Lighting(-1, 0, 0)
    odd = FloorPlan((Space("cellar", (0, 0, 4, 4), "mud"),))
    with pytest.raises(ValueError, match="unknown style 'mud'"):
        Building(odd, ((1, 1), (3, 1), (3, 3))).photograph([[1.0, 1.0, 0.0]])
