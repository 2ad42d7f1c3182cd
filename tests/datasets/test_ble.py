import numpy as np
import pytest

from kmcf.datasets import ble_tracks
from kmcf.datasets.ble import _packets, _windowed


def test_the_nine_tracks_are_as_described():
    tracks = {track.name: track for track in ble_tracks()}
    assert len(tracks) == 9
    assert len(tracks["straight_05"]) == pytest.approx(149, abs=1)
    assert sum(len(track) for track in tracks.values()) == pytest.approx(694, abs=5)
    for track in tracks.values():
        assert track.observations.shape == (len(track), 12)
        assert (track.observations < 0).all()
        assert (track.observations >= -120).all()
        assert (track.states > -1).all()
        assert (track.states < 21).all()
        assert (np.diff(track.time) > 0).all()
        assert track.units["states"] == "m"


def test_windows_average_what_each_receiver_heard():
    lines = [
        "10.0,b,m,-80,1,2,0",
        "10.2,b,m,-70,3,2,0",
        "10.4,a,m,-60,2,2,0",
        "10.5,a,m,+29,2,2,0",
        "12.1,a,m,-50,9,9,0",
    ]
    track = _windowed("t", *_packets(lines, "file"), ["a", "b", "c"], 1.0)
    np.testing.assert_allclose(track.observations, [[-60, -75, -100], [-50, -100, -100]])
    np.testing.assert_allclose(track.states, [[2, 2], [9, 9]])
    np.testing.assert_allclose(track.time, [0, 2])


def test_bad_lines_and_windows_get_a_sentence():
    with pytest.raises(ValueError, match="file, line 2: not a packet"):
        _packets(["10.0,b,m,-80,1,2,0", "oops"], "file")
    with pytest.raises(ValueError, match="positive number of seconds"):
        ble_tracks(0)
