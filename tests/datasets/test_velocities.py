"""Velocities derived from positions: differences over time, around the circle where a column is an angle."""

import numpy as np
import pytest

from kmcf.datasets import Recording, columns_of, read_tables
from kmcf.datasets.velocities import with_velocity_columns


def recording(states, time, **more):
    names = {"states": tuple("xyz"[: np.shape(states)[1]]), "observations": (), "controls": (), "time": ("t",)}
    return Recording(
        "r", np.asarray(time, float), np.asarray(states, float), np.zeros((len(time), 1)), names=names, **more
    )


def test_a_quadratic_path_has_exact_velocities_inside():
    time = np.array([0.0, 0.5, 1.5, 2.0, 4.0])
    moving = with_velocity_columns(recording(np.stack([time**2, 3 * time], axis=1), time))
    np.testing.assert_allclose(moving.states[1:-1, 2], 2 * time[1:-1], rtol=1e-12)
    np.testing.assert_allclose(moving.states[:, 3], 3.0)


def test_angles_turn_the_short_way_and_gaps_are_unknown():
    angle = np.array([3.0, 3.1, -3.1, -3.0, np.nan, -2.8])[:, None]
    moving = with_velocity_columns(recording(angle, np.arange(6.0), angles=(0,)))
    np.testing.assert_allclose(moving.states[:3, 1], [0.1, (2 * np.pi - 6.1) / 2, (2 * np.pi - 6.1) / 2], atol=1e-12)
    assert np.isnan(moving.states[[3, 5], 1]).all()  # the neighbour is not known
    assert np.isnan(with_velocity_columns(recording([[1.0]], [0.0])).states[0, 1])


def test_tables_do_not_derive_them_across_gaps(tmp_path):
    path = tmp_path / "walk.csv"
    path.write_text("t,x,d\n0,0,1\n1,1,1\n2,2,1\n9,90,1\n10,91,1\n11,92,1\n")
    parts = read_tables(path, state="x", observation="d", time="t", gaps="split", velocities=True)
    assert [part.states[:, 1].tolist() for part in parts] == [[1.0] * 3, [1.0] * 3]
    about = columns_of(parts)
    assert about["state"] == ["x"]
    assert about["velocities"] is True
    with pytest.raises(KeyError):
        columns_of(read_tables(path, state="x", observation="d"))["velocities"]


def test_next_to_a_gap_the_near_side_counts():
    """A run to the right, a pause of ten seconds, a run to the left; columns that nobody named."""
    time = np.concatenate([np.arange(5.0), 14.0 + np.arange(5.0)])
    place = np.concatenate([20.0 * np.arange(5.0), 78.0 - 20.0 * np.arange(5.0)])[:, None]
    moving = with_velocity_columns(Recording("r", time, place, np.zeros((10, 1))))
    np.testing.assert_allclose(moving.states[:4, 1], 20.0)
    np.testing.assert_allclose(moving.states[4:6, 1], [20.0, -20.0], rtol=0.1)
    assert moving.names["states"] == ("state_0", "state_0_velocity")
    np.testing.assert_array_equal(moving.positions, place)


def test_what_has_no_velocities_to_derive_is_named():
    walk = recording([[0.0], [1.0], [np.nan], [3.0]], np.arange(4.0))
    moving = with_velocity_columns(walk)
    np.testing.assert_array_equal(moving.states[:, 1], [1.0, np.nan, np.nan, np.nan])  # not known where it is
    with pytest.raises(ValueError, match="'r' has velocity columns already"):
        with_velocity_columns(moving)
    with pytest.raises(TypeError, match="takes one recording, not list"):
        with_velocity_columns([walk])
    with pytest.raises(ValueError, match="times of the recording 'r' must increase"):
        with_velocity_columns(recording([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0]))
