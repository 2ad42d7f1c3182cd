"""Spikes and position as counts in bins, against counting by hand."""

import numpy as np
import pytest

from kmcf.datasets import examples, spikes_to_counts
from kmcf.datasets.spikes import speeds


def test_counts_and_positions_are_those_of_each_bin():
    rng = np.random.default_rng(0)
    times, positions = np.sort(rng.uniform(10.0, 14.0, size=200)), rng.normal(size=(200, 2))
    spikes, units = rng.uniform(9.0, 15.0, size=300), rng.integers(3, 7, size=300)
    recording = spikes_to_counts(spikes, units, times, positions, bin=0.5)
    for t, start in enumerate(times[0] + recording.time):
        inside = (spikes >= start) & (spikes < start + 0.5)
        assert recording.observations[t].tolist() == [int(np.sum(units[inside] == unit)) for unit in (3, 4, 5, 6)]
        near = (times >= start) & (times < start + 0.5)
        np.testing.assert_allclose(recording.states[t], positions[near].mean(axis=0))
    assert recording.names["observations"] == ("3", "4", "5", "6")
    outside = recording.counts["spikes outside the positions"]
    assert outside + recording.observations.sum() == 300


def test_order_does_not_matter_and_silent_bins_stay():
    times = np.arange(0.0, 5.1, 0.1)
    spikes, units = np.array([0.2, 4.1, 0.3]), np.array(["b", "a", "a"])
    first = spikes_to_counts(spikes, units, times, times, bin=1.0)
    order = np.random.default_rng(0).permutation(len(times))
    second = spikes_to_counts(spikes[::-1], units[::-1], times[order], times[order], bin=1.0)
    np.testing.assert_array_equal(first.observations, second.observations)
    np.testing.assert_allclose(first.states, second.states)
    assert first.observations.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0], [1, 0]]
    assert not first.missing.any()


def test_slow_bins_are_left_out_and_unknown_positions_are_no_examples():
    times = np.arange(0.0, 20.0, 0.05)
    places = np.where(times < 10.0, 0.0, 30.0 * (times - 10.0))
    places[(times > 14.99) & (times < 15.49)] = np.nan
    recording = spikes_to_counts([1.0], [0], times, places, bin=0.25, least_speed=20.0)
    assert recording.time.min() >= 9.0
    assert recording.time.max() > 19.0
    assert len(examples(recording)[0]) == len(recording) - 2


def test_the_speed_is_the_distance_per_second():
    along = np.outer(np.arange(20.0), [3.0, 4.0])
    np.testing.assert_allclose(speeds(along, 0.5), 10.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bin": 0.0}, "bin = 0.0; it must be a positive"),
        ({"bin": "1"}, "bin = '1'; it must be a positive"),
        ({"bin": 100.0}, "the positions span only 1 s"),
        ({"positions": np.zeros(2)}, "position_times has the shape"),
        ({"spike_units": [1, 2]}, "spike_units"),
        ({"spike_times": [], "spike_units": []}, "there are no spikes"),
        ({"spike_times": [np.nan]}, "spike 0 has no finite time"),
        ({"positions": np.full(3, np.nan), "least_speed": 1.0}, "known in 0 bins"),
    ],
)
def test_bad_input_gets_a_sentence(changes, message):
    good = {"spike_times": [0.5], "spike_units": [1], "position_times": [0.0, 0.5, 1.0], "positions": np.zeros(3)}
    with pytest.raises(ValueError, match=message):
        spikes_to_counts(**{**good, **changes})
