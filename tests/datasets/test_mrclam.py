import gzip

import numpy as np
import pytest

from kmcf.datasets import mrclam, mrclam_landmarks
from kmcf.numerics.poses import moved
from kmcf.support.alerts import SkippedDataWarning

CIRCLE = 0.5  # radians per second, at 0.2 m/s


def pose(time):
    """The true pose of a robot that drives a circle for ever."""
    angle = CIRCLE * time
    radius = 0.2 / CIRCLE
    return radius * np.sin(angle), radius * (1 - np.cos(angle)), np.angle(np.exp(1j * angle))


def folder(tmp_path, *, compress=False, truth=None, commands=None, seen=None, robots=(1,)):
    times = np.arange(100.0, 130.001, 0.02)
    if truth is None:
        truth = [f"{t:.3f} {x:.8f} {y:.8f} {a:.8f}" for t in times for x, y, a in [pose(t)]]
    if commands is None:
        commands = [f"{t:.3f} 0.2 {CIRCLE}" for t in times[::2]]
    if seen is None:
        seen = ["100.10 63 2.0 0.5", "100.20 81 3.0 -0.5", "102.40 14 1.0 0.0", "103.10 63 2.1 0.4", "103.20 99 9 9"]
    (tmp_path / "Barcodes.dat").write_text("# comment\n 1 5\n 2 14\n 6 63\n 7 81\n")
    (tmp_path / "Landmark_Groundtruth.dat").write_text("# comment\n 6 1.5 -2.5 0.1 0.1\n 7 0.5 3.5 0.1 0.1\n")
    for robot in robots:
        for kind, lines in (("Groundtruth", truth), ("Odometry", commands), ("Measurement", seen)):
            content = ("# header\n" + "\n".join(lines) + "\n").encode()
            name = f"Robot{robot}_{kind}.dat{'.gz' * compress}"
            (tmp_path / name).write_bytes(gzip.compress(content) if compress else content)
    return tmp_path


@pytest.mark.parametrize("compress", [False, True])
def test_steps_sets_and_poses(tmp_path, compress):
    (recording,) = mrclam(folder(tmp_path, compress=compress), robots=[1])
    assert len(recording) == 30
    np.testing.assert_allclose(recording.time, np.arange(30))
    expected = np.array([pose(100.5 + t) for t in range(30)])
    np.testing.assert_allclose(recording.states[:, :2], expected[:, :2], atol=1e-4)
    np.testing.assert_allclose(np.cos(recording.states[:, 2] - expected[:, 2]), 1, atol=1e-6)
    np.testing.assert_allclose(recording.observations[0], [[6, 2.0, 0.5], [7, 3.0, -0.5]])
    np.testing.assert_allclose(recording.observations[3], [[6, 2.1, 0.4]])
    np.testing.assert_array_equal(np.flatnonzero(~recording.missing), [0, 3])
    assert recording.counts == {"malformed lines": 0, "unknown barcodes": 1, "clock gaps": 0}


def test_odometry_drives_from_state_to_state(tmp_path):
    (recording,) = mrclam(folder(tmp_path), robots=[1])
    for t in range(1, 30):
        reached = moved(recording.states[t - 1], recording.controls[t])
        np.testing.assert_allclose(reached[:2], recording.states[t, :2], atol=1e-3)
        assert np.cos(reached[2] - recording.states[t, 2]) == pytest.approx(1, abs=1e-5)


def test_velocities(tmp_path):
    (recording,) = mrclam(folder(tmp_path), robots=[1], control="velocity", step=2.0)
    assert len(recording) == 15
    np.testing.assert_allclose(recording.controls[1:], [[0.2, CIRCLE, 2.0]] * 14, atol=1e-9)
    np.testing.assert_allclose(recording.controls[0], [0, 0, 2.0])


def test_other_robots_are_seen_if_wanted(tmp_path):
    (recording,) = mrclam(folder(tmp_path), robots=[1], other_robots=True)
    np.testing.assert_allclose(recording.observations[2], [[2, 1.0, 0.0]])


def test_gaps_of_the_ground_truth_are_unknown(tmp_path):
    times = [t for t in np.arange(100.0, 130.0, 0.1) if not 104.2 < t < 106.8]
    lines = [f"{t:.3f} {x:.8f} {y:.8f} {a:.8f}" for t in times for x, y, a in [pose(t)]]
    (recording,) = mrclam(folder(tmp_path, truth=lines), robots=[1])
    np.testing.assert_array_equal(np.flatnonzero(~recording.known), [4, 5, 6])
    assert recording.counts["clock gaps"] == 1


