"""Laps along a route."""

import numpy as np
import pytest

from kmcf.numerics.circles import wrapped_difference
from kmcf_lab.localize.building import Building, FloorPlan, Space, simulated_building
from kmcf_lab.localize.building.drive import ROBOT_RADIUS, drive_lap, smooth_route


def test_a_lap_is_smooth_closed_and_never_in_a_wall(building):
    for seed in range(5):
        time, poses = drive_lap(building.plan, building.route, 0.4, 0.2, np.random.default_rng(seed))
        assert building.plan.clearance(poses[:, :2]).min() > ROBOT_RADIUS / 2
        steps = np.linalg.norm(np.diff(poses[:, :2], axis=0), axis=1)
        assert steps.max() < 0.4 * 0.2 * 2.5
        assert 300 < time[-1] < 480
        assert np.linalg.norm(poses[-1, :2] - poses[0, :2]) < 0.5
        directions = np.arctan2(*np.diff(poses[:, :2], axis=0).T[::-1])
        off = wrapped_difference(poses[:-1, 2] - directions)
        assert 0.01 < off.std() < 0.1  # the heading follows the path, with a wobble
        assert steps.std() / steps.mean() > 0.1  # the speed varies


def test_bad_routes():
    with pytest.raises(ValueError, match="at least three waypoints"):
        smooth_route([[0, 0], [1, 1]])
    room = FloorPlan((Space("room", (0, 0, 4, 4)),))
    with pytest.raises(ValueError, match=r"closer than 0.2 m to a wall at \(.*move its waypoints"):
        simulated_building(building=Building(room, ((1, 1), (3.9, 1), (3.9, 3), (1, 3))))
