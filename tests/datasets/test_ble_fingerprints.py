"""Bluetooth fingerprints."""

import numpy as np
import pytest

from kmcf.datasets import ble_fingerprints, ble_receivers, ble_tracks
from kmcf.datasets.ble_fingerprints import _draws


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
