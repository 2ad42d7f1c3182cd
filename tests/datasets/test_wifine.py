"""WiFine folders, made up and damaged."""

import numpy as np
import pytest

from kmcf.datasets import Recording, wifine, with_elapsed_times

ARRAYS = {
    "rss": np.array([[-100, -50], [-60, -100], [-70, -80], [-40, -100]], np.int8),
    "states": np.array([[0, 0, 1], [3, 0, 1], [9, 9, 5], [9, 10, 5]], np.float32),
    "floor": np.array([0, 0, 1, 1], np.int8),
    "time": np.array([6.0, 2.0, 0.0, 5.0], np.float32),
    "sequence": np.array([0, 0, 2, 2], np.int16),
    "names": np.array(["train_a", "train_none", "train_b"]),
}


def folder(path, part="train", **changes):
    np.savez(path / f"{part}.npz", **{name: value for name, value in (ARRAYS | changes).items() if value is not None})
    return path


def test_walks_are_told_apart_and_ordered_in_time(tmp_path):
    first, second = wifine(folder(tmp_path))
    assert (first.name, second.name) == ("train_a", "train_b")  # a walk without rows is left out
    np.testing.assert_array_equal(first.time, [0.0, 4.0])
    np.testing.assert_array_equal(first.states, [[3, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(second.observations, [[-70, -80], [-40, -100]])
    assert first.observations.dtype == first.states.dtype == np.float64
    assert second.units["observations"] == "dBm"


def test_parts_and_files_that_are_missing_are_named(tmp_path):
    with pytest.raises(ValueError, match="part = 'test'; it must be one of 'train', 'val'"):
        wifine(tmp_path, "test")
    with pytest.raises(FileNotFoundError, match=r"holds no file val\.npz"):
        wifine(folder(tmp_path), "val")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"rss": None, "floor": None}, "has no array rss, floor"),
        ({"time": np.zeros(3)}, "time has 3 rows, but sequence has 4"),
        ({"sequence": np.array([0, 0, 2, 3])}, "sequence points beyond the 3 names"),
    ],
)
def test_damage_is_one_sentence(tmp_path, changes, match):
    with pytest.raises(ValueError, match=match):
        wifine(folder(tmp_path, **changes))


def test_a_file_that_is_no_archive_is_named(tmp_path):
    (tmp_path / "train.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="cannot be read as an NPZ file"):
        wifine(tmp_path)


def test_velocities_lead_from_the_step_before(tmp_path):
    for walk in wifine(folder(tmp_path)):
        moving = with_elapsed_times(walk)
        positions, velocities = moving.states[:, :3], moving.states[:, 3:]
        np.testing.assert_allclose(positions[:-1] + moving.controls[1:] * velocities[1:], positions[1:])
        np.testing.assert_array_equal(positions, walk.states)
        assert moving.names["states"] == ("x", "y", "z", "v_x", "v_y", "v_z")


def test_walks_without_time_are_refused():
    still = Recording("still", np.zeros(2), np.zeros((2, 1)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="do not increase"):
        with_elapsed_times(still)
    with pytest.raises(ValueError, match="single step"):
        with_elapsed_times(still[:1])
