"""Saving an object to one file, and loading it."""

from __future__ import annotations

import difflib
import math
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from kmcf._version import __version__
from kmcf.store.budget import check_nesting
from kmcf.store.container import FORMAT, Container, open_container, write_container
from kmcf.store.decoding import Decoder, read_scalar
from kmcf.store.earlier import upgraded
from kmcf.store.encoding import Encoder
from kmcf.store.errors import FileError, PassedAgainError
from kmcf.store.registry import read_kind

SHORT = 12
"""Arrays of at most this many numbers are described by their values."""


def save(thing: Any, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
    """Write a filter, a kernel or a transition to one file, replacing an existing one.

    Parameters
    ----------
    thing : object
        Fitted or not; of a class of this package, or a registered one.
    path : path
        The file to write, with any ending; ``.kmcf`` is a good one.
    notes : mapping, optional
        Anything JSON can hold; :func:`describe_file` returns it.

    Examples
    --------
    >>> import tempfile
    >>> from kmcf.kernels import Gaussian
    >>> path = Path(tempfile.mkdtemp()) / "kernel.kmcf"
    >>> save(Gaussian().fit([[0.0], [1.0], [3.0]]), path)
    >>> load(path).bandwidth_
    2.0
    """
    encoder = Encoder()
    root = encoder.encode(thing)
    if not (isinstance(root, dict) and "object" in root):
        raise TypeError(f"save takes a filter, a kernel or a transition, not {type(thing).__name__}.")
    try:
        check_nesting(root)
    except FileError as error:
        raise ValueError(f"this {type(thing).__name__} cannot be saved: {error}") from None
    manifest = {**about("object"), "notes": dict(notes or {}), "passed_again": encoder.passed_again, "root": root}
    write_container(path, manifest, encoder.arrays, encoder.blobs)


def about(kind: str) -> dict[str, Any]:
    """Return what every file says about itself."""
    versions = {
        "kmcf": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": version("scikit-learn"),
    }
    return {"kind": kind, "format": FORMAT, "versions": versions}


def load(path: str | os.PathLike[str], *, trusted: list[str] | None = None, **callables: Any) -> Any:
    """Load a filter, kernel, transition or run that was saved. No code from the file is ever executed.

    Parameters
    ----------
    path : path
        What ``save`` wrote.
    trusted : list of str, optional
        Types inside scikit-learn regressors that you trust in addition to those that skops trusts; the error that asks
        for this lists them.
    **callables
        Your own functions and kernels that the filter was saved with, by name: ``transition=...``, ``initial=...``,
        ``observation_kernel=...``, ``functions=[...]``. An error says which are missing.

    Examples
    --------
    >>> import tempfile, kmcf
    >>> def transition(states, control, rng):
    ...     return states + 0.1 * rng.normal(size=states.shape)
    >>> X = np.linspace(0.0, 1.0, 30)
    >>> path = Path(tempfile.mkdtemp()) / "model.kmcf"
    >>> flt = kmcf.KernelMonteCarloFilter(transition, random_state=0).fit(X, X)
    >>> flt.save(path)
    >>> same = kmcf.load(path, transition=transition)
    >>> bool(np.all(same.filter(X[:5]).mean == flt.filter(X[:5]).mean))
    True
    """
    with open_container(path) as container:
        if container.manifest["kind"] == "run":
            _check_passed({}, callables, path)
            return read_kind("run", container)
        needed = container.manifest["passed_again"]
        _check_passed(needed, callables, path)
        thing = Decoder(container, callables, trusted or []).decode(_root(container))
    if hasattr(type(thing), "after_loading"):
        try:
            thing.after_loading(set(needed))
        except (FileError, PassedAgainError):
            raise
        except MemoryError as error:
            raise FileError(
                f"{Path(path).name} cannot be loaded: there is not enough memory for it ({error})."
            ) from error
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise FileError(f"{Path(path).name} cannot be loaded because its contents do not match: {error}") from error
    return thing


def _check_passed(needed: Mapping[str, str], given: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Check that what was passed is what the file needs."""
    file = Path(path).name
    missing = [name for name in needed if name not in given]
    extra = [name for name in given if name not in needed]
    call = f"kmcf.load({str(path)!r}, {', '.join(f'{name}=...' for name in needed)})"
    if missing:
        was = "; ".join(f"{name} was {needed[name]}" for name in missing)
        hint = f" (you passed {', '.join(extra)})" if extra else ""
        raise PassedAgainError(
            f"{file} was saved with functions of your own, which a file cannot hold: pass {', '.join(missing)} again"
            f"{hint}, {call}. When it was saved, {was}."
        )
    if extra:
        near = difflib.get_close_matches(extra[0], needed, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        wanted = f"only {', '.join(needed)}" if needed else "nothing"
        raise PassedAgainError(f"{file} needs {wanted} to be passed, but got {', '.join(extra)}{hint}")
    for name in needed:
        parts = given[name] if isinstance(given[name], list | tuple) else [given[name]]
        if not all(callable(part) for part in parts):
            raise PassedAgainError(
                f"{name} = {given[name]!r}; it must be a function or a kernel, as when {file} was saved."
            )


def describe_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe a file without loading it: its kind, class, settings, versions, arrays, and what must be passed again.

    Parameters
    ----------
    path : str or path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from kmcf.kernels import Gaussian
    >>> path = Path(tempfile.mkdtemp()) / "kernel.kmcf"
    >>> save(Gaussian(2.0), path)
    >>> found = describe_file(path)
    >>> found["class"], found["passed_again"], found["settings"]["bandwidth"]
    ('Gaussian', {}, 2.0)
    """
    with open_container(path) as container:
        manifest = container.manifest
        found = {
            "kind": manifest["kind"],
            "format": manifest["format"],
            "versions": manifest["versions"],
            "size": os.path.getsize(path),
            "arrays": len(container.names),
        }
        if manifest["kind"] == "run":
            return {**found, "class": "FilterRun", "columns": container.names}
        details = {"notes": manifest.get("notes", {}), "passed_again": manifest["passed_again"]}
        return {**found, **details, **_about_root(container)}


def _about_root(container: Container) -> dict[str, Any]:
    root = _root(container)
    state = root["state"]
    return {
        "class": root["object"],
        "settings": {name: _in_words(value, container) for name, value in state.items() if name.strip("_") == name},
        "fitted": {name: _in_words(value, container) for name, value in state.items() if name.endswith("_")},
    }


def _root(container: Container) -> dict[str, Any]:
    root = container.manifest["root"]
    check_nesting(root)
    if not isinstance(root, dict) or next(iter(root), None) != "object":
        raise FileError("it holds no filter, kernel or transition.")
    return upgraded(root) if container.manifest["format"] == 1 else root


def _in_words(node: Any, container: Container) -> Any:
    """Return plain values as they are, and a few words for the rest."""
    if not isinstance(node, dict):
        return [_in_words(item, container) for item in node] if isinstance(node, list) else node
    tag = next(iter(node))
    if tag == "object":
        parts = (f"{name}={_in_words(value, container)}" for name, value in node["state"].items() if name[:1] != "_")
        return f"{node['object']}({', '.join(parts)})"
    if tag == "tuple":
        return [_in_words(item, container) for item in node[tag]]
    if tag == "array":
        return _array_in_words(node["array"], container)
    if tag == "scalar":
        return read_scalar(*node["scalar"]).item()
    if tag == "versioned":
        return next(iter(node[tag][1].values()), tag)
    if tag == "dict":
        keys, values = node[tag]
        return dict(zip(map(str, keys), _in_words(values, container), strict=True))
    return f"passed as {node['pass']}" if tag == "pass" else node["float"] if tag == "float" else tag


def _array_in_words(name: str, container: Container) -> Any:
    """Return a short array as a list, and the shape of a long one."""
    shape, _, dtype = container.header(name)
    if math.prod(shape) <= SHORT and dtype.kind in "biufU":
        return container.array(name).tolist()
    return f"{dtype} array {' × '.join(map(str, shape))}"
