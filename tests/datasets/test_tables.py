"""Recordings from tables."""

import numpy as np
import pytest

from kmcf.datasets import columns_of, read_tables
from kmcf.datasets.column_files import first_incomplete


def write(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding)
    return path


def test_roles_sequences_and_names(tmp_path):
    path = write(tmp_path / "walk.csv", "who,t,x,s 1,s 2,u\nb,0,1,10,11,5\na,3,2,20,21,6\nb,1,,12,,7\n")
    first, second = read_tables(path, state="x", observation="s *", control="u", time="t", sequence="who")
    assert (first.name, second.name) == ("b", "a")
    np.testing.assert_array_equal(first.states, [[1.0], [np.nan]])
    np.testing.assert_array_equal(first.observations, [[10, 11], [12, np.nan]])
    np.testing.assert_array_equal(first.controls, [[5], [7]])
    np.testing.assert_array_equal(second.time, [3.0])
    assert columns_of([first, second]) == {
        "state": ["x"], "observation": ["s 1", "s 2"], "control": ["u"], "time": "t", "sequence": "who", "step": 1.0,
    }  # fmt: skip


def test_several_files_and_angles(tmp_path):
    files = [write(tmp_path / f"{name}.csv", "a,x,y\n0.1,1,2\n0.2,2,3\n") for name in ("one", "two")]
    recordings = read_tables(files, state=["x", "a"], observation="y", angles="a")
    assert [recording.name for recording in recordings] == ["one", "two"]
    assert recordings[0].angles == (1,)
    assert recordings[0].controls is None
    np.testing.assert_array_equal(recordings[1].time, [0, 1])


def test_the_state_cannot_be_among_the_observations(tmp_path):
    path = write(tmp_path / "walk.csv", "x,s\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="'x' is named as state and as observation"):
        read_tables(path, state="x", observation="*")


@pytest.mark.parametrize("last", ["1.7e9", "1e300", "1.7e308"])
def test_a_jump_in_time_is_counted_but_not_filled(tmp_path, last):
    path = write(tmp_path / "w.csv", f"t,y\n-1e308,5\n0,0\n1,1\n2,1\n3,1\n{last},2\n")
    (kept,) = read_tables(path, observation="y", time="t", step=1.0)
    assert kept.counts["gaps"] == 2
    assert kept.counts["missed steps"] > 10**9
    with pytest.raises(ValueError, match=r"would turn 6 rows into \d+; keep them, or split"):
        read_tables(path, observation="y", time="t", gaps="fill")
    assert [len(part) for part in read_tables(path, observation="y", time="t", gaps="split", step=1.0)] == [1, 4, 1]


def test_times_that_are_infinite_or_missing_are_named(tmp_path):
    for first, problem in (("inf", "infinite"), ("-1e999", "infinite"), ("NaT", "missing"), ("", "missing")):
        for rest in ("1\n", "2020-01-01\n") if problem == "missing" else ("1\n",):
            path = write(tmp_path / "w.csv", f"y,t\n1,{first}\n2,{rest}")
            with pytest.raises(ValueError, match=rf"w\.csv, line 2, column 't': the time is {problem}"):
                read_tables(path, observation="y", time="t")


def test_a_missing_date_in_an_archive(tmp_path):
    for place in (0, 1):
        dates = np.array(["2020-01-01", "2020-01-02"], dtype="M8[s]")
        dates[place] = "NaT"
        np.savez(tmp_path / "w.npz", t=dates, y=np.zeros(2))
        with pytest.raises(ValueError, match=rf"w\.npz, row {place + 1}, column 't': the time is missing"):
            read_tables(tmp_path / "w.npz", observation="y", time="t")


def test_files_of_the_same_name_are_told_apart(tmp_path):
    for name in ("a/walk.csv", "b/walk.csv", "b/run.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, "y,who\n1,p\n2,q\n")

    def names(*files, **options):
        read = read_tables([tmp_path / file for file in files], observation="y", **options)
        return [recording.name for recording in read]

    assert names("a/walk.csv", "b/walk.csv") == ["a/walk", "b/walk"]
    assert names("a/walk.csv", "b/run.csv") == ["walk", "run"]
    assert names("a/walk.csv", "b/walk.csv", sequence="who") == ["a/walk/p", "a/walk/q", "b/walk/p", "b/walk/q"]
    write(tmp_path / "a/walk.txt", "y\n1\n")
    assert names("a/walk.csv", "a/walk.txt") == ["walk.csv", "walk.txt"]
    assert names("a/walk.csv", "a/walk.csv") == ["walk", "walk"]  # the same one, twice


def test_where_an_observation_is_incomplete(tmp_path):
    good = write(tmp_path / "good.csv", "x,y,z\n1,1,1\n1,,\n")
    bad = write(tmp_path / "bad.csv", "x,y,z\n,1,\n1,,\n\n1,2,NA\n")
    assert first_incomplete([good], ["y", "z"]) is None
    assert first_incomplete([good, bad], "y,z", "x") == "bad.csv, line 5, column 'z'"
    assert first_incomplete([good, bad], ["y", "z"]) == "bad.csv, line 2, column 'z'"
