"""From objects to JSON and arrays.

Numbers, text and lists stand for themselves; everything else is a JSON object with one tag that says what it is (see
``README.md`` for the list). Objects of whitelisted classes are stored by their attributes, shared objects once. What
the user must pass again is a name only: the path of constructor arguments that leads to it, as in scikit-learn.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import os
from typing import Any

import numpy as np
from scipy import sparse

from kmcf.kernels import FromCallable, FromSklearn
from kmcf.numerics.arrays import Array
from kmcf.store.budget import Repeats
from kmcf.store.container import KINDS
from kmcf.store.registry import name_of_class, name_of_function
from kmcf.store.regressors import dump_regressor, is_sklearn
from kmcf.support.storable import Versioned

CONTAINERS: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}


class Encoder:
    """Encodes one object; then holds its arrays and bytes, and the names of what has to be passed again."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.blobs: dict[str, bytes] = {}
        self.passed_again: dict[str, str] = {}
        """Names of what the user must pass again, with a description of each."""
        self._numbers = itertools.count()
        self._seen: dict[int, Any] = {}
        self._repeats = Repeats()
        self._alive: list[Any] = []  # so that no id is reused

    def encode(self, value: Any, name: str | None = "", trail: str = "") -> Any:
        """Return the JSON for a value.

        Parameters
        ----------
        value : object
            What to encode.
        name : str or None
            What the user would call it when passing it again; None where it cannot be passed.
        trail : str
            Where it was found, for error messages.
        """
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return float(value) if math.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return [self.encode(item, _item(name, i), f"{trail}[{i}]") for i, item in enumerate(value)]
        seen = self._seen.get(id(value))
        if seen is not None and self._may_repeat(value, name, seen):
            return seen
        simple = self._simple(value, name, trail)
        return self._shared(value, name, trail) if simple is None else simple

    def _may_repeat(self, value: Any, name: str | None, seen: dict[str, Any]) -> bool:
        """Say whether a reference will do for something that occurred before."""
        if "pass" in seen:  # passed under two names, it is asked for under both
            return not name
        return "array" not in seen or self._repeats.fits(seen["array"], value.nbytes)

    def _simple(self, value: Any, name: str | None, trail: str) -> Any:
        """Encode plain Python and NumPy values; None for anything else."""
        if type(value) in CONTAINERS:
            items = [self.encode(item, _item(name, i), f"{trail}[{i}]") for i, item in enumerate(value)]
            return {CONTAINERS[type(value)]: items}
        if isinstance(value, dict):
            keys = [self.encode(key, None, f"a key of {trail}") for key in value]
            values = [self.encode(item, _entry(name, key), f"{trail}[{key!r}]") for key, item in value.items()]
            return {"dict": [keys, values]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, np.generic) and value.dtype.kind in KINDS:
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        if isinstance(value, os.PathLike):
            return {"path": os.fspath(value)}
        if isinstance(value, np.random.Generator):
            return {"generator": self.encode(value.bit_generator.state, None, trail)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=False), None, trail)}
        if isinstance(value, Versioned):
            return {"versioned": [value.version, self.encode(value.value, None, trail)]}
        return None

    def _shared(self, value: Any, name: str | None, trail: str) -> Any:
        """Encode what may occur several times, and remember it."""
        if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
            node = reference = self._array(value)
        elif sparse.issparse(value) and value.format == "csr":
            parts = [self.encode(part, None, trail) for part in (value.data, value.indices, value.indptr)]
            node = reference = {"sparse": [list(value.shape), *parts]}
        elif (function := name_of_function(value)) is not None:
            node = reference = {"function": function}
        elif isinstance(value, FromCallable | FromSklearn):
            node = reference = {**self._given_kernel(value, name, trail), "kernel": True}
        elif (class_name := name_of_class(type(value))) is not None:
            number = next(self._numbers)  # before the parts get their numbers
            node = {"object": class_name, "number": number, "state": self._state(value, name, trail)}
            reference = {"same": number}
        elif is_sklearn(value):
            node = reference = {"regressor": self._blob(dump_regressor(value, trail))}
        else:
            node = reference = self._passed_again(value, name, trail)
        self._seen[id(value)] = reference
        self._alive.append(value)
        return node

    def _array(self, array: Array) -> dict[str, Any]:
        label = f"array_{len(self.arrays)}"
        self.arrays[label] = np.asarray(array)
        self._repeats.fits(label, array.nbytes)
        return {"array": label} if array.flags.writeable else {"array": label, "fixed": True}

    def _blob(self, data: bytes) -> str:
        label = f"bytes_{len(self.blobs)}"
        self.blobs[label] = data
        return label

    def _state(self, value: Any, name: str | None, trail: str) -> dict[str, Any]:
        state = stored_attributes(value)
        known = names_of_arguments(type(value))
        # Arguments come first, so that what the user passed is named after its argument, wherever else it occurs.
        order = sorted(state, key=lambda attribute: (attribute not in known, attribute.strip("_") not in known))
        encoded = {}
        for attribute in order:
            argument = attribute.strip("_")
            child = None if name is None or argument not in known else f"{name}__{argument}" if name else argument
            encoded[attribute] = self.encode(state[attribute], child, f"{trail}.{attribute}" if trail else attribute)
        return encoded

    def _given_kernel(self, value: Any, name: str | None, trail: str) -> dict[str, Any]:
        """Encode a kernel that wraps something of the user's; where it has no name, that may have one."""
        inside = wrapped(value)
        known = None if name else self._seen.get(id(inside))
        node = known if known is not None and "pass" in known else self._passed_again(value, name, trail)
        self._seen[id(inside)] = {"pass": node["pass"]}
        self._alive.append(inside)
        return node

    def _passed_again(self, value: Any, name: str | None, trail: str) -> dict[str, Any]:
        if not name or not callable(value):
            raise TypeError(
                f"{trail or 'this'} is {describe(value)}, which a file cannot hold; if it is a class of yours, call "
                "kmcf.store.register(TheClass) before saving and loading."
            )
        self.passed_again.setdefault(name.partition("[")[0], describe(value))
        return {"pass": name}


def stored_attributes(value: Any) -> dict[str, Any]:
    """Return what is stored of an object: what its ``to_store`` says, or all attributes."""
    if hasattr(type(value), "to_store"):
        return value.to_store()
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))


def names_of_arguments(cls: Any) -> set[str]:
    """Return the names under which users pass things to a class: constructor arguments, and options of ``fit``."""
    if not hasattr(cls, "_get_param_names"):
        return set()
    options = inspect.signature(cls.fit).parameters.values() if hasattr(cls, "fit") else ()
    return {*cls._get_param_names(), *(option.name for option in options if option.kind is option.KEYWORD_ONLY)}


def wrapped(kernel: FromCallable | FromSklearn) -> Any:
    """Return what the user gave."""
    return kernel.get_params(deep=False).popitem()[1]


def describe(value: Any) -> str:
    """Describe something for users who have to find it again."""
    named = wrapped(value) if isinstance(value, FromCallable | FromSklearn) else value
    if hasattr(named, "__qualname__"):
        return f"{getattr(named, '__module__', None) or 'builtins'}.{named.__qualname__}"
    return f"an object of {type(named).__module__}.{type(named).__qualname__}"


def _entry(name: str | None, key: Any) -> str | None:
    """Name an entry of a dictionary, as a parameter of the object that holds it would be."""
    return f"{name}__{key}" if name and "[" not in name and isinstance(key, str) else None


def _item(name: str | None, position: int) -> str | None:
    """Name an item of a list; lists in lists cannot be passed again."""
    return f"{name}[{position}]" if name and "[" not in name else None
