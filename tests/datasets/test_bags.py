"""ROS 2 bags as tables, against what was written into them."""

import numpy as np
import pytest

from kmcf.datasets import read_tables
from kmcf.datasets.column_files import column_names

pytest.importorskip("mcap_ros2", reason="the extra kmcf[mcap] is not installed")
SCAN = "float32 angle_min\nfloat32[] ranges\nstring frame"
POSE = "geometry_msgs/Point position\n" + "=" * 80 + "\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\n"


@pytest.fixture
def bag(tmp_path):
    """Two topics: ten scans of four ranges, a pose before every other one."""
    from mcap_ros2.writer import Writer

    path = tmp_path / "drive.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        scan = writer.register_msgdef("my_msgs/Scan", SCAN)
        pose = writer.register_msgdef("my_msgs/Pose", POSE)
        for t in range(10):
            if t % 2 == 1:
                where = {"position": {"x": 1.0 * t, "y": -1.0 * t}}
                writer.write_message("/pose", pose, where, log_time=int((t - 0.5) * 1e9))
            seen = {"angle_min": 0.5, "ranges": [t, t + 1.0, t + 2.0, float("inf")], "frame": "laser"}
            writer.write_message("/scan", scan, seen, log_time=int(t * 1e9))
        writer.finish()
    return path


def test_rows_are_the_scans_with_the_last_pose_beside_them(bag):
    (recording,) = read_tables(
        bag, state=["/pose:position.x", "/pose:position.y"], observation="/scan:ranges", time="time"
    )
    assert recording.names["observations"] == tuple(f"/scan:ranges_{j}" for j in range(4))
    np.testing.assert_array_equal(recording.time, np.arange(10.0))
    np.testing.assert_array_equal(recording.observations[:, 1], np.arange(10.0) + 1.0)
    expected = [np.nan, 1, 1, 3, 3, 5, 5, 7, 7, 9]
    np.testing.assert_array_equal(recording.states, np.array([expected, [-x for x in expected]]).T)


def test_names(bag):
    assert {"time", "/scan:angle_min", "/scan:ranges_3", "/pose:position.y"} <= set(column_names(bag))


def test_damaged_files_are_told(bag, tmp_path):
    for content in (b"no bag", bag.read_bytes()[:300]):
        wrong = tmp_path / "wrong.mcap"
        wrong.write_bytes(content)
        with pytest.raises(ValueError, match=r"wrong\.mcap (cannot be read as an MCAP file|holds no messages)"):
            read_tables(wrong, observation="/scan:ranges")
