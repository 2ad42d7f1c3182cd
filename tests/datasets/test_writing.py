"""Tables as files: numbers survive, and what is no table is refused."""

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kmcf
from kmcf.datasets import Recording, read_tables, write_table


@given(st.lists(st.lists(st.floats(allow_nan=False, width=64), min_size=3, max_size=3), min_size=1, max_size=8))
def test_numbers_survive_a_table(rows):
    import tempfile
    from pathlib import Path

    values = np.array(rows)
    recording = Recording("a, b", np.arange(len(values)) * 1.0, values[:, :1], values[:, 1:])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.csv"
        write_table(recording, path)
        how = {"state": "state_0", "observation": "obs*", "time": "time", "sequence": "sequence"}
        (found,) = read_tables(path, **how)
    np.testing.assert_array_equal(found.states, recording.states)
    np.testing.assert_array_equal(found.observations, recording.observations)
    assert found.name == "a, b"


def test_tables_as_parquet_and_what_is_no_table(tmp_path):
    tracks = kmcf.datasets.ble_tracks()[:2]
    write_table(tracks, tmp_path / "w.parquet")
    table = pandas.read_parquet(tmp_path / "w.parquet")
    np.testing.assert_array_equal(table[["x", "y"]], np.concatenate([track.states for track in tracks]))
    with pytest.raises(ValueError, match=r"ends in '\.xls'"):
        write_table(tracks, tmp_path / "w.xls")
    words = Recording("w", np.arange(2.0), np.zeros((2, 1)), ["a", "b"])
    with pytest.raises(TypeError, match="the observations of 'w' are objects"):
        write_table(words, tmp_path / "w.csv")


def test_columns_that_share_a_name_in_a_recording(tmp_path):
    names = {"states": ("x",), "observations": ("x",)}
    write_table(Recording("w", np.arange(1.0), np.zeros((1, 1)), np.ones((1, 1)), names=names), tmp_path / "w.csv")
    assert (tmp_path / "w.csv").read_text() == "sequence,time,x,x_\nw,0.0,0.0,1.0\n"
