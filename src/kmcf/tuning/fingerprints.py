"""What identifies data and settings: short hashes that cover values, and are the same in every process."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from kmcf.support.estimators import Estimator

PLAIN = (type(None), bool, int, float, complex, str, bytes)
DEEPEST = 30


def fingerprint(data: Any) -> str:
    """Return a short hash of some data; equal data have equal hashes.

    Examples
    --------
    >>> fingerprint([1, 2]) == fingerprint([1, 2]), fingerprint([1, 2]) == fingerprint([1, 3])
    (True, False)
    """
    try:
        return str(joblib.hash(data))[:16]
    except Exception:  # objects that cannot be pickled: by their printed form
        return _short(repr(data))


def fingerprint_of_settings(settings: Any) -> str:
    """Return a short hash of settings: numbers, words, arrays, collections, kernels, transitions and functions.

    Arrays and collections count by what they hold; kernels by their parameters; transitions by what they have learnt,
    too, since they keep it; functions by their name, the numbers with a decimal point in their text, their defaults and
    what they enclose. Other objects count by their class: they may change as they are used.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> first, second = (fingerprint_of_settings({"kernel": Gaussian(np.array([1.0, s]))}) for s in (2.0, 3.0))
    >>> first == second
    False
    """
    return _short(_essence(settings, 0))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()[:16]


def _essence(value: Any, depth: int) -> str:
    """Return a text that is the same for equal settings, in whichever process."""
    if depth > DEEPEST:
        return "..."
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, list | tuple | np.ndarray):
        return f"{type(value).__name__}({', '.join(_essence(item, depth + 1) for item in value)})"
    if isinstance(value, set | frozenset):
        return f"set({', '.join(sorted(_essence(item, depth + 1) for item in value))})"
    if isinstance(value, Mapping):
        pairs = sorted((_essence(key, depth + 1), _essence(item, depth + 1)) for key, item in value.items())
        return f"dict({', '.join(f'{key}: {item}' for key, item in pairs)})"
    name = type(value).__qualname__
    parts = _function_parts(value) if hasattr(value, "__qualname__") else _object_parts(value)
    return f"{getattr(value, '__qualname__', name)} {_essence(parts, depth + 1) if parts else ''}"


def _object_parts(value: Any) -> Any:
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if hasattr(type(value), "_get_param_names"):
        parts = dict(value.get_params(deep=False))
        forgetful = (BaseEstimator.__sklearn_clone__, Estimator.__sklearn_clone__)
        if type(value).__sklearn_clone__ not in forgetful:  # it keeps what it has learnt
            parts |= {name: item for name, item in vars(value).items() if name.endswith("_")}
        return parts
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _function_parts(function: Any) -> Any:
    """Return the values inside a function; its text may be compiled differently by another Python."""
    owner = getattr(function, "__self__", None)
    code = getattr(function, "__code__", None)
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if _is_filled(cell)]
    return {
        "owner": None if owner is None or isinstance(owner, type) else _object_parts(owner),
        "numbers": [] if code is None else [item for item in code.co_consts if isinstance(item, float)],
        "defaults": [getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)],
        "enclosed": [item for item in cells if isinstance(item, (*PLAIN, np.generic, np.ndarray, list, tuple))],
    }


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
