"""Gaps in time: counted, split at, filled or refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.datasets import columns_of, read_tables
from kmcf.datasets.time_gaps import missed_steps


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_gaps(tmp_path):
    path = write(tmp_path / "w.csv", "t,x,y\n0,0,0\n1,1,1\n2,2,2\n5,5,5\n6,6,6\n")
    how = {"state": "x", "observation": "y", "time": "t"}
    (kept,) = read_tables(path, **how)
    assert kept.counts == {"gaps": 1, "missed steps": 2}
    assert [part.states.ravel().tolist() for part in read_tables(path, **how, gaps="split")] == [[0, 1, 2], [5, 6]]
    (filled,) = read_tables(path, **how, gaps="fill")
    np.testing.assert_array_equal(filled.time, np.arange(7.0))
    np.testing.assert_array_equal(filled.observations.ravel(), [0, 1, 2, np.nan, np.nan, 5, 6])
    assert filled.missing.tolist() == [False] * 3 + [True] * 2 + [False] * 2
    with pytest.raises(ValueError, match="time advances by 3 to 5, where 1 is usual"):
        read_tables(path, **how, gaps="error")
    with pytest.raises(ValueError, match="gaps = 'skip'; it must be keep, split, fill, error"):
        read_tables(path, **how, gaps="skip")
    with pytest.raises(ValueError, match="gaps cannot be filled where there are controls"):
        read_tables(path, **how, control="x", gaps="fill")
    for gaps in ("fill", "error"):
        with pytest.raises(ValueError, match="gaps show in times only: name the column of the time"):
            read_tables(path, state="x", observation="y", gaps=gaps)
    assert read_tables(path, **how, step=3.0)[0].counts["gaps"] == 0


def test_a_gap_too_long_to_fill(tmp_path):
    path = write(tmp_path / "w.csv", "t,y\n0,0\n1,1\n2,1\n1e9,2\n")
    with pytest.raises(ValueError, match="would turn 4 rows into 1000000001"):
        read_tables(path, observation="y", time="t", gaps="fill")


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=30), st.floats(0.1, 10.0))
def test_missed_steps_by_their_definition(elapsed, step):
    for found, time in zip(missed_steps(np.array(elapsed), step), elapsed, strict=True):
        assert found == (max(round(time / step) - 1, 0) if time > 1.5 * step else 0)


def test_single_rows_have_no_usual_step(tmp_path):
    path = write(tmp_path / "w.csv", "t,y\n0,1\n")
    recordings = read_tables([path, path], observation="y", time="t", gaps="fill")
    assert columns_of(recordings)["step"] is None
    assert [len(recording) for recording in recordings] == [1, 1]
