"""The linear track in the package."""

import numpy as np
import pytest

from kmcf.datasets import linear_track


def test_running_bins_are_a_part_of_all_bins():
    everything, running = linear_track(least_speed=None), linear_track()
    assert len(everything) == 7929
    steps = np.rint(running.time / 0.25).astype(int)
    np.testing.assert_array_equal(everything.observations[steps], running.observations)
    np.testing.assert_array_equal(everything.states[steps], running.states)
    assert running.known.all()
    assert running.units["states"] == "px"
    silent = (running.observations.sum(axis=1) == 0).mean()
    assert 0.05 < silent < 0.07


def test_another_file_may_be_read(tmp_path):
    arrays = {"spike_time": [0.1], "spike_unit": [0], "position_time": [0.0, 0.5, 1.0], "position": np.zeros((3, 2))}
    np.savez(tmp_path / "linear_track.npz", **arrays)
    assert len(linear_track(0.5, None, tmp_path)) == 2
    del arrays["position"]
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(ValueError, match="has no array position"):
        linear_track(path=tmp_path / "other.npz")
