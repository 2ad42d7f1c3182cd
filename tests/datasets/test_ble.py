"""Bluetooth tracks."""

import gzip

import numpy as np
import pytest

from kmcf.datasets import ble_tracks
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
