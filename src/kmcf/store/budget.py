"""How much a file may ask for: how often it names an array, how deeply and how often its parts hold each other.

What is written once can be named many times, and what holds two things of which each holds two things grows without
end. Saving keeps within these limits, so that loading may insist on them.
"""

from __future__ import annotations

from typing import Any

from kmcf.store.errors import FileError

MOST_REPEATED = 1 << 28
"""Bytes of arrays that are named again, after the first time; saving writes an array anew rather than exceed it."""
DEEPEST = 100
"""How many objects may stand inside each other."""
MOST_PARTS = 1000
"""How many parts an object may have, those that are shared counted wherever they occur, beside two per object."""


class Repeats:
    """Counts the bytes of arrays that are named more than once.

    Examples
    --------
    >>> repeats = Repeats()
    >>> repeats.fits("array_0", 2**27), repeats.fits("array_0", 2**27), repeats.fits("array_0", 2**28)
    (True, True, False)
    """

    def __init__(self) -> None:
        self._named: set[str] = set()
        self._bytes = 0

    def fits(self, label: str, size: int) -> bool:
        """Count an array that is named, and say whether that is still within the limit.

        Parameters
        ----------
        label : str
            Which array.
        size : int
            Its bytes.
        """
        if label in self._named:
            if self._bytes + size > MOST_REPEATED:
                return False
            self._bytes += size
        self._named.add(label)
        return True


def check_nesting(root: Any) -> None:
    """Refuse objects that stand inside each other too deeply, or that hold shared parts without end.

    Whatever walks through an object (its description, its parameters, a copy, a fit) visits a part as often as it
    occurs: forty kernels, each the sum of the one before with itself, are a trillion.

    Parameters
    ----------
    root : JSON
        What a file holds.

    Examples
    --------
    >>> check_nesting({"object": "Gaussian", "number": 0, "state": {"bandwidth": 1.0}})
    """
    parts: dict[Any, tuple[int, int]] = {}
    size, _ = _measured(root, parts, 0)
    if size > MOST_PARTS + 2 * len(parts):
        raise FileError(
            f"its parts hold each other so often that they are {size:.3g} in all; about {MOST_PARTS} are allowed."
        )


def _measured(node: Any, parts: dict[Any, tuple[int, int]], depth: int) -> tuple[int, int]:
    """Return how many objects a node stands for, and how many of them stand inside each other at most."""
    if isinstance(node, list):
        return _together([_measured(item, parts, depth) for item in node if isinstance(item, list | dict)])
    if not isinstance(node, dict):
        return 0, 0
    if "same" in node:
        known = node["same"] if isinstance(node["same"], int) else None
        found = parts.get(known, (1, 1))
        _check_depth(depth + found[1])
        return found
    if "object" not in node:
        return _together([_measured(item, parts, depth) for item in node.values() if isinstance(item, list | dict)])
    _check_depth(depth + 1)
    state = node["state"].values() if isinstance(node.get("state"), dict) else ()
    size, height = _together([_measured(item, parts, depth + 1) for item in state if isinstance(item, list | dict)])
    number = node.get("number")
    parts[number if isinstance(number, int) else id(node)] = (size + 1, height + 1)
    return size + 1, height + 1


def _together(measured: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(size for size, _ in measured), max((height for _, height in measured), default=0)


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise FileError(f"its parts are nested more than {DEEPEST} deep.")
