"""Things made by their name, with errors that say which names there are, or which one was probably meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from kmcf.support.typed import check_types

Made = TypeVar("Made")


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return a question about the known word closest to one that is not known; another sentence if none is close.

    Examples
    --------
    >>> did_you_mean("gausian", ["gaussian", "laplace"], "there are two.")
    "did you mean 'gaussian'?"
    >>> did_you_mean("zzz", ["gaussian", "laplace"], "there are two.")
    'there are two.'
    """
    close = get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


def made_by_name(
    kind: str, makers: Mapping[str, Callable[..., Made]], name: str, parameters: Mapping[str, Any]
) -> Made:
    """Make something, given its name and parameters, both of which may be wrong.

    Parameters
    ----------
    kind : str
        What the errors call it: "kernel".
    makers : mapping
        Classes or functions that make one, by name.
    name : str
        Which of them.
    parameters : mapping
        What to call it with.

    Examples
    --------
    >>> made_by_name("number", {"int": int}, "in", {})
    Traceback (most recent call last):
    ValueError: unknown number 'in'; did you mean 'int'?
    """
    if name not in makers:
        hint = did_you_mean(name, makers, f"the {kind}s are {', '.join(makers)}.")
        raise ValueError(f"unknown {kind} {name!r}; {hint}")
    known = list(inspect.signature(makers[name]).parameters)
    for given in parameters:
        if given not in known:
            hint = did_you_mean(given, known, f"it has {', '.join(known) or 'none'}.")
            raise ValueError(f"the {kind} {name!r} has no parameter {given!r}; {hint}")
    check_types(makers[name], parameters, f"the {kind} {name!r} has")
    return makers[name](**parameters)
