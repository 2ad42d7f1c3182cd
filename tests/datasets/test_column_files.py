"""Files with named columns: CSV, Parquet, NPZ."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.datasets import column_files, read_tables
from kmcf.datasets.column_files import csv_rows, read_columns


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_dialects(delimiter, end, encoding, tmp_path):
    text = end.join(delimiter.join(row) for row in (["größe", '"a b"'], ["1.5", "2"], ["-1e3", ".5"])) + end + end
    path = tmp_path / "w.csv"
    path.write_bytes(text.encode(encoding))
    given_encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    (found,) = read_tables(path, observation=["größe", "a b"], encoding=given_encoding)
    np.testing.assert_array_equal(found.observations, [[1.5, 2.0], [-1000.0, 0.5]])


def test_parquet_with_nulls_dates_and_words(tmp_path):
    table = pandas.DataFrame(
        {
            "when": pandas.to_datetime(["2026-01-01 00:00:00.0", "2026-01-01 00:00:01.5"]),
            "who": ["a", "a"],
            "x": pandas.array([1, None], dtype="Int64"),
            "y": [0.5, None],
        }
    )
    table.to_parquet(tmp_path / "w.parquet")
    (found,) = read_tables(tmp_path / "w.parquet", state="x", observation="y", time="when", sequence="who")
    np.testing.assert_array_equal(found.states, [[1.0], [np.nan]])
    np.testing.assert_array_equal(found.observations, [[0.5], [np.nan]])
    np.testing.assert_allclose(np.diff(found.time), [1.5])
    assert found.time[0] == pandas.Timestamp("2026-01-01").timestamp()
    assert found.units["time"] == "s since 1970"


def test_archives_of_matrices(tmp_path):
    scans = np.arange(12.0).reshape(3, 2, 2)
    np.savez(tmp_path / "w.npz", scan=scans, x=np.arange(3), who=np.array(["a", "b", "a"]))
    one, two = read_tables(tmp_path / "w.npz", state="x", observation="scan", sequence="who")
    np.testing.assert_array_equal(one.observations, scans[[0, 2]].reshape(2, 4))
    assert two.names["observations"] == ("scan_0", "scan_1", "scan_2", "scan_3")
    np.savez(tmp_path / "objects.npz", x=np.array([{}, {}], dtype=object))
    with pytest.raises(ValueError, match="cannot be read as an archive of plain arrays"):
        read_tables(tmp_path / "objects.npz", observation="x")


def test_rows_come_as_soon_as_their_line_is_there():
    class Slow(io.RawIOBase):
        """Gives one line per read and counts."""

        def __init__(self):
            self.lines = [b"x,y\n", b"1,2\n", b"3,4\n"]
            self.read_so_far = 0

        def readline(self, size=-1):
            self.read_so_far += 1
            return self.lines.pop(0) if self.lines else b""

    source = Slow()
    rows = csv_rows(source, "utf-8", "slow")
    assert next(rows) == (1, ["x", "y"])
    assert source.read_so_far == 1
    assert next(rows) == (2, ["1", "2"])
    assert source.read_so_far == 2


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_an_error(data):
    with contextlib.suppress(ValueError):  # anything else would be a bug
        for _, cells in csv_rows(io.BytesIO(data), "utf-8", "noise"):
            assert cells


def test_an_array_that_could_be_a_column_of_another(tmp_path):
    for order in (("o", "o_0"), ("o_0", "o")):
        arrays = {"o": np.zeros((3, 2)), "o_0": np.ones(3)}
        np.savez(tmp_path / "w.npz", **{name: arrays[name] for name in order})
        with pytest.raises(ValueError, match="an array 'o_0' beside the array 'o', whose column 'o_0' it could be"):
            read_columns(tmp_path / "w.npz")


def test_damaged_archives_are_refused_in_a_sentence(tmp_path):
    np.savez_compressed(tmp_path / "w.npz", x=np.arange(50.0), name=np.array(["a"] * 50))
    whole = (tmp_path / "w.npz").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(len(data), size=rng.integers(1, 5)):
            data[place] ^= 1 << rng.integers(8)
        (tmp_path / "d.npz").write_bytes(data[: rng.integers(1, len(data) + 1)] if rng.random() < 0.3 else data)
        with contextlib.suppress(ValueError):  # nothing else
            read_columns(tmp_path / "d.npz")
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(ValueError, match="cannot be read as an archive of plain arrays: File is not a zip file"):
        read_columns(tmp_path / "one.npz")


@pytest.mark.parametrize("encoding", ["base64", "rot13", "hex", "zlib", "utf-8\0", "", "none"])
def test_encodings_that_are_none(tmp_path, encoding):
    (tmp_path / "w.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match="there is no encoding"):
        read_columns(tmp_path / "w.csv", encoding)


class Endless(io.RawIOBase):
    """As /dev/zero."""

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = bytes(len(buffer))
        return len(buffer)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_line_without_an_end_is_refused(encoding, monkeypatch):
    monkeypatch.setattr(column_files, "LONGEST", 1 << 20)
    with pytest.raises(ValueError, match="stdin, line 1 is longer than 1 MB, so this is no table"):
        list(csv_rows(io.BufferedReader(Endless()), encoding, "stdin"))
    text = "x\n" + "1\n" * 10 + "2" * 100_000 + "\n"
    rows = list(csv_rows(io.BytesIO(text.encode(encoding)), encoding, "stdin"))
    assert [cells for _, cells in rows[-2:]] == [["1"], ["2" * 100_000]]


def test_devices_and_pipes_are_no_files():
    with pytest.raises(ValueError, match=r"/dev/null is no ordinary file.*: save what it gives as a file\."):
        read_columns(Path("/dev/null"))
