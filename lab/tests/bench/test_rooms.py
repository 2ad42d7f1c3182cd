"""Signal strengths, recorded and simulated; states without examples."""

import numpy as np
import pytest

from kmcf.kernels import Gaussian
from kmcf_lab.bench import rooms


def quiet(message):
    pass


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(rooms, "LENGTH", 20)
    monkeypatch.setattr(rooms, "ROOM_EXAMPLES", 60)
    monkeypatch.setattr(rooms, "ROOM_STEPS", 20)
    some = {name: rooms.compared_settings(12)[name] for name in ("plain", "on particles")}
    monkeypatch.setattr(rooms, "compared_settings", lambda columns: some)
    monkeypatch.setattr(rooms, "_forest", lambda: {"observation_kernel": Gaussian()})


def test_recorded_tracks_are_followed_with_the_others_as_examples(monkeypatch):
    tracks = rooms.ble_tracks()[3:6]
    monkeypatch.setattr(rooms, "ble_tracks", lambda: tracks)
    rows = rooms.measure_ble(report=quiet)
    assert [row.method for row in rows] == ["plain", "on particles", "learnt, forest"]
    centre = np.concatenate([track.states for track in tracks]).mean(axis=0)
    guess = np.mean([np.linalg.norm(track.states - centre, axis=1).mean() for track in tracks])
    assert all(0 < row.mean < guess for row in rows)


def test_a_filter_follows_the_simulated_room():
    rows = rooms.measure_dependent(1, report=quiet)
    assert {"learnt, forest", "plain, bandwidth 0.3"} < {row.method for row in rows}
    assert all(0 < row.mean < 8 for row in rows)  # guessing the middle of the room: 6.1 m


def test_particles_go_where_examples_are_missing():
    rows = rooms.measure_uncovered(1, report=quiet)
    assert {row.problem for row in rows} == {f"{name}, |x| <= 2" for name in ("1a", "1b", "2a", "2b")}
    assert all(0 < row.mean < 20 for row in rows)


def test_the_simulated_room_has_dependent_strengths():
    room = rooms.simulate_room(500, (0, 0))
    assert room.states.min() >= 0
    assert room.states.max() <= 15
    receivers = np.random.default_rng(7).uniform(0, 15, size=(12, 2))
    distance = np.linalg.norm(room.states[:, None] - receivers, axis=2)
    residual = room.observations - (-55 - 22 * np.log10(distance + 0.3))
    assert np.abs(np.corrcoef(residual.T)[np.triu_indices(12, 1)]).mean() > 0.3
