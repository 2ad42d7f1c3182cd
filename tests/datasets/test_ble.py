import gzip

import numpy as np
import pytest

from kmcf.datasets import ble_fingerprints, ble_receivers, ble_tracks
from kmcf.datasets.ble_fingerprints import _draws
from kmcf.support.alerts import SkippedDataWarning


def test_the_nine_tracks_are_as_described():
    tracks = {track.name: track for track in ble_tracks()}
    assert len(tracks) == 9
    assert len(tracks["straight_05"]) == pytest.approx(149, abs=1)
    assert sum(len(track) for track in tracks.values()) == pytest.approx(694, abs=5)
    assert tracks["straight_05"].counts["impossible strengths"] == 2
    for track in tracks.values():
        assert track.observations.shape == (len(track), 12)
        assert (track.observations < 0).all()
        assert (track.observations >= -120).all()
        assert (track.states > -1).all()
        assert (track.states < 21).all()
        assert (np.diff(track.time) > 0).all()
        assert track.units["states"] == "m"
        assert track.counts["malformed lines"] == 0


PACKETS = [
    "10.0,b,m,-80,1,2,0",
    "10.2,b,m,-70,3,2,0",
    "10.4,a,m,-60,2,2,0",
    "10.5,a,m,+29,2,2,0",
    "12.1,a,m,-50,9,9,0",
]


def written(folder, lines, name="walk", compress=False):
    text = "\n".join(lines) + "\n"
    file = folder / f"{name}_all_sensors.mbd{'.gz' * compress}"
    file.write_bytes(gzip.compress(text.encode()) if compress else text.encode())
    return file


@pytest.mark.parametrize("compress", [False, True])
def test_windows_average_what_each_receiver_heard(tmp_path, compress):
    written(tmp_path, PACKETS, compress=compress)
    written(tmp_path, ["5.0,c,m,-40,0,0,0"], name="other")
    _, track = ble_tracks(path=tmp_path)
    assert track.name == "walk"
    assert track.names["observations"] == ("a", "b", "c")
    np.testing.assert_allclose(track.observations, [[-60, -75, -100], [-50, -100, -100]])
    np.testing.assert_allclose(track.states, [[2, 2], [9, 9]])
    np.testing.assert_allclose(track.time, [0, 2])
    assert track.counts == {"malformed lines": 0, "impossible strengths": 1, "clock gaps": 1}


def test_malformed_packets_are_counted_or_named(tmp_path):
    file = written(tmp_path, [PACKETS[0], "oops", "11,b,m,nan,1,2,0", "11,b,m,-70,1"])
    with pytest.warns(SkippedDataWarning, match="3 malformed lines left out, the first in .*line 2"):
        (track,) = ble_tracks(path=tmp_path)
    assert track.counts["malformed lines"] == 3
    assert len(track) == 1
    with pytest.raises(ValueError, match=f"{file.name}, line 2: not a packet: 'oops'"):
        ble_tracks(path=tmp_path, strict=True)


def test_an_archive_that_is_cut_off_gives_what_is_there(tmp_path):
    lines = [f"{t / 10},a,m,{-60 - t % 7},1,{t},0" for t in range(5000)]
    file = written(tmp_path, lines, compress=True)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.warns(SkippedDataWarning, match="cut off"):
        (track,) = ble_tracks(path=tmp_path)
    assert 100 < len(track) < 500


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no file"):
        ble_tracks(path=tmp_path)
    written(tmp_path, ["oops"])
    with pytest.warns(SkippedDataWarning), pytest.raises(ValueError, match="no readable packet"):
        ble_tracks(path=tmp_path)
    with pytest.raises(ValueError, match="positive number of seconds"):
        ble_tracks(0)


def test_fingerprints_have_the_receivers_of_the_tracks():
    for number, places in ((1, 81), (2, 45)):
        prints = ble_fingerprints(number, samples=30)
        assert len(prints) == 30 * places
        assert len(np.unique(prints.states, axis=0)) == places
        assert prints.names["observations"] == ble_tracks()[0].names["observations"] == tuple(ble_receivers())
        assert (prints.observations >= -100).all()
        assert (prints.observations < -20).all()
    np.testing.assert_array_equal(prints.observations, ble_fingerprints(2, samples=30, random_state=0).observations)
    with pytest.raises(ValueError, match="number = 3; it must be 1 or 2"):
        ble_fingerprints(3)
    with pytest.raises(ValueError, match="samples = 0"):
        ble_fingerprints(samples=0)


def test_a_strong_fingerprint_is_near_its_receiver():
    """Independent of the tracks: where a receiver hears best is close to where it hangs."""
    prints, places = ble_fingerprints(1), np.array(list(ble_receivers().values()))[:, :2]
    best = [prints.states[prints.observations[:, column].argsort()[-100:]].mean(axis=0) for column in range(12)]
    distance = np.linalg.norm(np.array(best) - places, axis=1)
    shuffled = np.linalg.norm(np.array(best) - np.roll(places, 5, axis=0), axis=1)
    assert np.median(distance) < 4.5 < np.median(shuffled)


def test_strengths_are_drawn_from_the_histogram():
    edges = np.array([-3.0, -2.0, -1.0, 0.0])
    draws = _draws({"beacon": [0.25, 0.0, 0.75]}, edges, 4000, np.random.default_rng(0))
    np.testing.assert_allclose([np.mean(draws == edge) for edge in edges], [0.25, 0, 0.75, 0], atol=0.03)
    np.testing.assert_array_equal(_draws({}, edges, 2, np.random.default_rng(0)), -100)
