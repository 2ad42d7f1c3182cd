"""COLD sequences: images named by time and pose."""

import numpy as np
import pytest
from picture_files import picture

from kmcf.datasets import cold, examples
from kmcf.numerics.poses import moved
from kmcf.support.alerts import SkippedDataWarning

pytest.importorskip("cv2")
POSES = np.array([[0.0, 0.0, 0.0], [0.5, 0.1, 0.2], [1.0, 0.3, 0.4], [1.2, -0.5, -0.3]])
TIMES = 1152904768.555720 + np.array([0.0, 0.4, 1.0, 1.5])


def cold_folder(tmp_path, odometry=True):
    sequence = tmp_path / "seq1_cloudy1"
    (sequence / "std_cam").mkdir(parents=True)
    for number, (time, (x, y, a)) in enumerate(zip(TIMES, POSES, strict=True)):
        (sequence / "std_cam" / f"t{time:.6f}_x{x:.6f}_y{y:.6f}_a{a:.6f}.jpeg").write_bytes(picture(10 * number))
    if odometry:
        (sequence / "odom_scans").mkdir()
        rows = []
        for second, x, heading in ((TIMES[0] - 1, 5.0, 0.0), (TIMES[0], 5.0, 0.0), (TIMES[0] + 2, 7.0, 0.0)):
            whole = int(second)
            rows.append(f"0 0 0 {whole} {round((second - whole) * 1e6)} 2 0 6 {x} 1.0 0 {heading} 0 0")
        (sequence / "odom_scans" / "odom.tdf").write_text("\n".join(rows) + "\n")
    return sequence


def test_cold_reads_names_and_odometry(tmp_path):
    recording = cold(cold_folder(tmp_path))
    assert recording.name == "seq1_cloudy1"
    np.testing.assert_allclose(recording.states, POSES)
    np.testing.assert_allclose(recording.time, TIMES - TIMES[0], atol=1e-6)
    assert all(path.is_file() for path in recording.observations)
    driven = np.zeros(3)
    for control in recording.controls:
        driven = moved(driven, control)
    np.testing.assert_allclose(driven, [1.5, 0, 0], atol=1e-5)
    assert recording.controls[2, 1] == pytest.approx(0.6, abs=1e-5)


def test_cold_pixels_are_red_green_blue(tmp_path):
    recording = cold(cold_folder(tmp_path) / "std_cam", images="pixels")
    assert recording.controls is not None
    assert recording.observations[1].shape == (24, 32, 3)
    np.testing.assert_allclose(recording.observations[1][5, 5], [10, 10, 255], atol=6)


def test_cold_without_odometry(tmp_path):
    assert cold(cold_folder(tmp_path, odometry=False)).controls is None
    with pytest.raises(FileNotFoundError, match=r"odom\.txt"):
        cold(tmp_path / "seq1_cloudy1", odometry=tmp_path / "odom.txt")


@pytest.mark.parametrize("images", ["files", "pixels"])
def test_unreadable_images_are_missing(tmp_path, images):
    sequence = cold_folder(tmp_path)
    files = sorted((sequence / "std_cam").iterdir())
    files[1].write_bytes(files[1].read_bytes()[:300])
    files[2].write_bytes(b"")
    with pytest.warns(SkippedDataWarning, match="2 images of .* cannot be read"):
        recording = cold(sequence, images=images)
    np.testing.assert_array_equal(recording.missing, [False, True, True, False])
    assert recording.counts["unreadable images"] == 2
    assert len(examples(recording)[1]) == 2


def test_cold_malformed_names_and_rows(tmp_path):
    sequence = cold_folder(tmp_path)
    (sequence / "std_cam" / "thumbnail.jpeg").write_bytes(picture(1))
    odometry = sequence / "odom_scans" / "odom.tdf"
    odometry.write_text(odometry.read_text() + "0 0 0 115290\n")
    with pytest.warns(SkippedDataWarning, match="2 malformed lines .*'thumbnail.jpeg'"):
        assert len(cold(sequence)) == 4
    with pytest.raises(ValueError, match=r"thumbnail\.jpeg"):
        cold(sequence, strict=True)


def test_cold_clock_gaps_are_counted(tmp_path):
    assert cold(cold_folder(tmp_path), max_gap=1.5).counts["clock gaps"] == 1


def test_cold_wrong_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        cold(tmp_path / "nothing")
    with pytest.raises(ValueError, match="holds no image named"):
        cold(tmp_path)
    with pytest.raises(ValueError, match="images = 'thumbs'"):
        cold(tmp_path, images="thumbs")
