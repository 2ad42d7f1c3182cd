"""Texts from files are shown, not obeyed."""

import pytest
from file_surgery import rebuilt

import kmcf
from kmcf.kernels import Gaussian
from kmcf.store import FileError, PassedAgainError
from kmcf.support.alerts import warn_user
from kmcf.support.plain_text import printable

CLEAR = "\x1b[2J"
HIDDEN = [CLEAR, "\x9b2J", "\x07", "\x7f", "\r", "\u202e", "\u2066", "\u2028", "\ud800"]


@pytest.mark.parametrize("text", HIDDEN, ids=ascii)
def test_what_a_terminal_obeys_is_escaped(text):
    shown = printable(f"a{text}b")
    assert shown.isprintable()
    assert shown.encode("ascii").decode("unicode_escape") == f"a{text}b"  # and nothing is lost


def test_ordinary_text_stays():
    text = "π ≈ 3.14,\n\tnaïve – 漢字 🙂"
    assert printable(text) == text


def changed(folder, change):
    path = folder / "k.kmcf"
    kmcf.store.save(Gaussian(1.0), path)
    path.write_bytes(rebuilt(path.read_bytes(), change))
    return path


def test_errors_about_files_are_escaped(tmp_path):
    path = changed(tmp_path, lambda m, _: m.update(passed_again={"transition": f"mine{CLEAR}"}))
    with pytest.raises(PassedAgainError) as missing:
        kmcf.load(path)
    path = changed(tmp_path, lambda m, _: m["root"]["state"].update(x={"scalar": [f"{CLEAR}", "00"]}))
    with pytest.raises(FileError) as senseless:
        kmcf.load(path)
    for caught in (missing, senseless):
        assert "\x1b" not in str(caught.value)
        assert "\\x1b[2J" in str(caught.value)


def test_warnings_are_escaped():
    with pytest.warns(UserWarning, match="odd") as caught:
        warn_user(f"odd {CLEAR}", UserWarning)
    assert str(caught[0].message) == "odd \\x1b[2J"
