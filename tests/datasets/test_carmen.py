import gzip

import numpy as np
import pytest

from kmcf.datasets import carmen_log, carmen_split
from kmcf.datasets.carmen import SPLITS
from kmcf.numerics.poses import moved
from kmcf.support.alerts import SkippedDataWarning


def laser(time, pose, ranges=(1.0, 2.0, 81.9), odometry=None):
    numbers = " ".join(map(str, [*ranges, *pose, *(odometry or pose)]))
    return f"FLASER {len(ranges)} {numbers} {time} host {time}"


def robot_laser(time, pose, odometry, ranges=(1.0, 2.0), remissions=(), tail=5):
    parts = [0, -1.57, 3.14, 0.017, 81.9, 0.01, 0, len(ranges), *ranges]
    parts += [len(remissions), *remissions] if remissions is not None else []
    return f"ROBOTLASER1 {' '.join(map(str, [*parts, *pose, *odometry, *[0.1] * tail]))} {time} host {time}"


def odom(time, pose):
    return f"ODOM {' '.join(map(str, pose))} 0 0 0 {time} host {time}"


def written(tmp_path, lines, name="drive.log"):
    file = tmp_path / name
    text = ("# CARMEN Logfile\nPARAM robot_width 0.5 nohost 0\n" + "\n".join(lines) + "\n").encode()
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return file


CORRECTED = [
    odom(0.0, [0, 0, 0]),
    laser(1.0, [0, 0, 0]),
    odom(1.2, [0.5, 0, 0]),
    odom(1.4, [1.0, 0, 0.1]),  # as measured from the corrected pose of the scan before
    laser(2.0, [1.1, 0.2, 0.0]),
    odom(2.5, [1.1, 1.2, 1.5]),
    laser(3.0, [1.0, 1.0, 1.6]),
]


@pytest.mark.parametrize("name", ["drive.log", "drive.log.gz"])
def test_a_corrected_log(tmp_path, name):
    recording = carmen_log(written(tmp_path, CORRECTED, name))
    assert recording.name == "drive"
    np.testing.assert_allclose(recording.time, [0, 1, 2])
    np.testing.assert_allclose(recording.states, [[0, 0, 0], [1.1, 0.2, 0], [1, 1, 1.6]])
    np.testing.assert_allclose(recording.observations, [[1, 2, np.nan]] * 3)
    np.testing.assert_allclose(recording.controls[0], 0)
    np.testing.assert_allclose(moved(recording.states[0], recording.controls[1]), [1.0, 0, 0.1], atol=1e-12)
    np.testing.assert_allclose(moved(recording.states[1], recording.controls[2]), [1.1, 1.2, 1.5], atol=1e-12)
    assert recording.angles == (2,)
    assert not recording.missing.any()


def test_a_clock_that_steps_back_does_not_change_the_order(tmp_path):
    late = [*CORRECTED[:4], laser(3.5, [1.1, 0.2, 0.0]), *CORRECTED[5:]]
    recording = carmen_log(written(tmp_path, late), no_return=80.0)
    np.testing.assert_allclose(recording.time, [0, 2.5, 2.5])
    np.testing.assert_allclose(recording.states[:, 0], [0, 1.1, 1.0])
    np.testing.assert_allclose(moved(recording.states[1], recording.controls[2]), [1.1, 1.2, 1.5], atol=1e-12)
    assert recording.counts["clock steps back"] == 1
    assert recording.observations.max() == 80.0


def test_odometry_from_the_scans(tmp_path):
    lines = [
        laser(1.0, [0, 0, 0], odometry=[5, 5, 0]),
        odom(1.5, [99, 99, 0]),
        laser(2.0, [1, 0, 0], odometry=[5.9, 5, 0]),
    ]
    file = written(tmp_path, lines)
    np.testing.assert_allclose(carmen_log(file).controls[1], [0, 0.9, 0], atol=1e-12)
    with pytest.raises(ValueError, match="odometry = 'wheels'"):
        carmen_log(file, odometry="wheels")


@pytest.mark.parametrize(("remissions", "tail"), [((), 5), ((7, 8), 5), (None, 4)])
def test_robot_laser_messages(tmp_path, remissions, tail):
    lines = [
        robot_laser(1.0, [0, 0, 0], [3, 0, 0], remissions=remissions, tail=tail),
        robot_laser(2.0, [1, 0, 0.2], [4, 0, 0.1], remissions=remissions, tail=tail),
    ]
    recording = carmen_log(written(tmp_path, lines))
    np.testing.assert_allclose(recording.states[1], [1, 0, 0.2])
    np.testing.assert_allclose(recording.controls[1], [0, 1, 0.1], atol=1e-12)
    np.testing.assert_allclose(recording.observations[0], [1, 2])


def test_malformed_messages_are_counted_or_named(tmp_path):
    lines = [
        *CORRECTED[:4],
        "FLASER 3 1.0 2.0",
        "FLASER many",
        laser(1.7, [0, 0, 0], ranges=(1.0, 2.0)),
        "ODOM 1 2 x 0 0 0 1 host 1",
        laser(1.8, [0, "nan", 0]),
        "",
        *CORRECTED[4:],
    ]
    file = written(tmp_path, lines)
    with pytest.warns(SkippedDataWarning, match="5 malformed lines left out, the first in .*drive.log, line 7"):
        recording = carmen_log(file)
    assert recording.counts["malformed lines"] == 5
    np.testing.assert_allclose(recording.time, [0, 1, 2])
    with pytest.raises(ValueError, match=r"drive\.log, line 7: not a FLASER message"):
        carmen_log(file, strict=True)


def test_a_log_without_odometry_between_scans_says_so(tmp_path):
    recording = carmen_log(written(tmp_path, [*CORRECTED[:2], CORRECTED[4]]))
    assert recording.counts["scans without odometry"] == 1
    np.testing.assert_array_equal(recording.controls, 0)


def test_a_log_without_scans(tmp_path):
    with pytest.raises(ValueError, match="no readable FLASER or ROBOTLASER1"):
        carmen_log(written(tmp_path, [odom(0.0, [0, 0, 0])]))
    with pytest.raises(FileNotFoundError):
        carmen_log(tmp_path / "nothing.log")


def test_splits_hold_out_the_passes(tmp_path):
    lines = [laser(float(t), [t, 0, 0]) for t in range(910)]
    recording = carmen_log(written(tmp_path, lines))
    training, test = carmen_split(recording, "intel")
    np.testing.assert_array_equal(test.time, np.arange(106, 192))
    kept = np.concatenate([part.time for part in training])
    np.testing.assert_array_equal(kept, [*range(101), *range(197, 910)])
    assert len(carmen_split(recording, "intel", "validation")[1]) == 90
    assert set(SPLITS) == {"intel", "freiburg-079"}
    with pytest.raises(ValueError, match="there is no split 'oxford', 'test'"):
        carmen_split(recording, "oxford")
