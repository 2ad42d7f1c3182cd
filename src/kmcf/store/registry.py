"""The whitelist: which classes and functions a file may name. Nothing else is ever looked up, let alone imported."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from kmcf.store.errors import FileError

ROOMS = ("kmcf.kernels", "kmcf.transitions", "kmcf.baselines")
"""All public classes of these rooms can be restored by name."""

HOMES = {
    "KernelMonteCarloFilter": "kmcf.filter.kernel_monte_carlo",
    "ParticleLikelihoodFilter": "kmcf.filter.particle_likelihood",
    "ElementSets": "kmcf.kernels.sets",
    "WordCounts": "kmcf.kernels.sequences",
    "RobustInputs": "kmcf.kernels.learned.inputs",
    "RidgeRegression": "kmcf.kernels.learned.ridge",
    "CountInputs": "kmcf.kernels.learned.poisson",
    "PoissonProfile": "kmcf.kernels.learned.poisson",
    "NaiveBayes": "kmcf.kernels.learned.naive_bayes",
    "TrendPosterior": "kmcf.kernels.learned.trend_posterior",
    "Stack": "kmcf.kernels.learned.stack",
    "CrossFitted": "kmcf.kernels.learned.stack",
    "CholeskyFactor": "kmcf.numerics.linalg",
    "PivotedCholesky": "kmcf.numerics.linalg",
}
"""Other classes, by name, with the module each lives in."""

FUNCTIONS = {
    "with_magnitudes": "kmcf.kernels.learned.inputs",
    "pooled": "kmcf.kernels.learned.inputs",
}
"""Functions of this package that fitted objects hold."""

KINDS = {"run": ("kmcf.filter.results.run", "FilterRun")}
"""Files that hold something other than an object's parts, with the class that reads them."""

_registered: dict[str, type] = {}
Registered = TypeVar("Registered", bound=type)


def register(cls: Registered) -> Registered:
    """Let files name a class of your own. Call it before saving and before loading, or use it as a decorator.

    Objects of the class are stored by their attributes and restored without calling the constructor.

    Parameters
    ----------
    cls : type
        The class; its name must not be one that files know already.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> @register
    ... class Wide(Gaussian):
    ...     '''A kernel of your own.'''
    """
    if not isinstance(cls, type):
        raise TypeError(f"register takes a class, not {cls!r}.")
    known = find_class(cls.__name__)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"a class named {cls.__name__} can be restored already ({known.__module__}); rename yours.")
    _registered[cls.__name__] = cls
    return cls


def find_class(name: str) -> type | None:
    """Return the class that a file may refer to by this name, or None."""
    if name in _registered:
        return _registered[name]
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    for room in ROOMS:
        module = import_module(room) if importlib.util.find_spec(room) else None
        if module is not None and name in module.__all__ and inspect.isclass(getattr(module, name)):
            return getattr(module, name)
    return None


def is_ours(cls: type) -> bool:
    """Say whether a class is one of this package, whose attributes are known, and not one that a user registered."""
    return cls.__name__ not in _registered


def name_of_class(cls: type) -> str | None:
    """Return the name under which a class can be restored, or None."""
    return cls.__name__ if find_class(cls.__name__) is cls else None


def find_function(name: str) -> Callable[..., Any]:
    """Return the function that a file may refer to by this name."""
    if name not in FUNCTIONS:
        raise FileError(f"it asks for the function {name!r}, which no file may ask for.")
    return getattr(import_module(FUNCTIONS[name]), name)


def name_of_function(function: Any) -> str | None:
    """Return the name under which a function of this package can be restored, or None."""
    name = getattr(function, "__name__", "")
    return name if name in FUNCTIONS and find_function(name) is function else None


def read_kind(kind: str, container: Any) -> Any:
    """Read an open file that holds something other than an object's parts."""
    module, name = KINDS[kind]
    return getattr(import_module(module), name).read(container)
