"""The Sussex route: panoramas with positions."""

import zipfile

import numpy as np
import pytest
from picture_files import picture

from kmcf.datasets import sussex_route
from kmcf.support.alerts import SkippedDataWarning

pytest.importorskip("cv2")


def sussex_folder(tmp_path, packed=True):
    lines = [f"{t + 0.25}, outdoor/snapshot_{t}.png" for t in range(6)]
    (tmp_path / "training.csv").write_text("\n".join(["Time [s], Filename", *lines]) + "\n")
    lines = [f"{t}, {10 * t} deg, 2701.6, test_{t}.png" for t in range(1, 5)]
    (tmp_path / "testing_infomax.csv").write_text(
        "\n".join(["Time [s], Best heading, Lowest, Filename", *lines]) + "\n"
    )
    track = [f"{1000 * t},{100 * t},{50 * t}" for t in np.arange(0, 5.01, 0.1) if not 2.2 < t < 3.8]
    for name in ("training_path_scaled.csv", "testing_path_infomax_scaled.csv"):
        (tmp_path / name).write_text("\n".join(track) + "\n")
    for stem, first, count in (("images_training", "snapshot", 6), ("images_test_infomax", "test", 5)):
        files = {f"{first}_{t}.png": picture(20 * t, ".png", (25, 120, 3)) for t in range(count)}
        if packed:
            with zipfile.ZipFile(tmp_path / f"{stem}.zip", "w") as archive:
                for name, content in files.items():
                    archive.writestr(name, content)
        else:
            (tmp_path / stem).mkdir()
            for name, content in files.items():
                (tmp_path / stem / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("packed", [True, False])
def test_sussex_images_with_positions(tmp_path, packed):
    recording = sussex_route(sussex_folder(tmp_path, packed))
    np.testing.assert_allclose(recording.time, range(6))
    np.testing.assert_array_equal(recording.known, [True, True, False, False, True, False])  # a gap, and past the end
    np.testing.assert_allclose(recording.states[1], [1.25, 0.625])
    np.testing.assert_array_equal(recording.observations[3][0, 0], [60, 60, 255])
    assert recording.controls is None
    assert recording.counts == {"malformed lines": 0, "unreadable images": 0, "clock gaps": 1}


def test_sussex_turns_and_clock_offset(tmp_path):
    recording = sussex_route(sussex_folder(tmp_path), "infomax", offset=-1.0)
    np.testing.assert_allclose(recording.controls[:, 0], np.deg2rad([0, 10, 20, 30]))
    np.testing.assert_allclose(recording.states[1], [1.0, 0.5])


def test_sussex_damage(tmp_path):
    folder = sussex_folder(tmp_path, packed=False)
    (folder / "images_training" / "snapshot_1.png").write_bytes(b"\x89PNG")
    (folder / "images_training" / "snapshot_4.png").unlink()
    with pytest.warns(SkippedDataWarning, match=r"2 images .*snapshot_1\.png"):
        recording = sussex_route(folder)
    np.testing.assert_array_equal(np.flatnonzero(recording.missing), [1, 4])
    (folder / "testing_infomax.csv").write_text("header\n1.0, 5 deg, 3.0, test_1.png\nsoon, test_2.png\n2.0\n")
    with pytest.warns(SkippedDataWarning, match="2 malformed lines .* line 3"):
        assert len(sussex_route(folder, "infomax")) == 1
    with pytest.raises(ValueError, match=r"testing_infomax\.csv, line 3"):
        sussex_route(folder, "infomax", strict=True)
    with pytest.raises(ValueError, match="run = 'testing'"):
        sussex_route(folder, "testing")
    with pytest.raises(FileNotFoundError, match="infomax_binary"):
        sussex_route(folder, "infomax_binary")
