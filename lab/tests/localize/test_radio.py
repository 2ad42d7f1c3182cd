"""What was heard lately, against a loop over steps and receivers."""

import numpy as np

from kmcf.datasets import Recording, ble_tracks
from kmcf_lab.localize.radio import heard_lately, load_tracks


def test_means_are_those_of_what_was_heard():
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.integers(1, 4, size=30)).astype(float)  # windows without a packet are left out
    strengths = np.where(rng.random((30, 3)) < 0.5, -100.0, rng.uniform(-90.0, -40.0, size=(30, 3)))
    found = heard_lately(Recording("walk", time, np.zeros((30, 2)), strengths), (2.0, 5.0)).observations
    assert found.shape == (30, 6)
    for t in range(30):
        for receiver in range(3):
            for place, seconds in enumerate((2.0, 5.0)):
                heard = [
                    strengths[s, receiver]
                    for s in range(t + 1)
                    if time[t] - time[s] < seconds and strengths[s, receiver] != -100.0
                ]
                wanted = np.mean(heard) if heard else -100.0
                np.testing.assert_allclose(found[t, 3 * place + receiver], wanted)


def test_one_second_changes_nothing_and_none_leaves_the_tracks_alone():
    usual = ble_tracks()
    for spans in ((), (1.0,)):
        tracks = load_tracks(None, window=1.0, heard=spans).recordings
        for track, expected in zip(tracks, usual, strict=True):
            np.testing.assert_allclose(track.observations, expected.observations)
            np.testing.assert_array_equal(track.states, expected.states)
