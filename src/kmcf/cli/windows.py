"""``--window``: the last few observations as one, from the words typed to the statements of a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kmcf.cli.script import Code, Script, call

if TYPE_CHECKING:
    from kmcf.datasets import Window

STEP = Code("kmcf.datasets.columns_of(recordings)['step']")


class WindowWords(NamedTuple):
    """One window as typed: so many observations, or so many seconds."""

    length: int | None = None
    seconds: float | None = None
    fill: str = "nan"

    @property
    def code(self) -> Code:
        """The code that makes it; how many observations some seconds hold is learnt from ``recordings``."""
        filled = {} if self.fill == "nan" else {"fill": self.fill}
        if self.seconds is not None:
            return call("kmcf.Window.spanning", self.seconds, STEP, **filled)
        return call("kmcf.Window", self.length, **filled)


def read_windows(text: str | None, *, timed: bool = True) -> list[WindowWords]:
    """Read windows, separated by commas.

    Parameters
    ----------
    text : str or None
        As typed; None: none.
    timed : bool
        Whether there are times, which seconds need.

    Examples
    --------
    >>> read_windows("3,2.5s:repeat")
    [WindowWords(length=3, seconds=None, fill='nan'), WindowWords(length=None, seconds=2.5, fill='repeat')]
    """
    return [] if text is None else [_one(word.strip(), timed=timed) for word in text.split(",")]


def read_window(text: str | None, *, timed: bool = True) -> WindowWords | None:
    """Read one window at most; only ``kmcf tune`` chooses among several."""
    found = read_windows(text, timed=timed)
    if len(found) > 1:
        raise ValueError(f"--window {text}: only kmcf tune chooses among several windows; name one.")
    return found[0] if found else None


def _one(word: str, *, timed: bool) -> WindowWords:
    size, _, fill = word.partition(":")
    try:
        if size.endswith("s"):
            read = WindowWords(seconds=float(size.removesuffix("s")), fill=fill or "nan")
        else:
            read = WindowWords(int(size), fill=fill or "nan")
    except ValueError:
        read = WindowWords()
    number = read.length if read.seconds is None else read.seconds
    if number is None or not 0 < number < float("inf") or read.fill not in ("nan", "repeat"):
        raise ValueError(
            f"--window {word}: it must be a positive number of observations, as in 3, or of seconds, as in 5s; behind "
            "it may stand :repeat."
        )
    if read.seconds is not None and not timed:
        raise ValueError(f"--window {word}: seconds need times; name their column with --time.")
    return read


def check_floor(windows: list[WindowWords], floor: Any) -> None:
    """Refuse a floor that would take what is not there, at the start of a sequence, for silence."""
    hollow = [window for window in windows if window.fill == "nan" and window.length != 1]
    if floor is not None and hollow:
        raise ValueError(
            "--floor would take observations that are not there, as at the start of a sequence, for silence; with a "
            "floor write --window 3:repeat."
        )
    if isinstance(floor, list) and len(windows) > 1:
        raise ValueError("--floor with one entry per column cannot serve windows of several lengths; give one.")


def window_code(window: Window) -> Code:
    """Return the code that makes a window again."""
    given = window.described()
    further = {"seconds": given["seconds"]} if given["seconds"] is not None else {}
    further |= {"fill": given["fill"]} if given["fill"] != "nan" else {}
    return call("kmcf.Window", given["length"], **further)


def add_windows(script: Script, window: Code | None, *, check: Callable[[dict[str, Any]], None] | None = None) -> None:
    """Add the statements that make the observations of ``recordings`` windows, if there is to be one."""
    if window is not None:
        script.add(f"window = {window}", check=check)
        script.add("recordings = kmcf.datasets.windowed(recordings, window)")


def check_length(names: dict[str, Any]) -> None:
    """Refuse a window that is longer than every sequence: it would hold nothing but copies."""
    longest = max(len(recording) for recording in names["recordings"])
    length = names["window"].length
    if length > longest:
        raise ValueError(f"a window of {length} observations is longer than the longest sequence, which has {longest}.")