def test_ground_truth_that_begins_late_is_unknown_before(tmp_path):
    lines = [f"{t:.3f} {x:.8f} {y:.8f} {a:.8f}" for t in np.arange(103.0, 130.0, 0.1) for x, y, a in [pose(t)]]
    (recording,) = mrclam(folder(tmp_path, truth=lines), robots=[1])
    np.testing.assert_array_equal(np.flatnonzero(~recording.known), [0, 1])


def test_a_command_does_not_last_for_ever(tmp_path):
    commands = ["100.0 1.0 0.0", "100.4 1.0 0.0", "110.0 0.0 0.0", "112.0 0.0 0.0"]
    (recording,) = mrclam(folder(tmp_path, commands=commands), robots=[1], command_lasts=0.5)
    assert recording.controls[:, 1].sum() == pytest.approx(0.4)  # from the first state at 100.5 to 100.9
    assert recording.counts["clock gaps"] == 2


def test_malformed_lines_are_counted_or_named(tmp_path):
    seen = ["100.10 63 2.0 0.5", "100.2 81", "100.3 81 far -0.5"]
    place = folder(tmp_path, seen=seen, robots=(1, 2))
    with pytest.warns(
        SkippedDataWarning, match="4 malformed lines left out.*Robot1_Measurement.dat, line 3.*1 more file"
    ):
        recordings = mrclam(place, robots=[1, 2])
    assert [recording.counts["malformed lines"] for recording in recordings] == [2, 2]
    with pytest.raises(ValueError, match=r"Robot1_Measurement\.dat, line 3: not 4 numbers"):
        mrclam(place, robots=[1], strict=True)


def test_missing_files_and_bad_settings(tmp_path):
    place = folder(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"Robot2_Groundtruth\.dat"):
        mrclam(place, robots=[2])
    with pytest.raises(ValueError, match="step = 0"):
        mrclam(place, step=0)
    with pytest.raises(ValueError, match="control = 'wheels'"):
        mrclam(place, control="wheels")
    with pytest.raises(ValueError, match="0 readable poses"):
        mrclam(folder(tmp_path, truth=[]), robots=[1])


def test_landmarks(tmp_path):
    assert mrclam_landmarks(folder(tmp_path)) == {6: (1.5, -2.5), 7: (0.5, 3.5)}


def test_measurements_are_carried_to_the_middle_of_their_window(tmp_path):
    post = np.array([4.0, 1.0])

    def seen(time):
        x, y, heading = pose(time)
        return np.hypot(*(post - [x, y])), np.arctan2(post[1] - y, post[0] - x) - heading

    moments = [100.05, 103.9, 110.5, 112.2]
    lines = [f"{t:.3f} 63 {seen(t)[0]:.8f} {seen(t)[1]:.8f}" for t in moments]
    (recording,) = mrclam(folder(tmp_path, seen=lines), robots=[1], aligned=True)
    np.testing.assert_array_equal(np.flatnonzero(~recording.missing), [0, 3, 10, 12])
    for step in (0, 3, 10, 12):
        ((subject, distance, bearing),) = recording.observations[step]
        expected = seen(100.5 + step)
        assert subject == 6
        assert distance == pytest.approx(expected[0], abs=2e-3)
        assert np.cos(bearing - expected[1]) == pytest.approx(1, abs=1e-6)


def test_commands_that_are_followed_late(tmp_path):
    times = np.arange(100.0, 130.001, 0.02)
    turning = [f"{t:.3f} 0.0 {0.5 if t < 110 else 0.0}" for t in times]
    (prompt,) = mrclam(folder(tmp_path, commands=turning), robots=[1])
    (late,) = mrclam(folder(tmp_path, commands=turning), robots=[1], command_delay=0.5)
    turned = [recording.controls[:, [0, 2]].sum() for recording in (prompt, late)]
    assert prompt.controls[9, [0, 2]].sum() == pytest.approx(0.5, abs=0.02)
    assert turned[1] == pytest.approx(turned[0] + 0.25, abs=0.02)  # the first half second is still to come at the start
    with pytest.raises(ValueError, match="command_delay = -1; it must be a number of seconds, at least 0"):
        mrclam(tmp_path, command_delay=-1)
