"""Types of settings: a word is not a number, and the text "false" is not False."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np


def check_types(make: Callable[..., Any], settings: Mapping[str, Any], whose: str) -> None:
    """Check settings against the annotations of whatever takes them; what is not annotated is not checked.

    Parameters
    ----------
    make : callable
        A class or a function.
    settings : mapping
        What it is given, by name.
    whose : str
        What the error calls it: "Hellinger has", "the kernel 'hellinger' has".

    Examples
    --------
    >>> def make(normalize: bool = False, gamma: float | None = None) -> None: ...
    >>> check_types(make, {"normalize": True, "gamma": 2}, "make has")
    >>> check_types(make, {"normalize": "false"}, "make has")
    Traceback (most recent call last):
    TypeError: make has normalize = 'false'; it must be True or False.
    """
    parameters = inspect.signature(make).parameters
    for name, value in settings.items():
        parameter = parameters.get(name)
        if parameter is None or parameter.annotation is inspect.Parameter.empty:
            continue
        kinds = _kinds(parameter.annotation)
        if not any(_fits(value, kind) for kind in kinds):
            wanted = [_WORDS.get(kind, "") for kind in kinds]
            raise TypeError(f"{whose} {name} = {value!r}; it must be {_listed(dict.fromkeys(filter(None, wanted)))}.")


def _kinds(annotation: Any) -> list[str]:
    """Return the alternatives of an annotation, without what stands in brackets."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    text = text if "|" not in str(annotation) else str(annotation)
    depth, plain = 0, ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        plain += letter if depth == 0 and letter != "]" else ""
    kinds = [part.strip() for part in plain.split("|")]
    return ["Sequence[Hashable]" if kind == "Sequence" and "Hashable" in text else kind for kind in kinds]


def _fits(value: Any, kind: str) -> bool:
    if kind == "None":
        return value is None
    if kind == "bool":
        return isinstance(value, bool | np.bool_)
    if kind == "int":
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind == "float":
        return hasattr(value, "__float__") and not isinstance(value, bool | np.bool_)
    if kind == "str":
        return isinstance(value, str | os.PathLike)
    if kind == "Sequence[Hashable]":  # a text is one, of letters
        return hasattr(value, "__len__")
    if kind in _LISTS:
        return not isinstance(value, str) and hasattr(value, "__len__")
    return kind == "Any" or not (value is None or isinstance(value, str | bool | int | float))


def _listed(words: Mapping[str, Any]) -> str:
    return " or ".join(words) or "an object"


_LISTS = ("Sequence", "FloatArray", "Array", "IntArray", "list", "tuple")
_WORDS = {
    "None": "None",
    "bool": "True or False",
    "int": "an integer",
    "float": "a number",
    "str": "a word",
    **dict.fromkeys(_LISTS, "a list of numbers"),
    "Sequence[Hashable]": "a list of letters",
    "Kernel": "a kernel",
    "Callable": "a function",
}
