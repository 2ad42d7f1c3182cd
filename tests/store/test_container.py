"""The file itself: a plain archive, the same bytes for the same filter, sealed."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from file_surgery import sealed
from store_cases import (
    STATES,
    move,
    small,
)

import kmcf
from kmcf.store import FileError


def test_the_file_is_a_plain_archive_of_json_and_arrays(tmp_path):
    small().save(tmp_path / "m.kmcf")
    with zipfile.ZipFile(tmp_path / "m.kmcf") as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {Path(name).suffix for name in names} == {".json", ".npy"}
        json.loads(archive.read("kmcf.json"), parse_constant=lambda word: pytest.fail(word))  # strict JSON: no NaN
    with np.load(tmp_path / "m.kmcf") as arrays:
        assert any(np.array_equal(arrays[name], STATES[:25]) for name in names if name.endswith(".npy"))


def test_the_same_filter_gives_the_same_bytes(tmp_path):
    for name in ("a.kmcf", "b.kmcf"):
        small().save(tmp_path / name)
    assert (tmp_path / "a.kmcf").read_bytes() == (tmp_path / "b.kmcf").read_bytes()


@pytest.mark.parametrize("data", [b"", b"PK", b"hello", bytes(200), b"PK" + bytes(500)], ids=repr)
def test_other_files_are_not_ours(data, tmp_path):
    (tmp_path / "m.kmcf").write_bytes(data)
    with pytest.raises(FileError, match=r"not a file written by kmcf|was not written by kmcf"):
        kmcf.load(tmp_path / "m.kmcf")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        kmcf.load(tmp_path / "nothing.kmcf")


def test_another_format_says_what_to_do(whole, tmp_path):
    (tmp_path / "m.kmcf").write_bytes(sealed(whole, version=3))
    with pytest.raises(FileError, match=r"has format 3, and this .* reads formats up to 2: .* install a newer"):
        kmcf.load(tmp_path / "m.kmcf", transition=move)
