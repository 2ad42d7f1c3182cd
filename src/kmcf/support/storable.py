"""How a class takes part in saving: nothing to do, or two small hooks.

By default a file holds an object's attributes (``vars``, the fields of a dataclass or named tuple) and gives them back.
A class that should be stored otherwise defines

- ``to_store(self) -> dict``: the attributes to store, under any names;
- ``from_store(self, state: dict) -> None``: fills a blank object (its constructor is *not* called) from them;
- ``after_loading(self, passed: set[str]) -> None``: puts the parts of the outermost object together, given the names
  of what the user passed again.

Which classes may be restored at all is the whitelist of :mod:`kmcf.store`, which this module knows nothing about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcf.support.plain_text import printable


@dataclass(frozen=True)
class Versioned:
    """A part of an object that can be computed again from the rest, stored with the version of its layout."""

    value: Any
    version: int


@dataclass(frozen=True)
class Recomputable:
    """What ``from_store`` gets in place of a :class:`Versioned` part: its version, and a way to read it.

    The part is decoded only on request, since the layout of another version may make no sense.
    """

    version: int
    _read: Any

    def read(self) -> Any:
        """Return the part."""
        return self._read()


class PassedAgainError(TypeError):
    """Something of the user's own was not passed again at loading, or is not what the file was saved with.

    Parameters
    ----------
    message : str
        What to pass.

    Examples
    --------
    >>> import tempfile
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> def move(states, control, rng):
    ...     return 0.9 * states
    >>> train = model.simulate(40, random_state=0)
    >>> path = tempfile.mkdtemp() + "/model.kmcf"
    >>> kmcf.KernelMonteCarloFilter(move, random_state=0).fit(train.states, train.observations).save(path)
    >>> kmcf.load(path)
    Traceback (most recent call last):
    ...
    kmcf.support.storable.PassedAgainError: ...
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))
