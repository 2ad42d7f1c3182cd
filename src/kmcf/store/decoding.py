"""From JSON and arrays back to objects. Only whitelisted classes are restored, and no code comes from the file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kmcf.kernels import as_kernel
from kmcf.store.budget import Repeats
from kmcf.store.container import KINDS, Container
from kmcf.store.errors import FileError, PassedAgainError
from kmcf.store.registry import find_class, find_function, is_ours
from kmcf.store.regressors import load_regressor
from kmcf.support.storable import Recomputable

SIZES = ("bandwidth_", "exponent_", "gamma_", "max_range_", "range_", "step_")
"""What kernels and transitions learn and divide by, or raise to; nothing is learnt that is not positive."""
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")


class Decoder:
    """Decodes the JSON of one container.

    Parameters
    ----------
    container : Container
        Where the arrays are.
    passed : mapping
        What the user passed again, by name.
    trusted : sequence of str
        Types in scikit-learn regressors that the user trusts beyond those that skops does.
    """

    def __init__(self, container: Container, passed: Mapping[str, Any], trusted: list[str]) -> None:
        self._container = container
        self._passed = passed
        self._trusted = trusted
        self._arrays: dict[str, Any] = {}
        self._repeats = Repeats()
        self._regressors: dict[str, Any] = {}
        self._objects: dict[int, Any] = {}
        self._readers: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
            "float": lambda value, _: float(value),
            "tuple": lambda value, _: tuple(map(self.decode, value)),
            "set": lambda value, _: set(map(self.decode, value)),
            "frozenset": lambda value, _: frozenset(map(self.decode, value)),
            "dict": lambda value, _: dict(zip(self.decode(value[0]), self.decode(value[1]), strict=True)),
            "bytes": lambda value, _: bytes.fromhex(value),
            "scalar": lambda value, _: read_scalar(*value),
            "path": lambda value, _: Path(value),
            "generator": lambda value, _: _generator(self.decode(value)),
            "random_state": lambda value, _: _random_state(self.decode(value)),
            "versioned": lambda value, _: Recomputable(int(value[0]), lambda: self.decode(value[1])),
            "array": self._array,
            "sparse": lambda value, _: _sparse(value[0], *map(self.decode, value[1:])),
            "function": lambda value, _: find_function(value),
            "pass": self._pass,
            "object": self._object,
            "same": lambda value, _: self._objects[value],
            "regressor": self._regressor,
        }

    def decode(self, node: Any) -> Any:
        """Return what a piece of JSON stands for."""
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node), None)
        if tag not in self._readers:
            raise FileError(f"it holds something tagged {tag!r}, which this version of kmcf does not know.")
        return self._readers[tag](node[tag], node)

    def _array(self, label: str, node: dict[str, Any]) -> Any:
        if label not in self._arrays:
            array = self._container.array(label)
            array.flags.writeable = not node.get("fixed", False)
            self._arrays[label] = array
        if not self._repeats.fits(label, self._arrays[label].nbytes):
            raise FileError(f"it names the array {label} too often: what is read would be far larger than the file.")
        return self._arrays[label]

    def _pass(self, name: str, node: dict[str, Any]) -> Any:
        base, _, position = name.partition("[")
        value = self._passed[base]
        if position:
            number = int(position.rstrip("]"))
            if not isinstance(value, list | tuple) or len(value) <= number:
                raise PassedAgainError(
                    f"{base} = {value!r}, but the file was saved with a list of {number + 1} or more functions."
                )
            value = value[number]
        return as_kernel(value, base) if node.get("kernel") else value

    def _regressor(self, label: str, _: dict[str, Any]) -> Any:
        if label not in self._regressors:
            self._regressors[label] = load_regressor(self._container.blob(label), self._trusted)
        return self._regressors[label]

    def _object(self, name: str, node: dict[str, Any]) -> Any:
        cls: Any = find_class(name)
        if cls is None:
            raise FileError(
                f"it holds an object of the class {name!r}, which this version of kmcf does not know; install a newer "
                "one, or kmcf.store.register the class first if it is yours."
            )
        state = {attribute: self.decode(value) for attribute, value in node["state"].items()}
        if issubclass(cls, tuple):
            made = cls(**state)
        else:
            made = cls.__new__(cls)
            _check_attributes(cls, state)
            state = _arguments_left_out(cls, state)
            if hasattr(cls, "from_store"):
                made.from_store(state)
            else:
                made.__dict__.update(state)
        self._objects[node["number"]] = made
        return made


def _check_attributes(cls: Any, state: dict[str, Any]) -> None:
    """Refuse attributes that would hide a method or property of the class."""
    for attribute in state:
        held = inspect.getattr_static(cls, attribute, None)
        if attribute.startswith("__") or callable(held) or hasattr(type(held), "__get__"):
            raise FileError(f"it sets {attribute!r} of {cls.__name__}, which is not an attribute that is stored.")
    if is_ours(cls) and hasattr(cls, "_get_param_names"):
        arguments = set(cls._get_param_names())
        strange = [name for name in state if name.strip("_") == name and name not in arguments]
        if strange:
            raise FileError(
                f"it sets {strange[0]!r} of {cls.__name__}, which this version of kmcf does not know; a newer one may."
            )
        for name in SIZES:
            if name in state and not _is_positive(state[name]):
                raise FileError(f"its {cls.__name__} has a {name} that is not a positive number.")


def _is_positive(value: Any) -> bool:
    numbers = np.asarray(value)
    return numbers.dtype.kind in "iuf" and bool(numbers.size and np.isfinite(numbers).all() and (numbers > 0).all())


def _arguments_left_out(cls: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Add the defaults of constructor arguments that did not exist when the file was written."""
    if not hasattr(cls, "_get_param_names"):
        return state
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(cls.__init__).parameters.items()
        if parameter.default is not parameter.empty
    }
    missing = set(cls._get_param_names()) - set(defaults) - set(state)
    if missing:
        raise FileError(f"{cls.__name__} lacks {', '.join(sorted(missing))}.")
    return {**defaults, **state}


def read_scalar(dtype: str, data: str) -> Any:
    """Return the NumPy number that a file holds."""
    kind = np.dtype(dtype)
    if kind.kind not in KINDS:
        raise FileError(f"a number has the type {dtype}.")
    return np.frombuffer(bytes.fromhex(data), dtype=kind)[0]


def _generator(state: Any) -> np.random.Generator:
    name = state["bit_generator"]
    if name not in BIT_GENERATORS:
        raise FileError(f"it asks for the random number generator {name!r}.")
    bits = getattr(np.random, name)()
    _check_position(state, name)
    bits.state = state
    return np.random.Generator(bits)


def _random_state(state: Any) -> np.random.RandomState:
    restored = np.random.RandomState()
    _check_position(state, "MT19937")
    restored.set_state(state)
    return restored


def _check_position(state: Any, name: str) -> None:
    """Refuse a position outside a generator's buffer: NumPy would read memory there."""
    position, most = {
        "MT19937": lambda: (state["state"]["pos"], len(state["state"]["key"])),
        "Philox": lambda: (state["buffer_pos"], len(state["buffer"])),
    }.get(name, lambda: (0, 0))()
    if not 0 <= int(position) <= most:
        raise FileError(f"the position {position!r} of a random number generator is out of range.")


def _sparse(shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)  # wrong indices would read memory outside the arrays
    return matrix
