"""Objects with parameters, as scikit-learn has them, without importing scikit-learn.

``sklearn.base`` brings SciPy's statistics and, where it is installed, pandas: together they take longer to import than
all the rest of this package. What is needed of it are four short methods. scikit-learn's own ``clone``, pipelines and
searches only call these methods, so that they work with the classes here.
"""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kmcf.support.notebooks import html_table

T = TypeVar("T")
LONGEST_LINE = 80


class Estimator:
    """Base class of kernels, transitions and filters: constructors store their arguments, under their names.

    Examples
    --------
    >>> class Walk(Estimator):
    ...     def __init__(self, scale=1.0, kernel=None):
    ...         self.scale, self.kernel = scale, kernel
    >>> walk = Walk(2.0, kernel=Walk())
    >>> walk.get_params()["kernel__scale"], walk.set_params(kernel__scale=3.0)
    (1.0, Walk(kernel=Walk(scale=3.0), scale=2.0))
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Tell the checker that ``fit`` may learn attributes, whose names end in ``_``."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the constructor's arguments, in alphabetical order; scikit-learn uses this name, too."""
        if cls.__init__ is object.__init__:
            return []
        given = list(inspect.signature(cls.__init__).parameters.values())[1:]
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in given):
            raise RuntimeError(f"{cls.__name__} must name the arguments of its constructor, without *args.")
        return sorted(parameter.name for parameter in given if parameter.kind is not parameter.VAR_KEYWORD)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn's tools ask for, such as ``check_is_fitted``."""
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also those of parameters, as ``name__inner``."""
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{inner}": item for inner, item in value.get_params().items()}
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parameters as ``name__inner``; return self."""
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, separator, inner = key.partition("__")
            if name not in self._get_param_names():
                known = self._get_param_names()
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            if separator:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_params in nested.items():
            getattr(self, name).set_params(**inner_params)
        return self

    def __sklearn_clone__(self) -> Self:
        return parametrized_copy(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the class with the parameters that are not the default, over several lines if there are many."""
        defaults = inspect.signature(type(self).__init__).parameters
        parts = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        text = _filled(f"{type(self).__name__}(", parts)
        half = N_CHAR_MAX // 2
        return text if len(text) <= N_CHAR_MAX + 3 else f"{text[:half]}...{text[-half:]}"

    def _repr_html_(self) -> str:
        """Return a small table of the parameters for notebooks."""
        return html_table(type(self).__name__, self.get_params(deep=False))


def clone(estimator: T, *, safe: bool = True) -> T:
    """Return an unfitted copy with the same parameters, as ``sklearn.base.clone`` does.

    Parameters
    ----------
    estimator : object with parameters, or list, tuple, set or dict of such
        What to copy.
    safe : bool
        Whether objects without parameters are an error; otherwise they are copied deeply.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> hasattr(clone(Gaussian().fit([[0.0], [1.0]])), "bandwidth_")
    False
    """
    held: Any = estimator
    if type(held) is dict:
        copied: Any = {key: clone(value, safe=safe) for key, value in held.items()}
        return copied
    if type(held) in (list, tuple, set, frozenset):
        return type(held)(clone(item, safe=safe) for item in held)
    if isinstance(estimator, Estimator):
        return estimator.__sklearn_clone__()
    if hasattr(estimator, "get_params") and not isinstance(estimator, type):  # one of scikit-learn's
        from sklearn.base import clone as original

        return original(estimator, safe=safe)
    if safe:
        raise TypeError(f"{estimator!r} cannot be copied: it has no parameters (get_params).")
    return deepcopy(estimator)


def parametrized_copy(estimator: Any) -> Any:
    """Return a new object of the same class, made from copies of the parameters alone."""
    params = {name: clone(value, safe=False) for name, value in estimator.get_params(deep=False).items()}
    made = type(estimator)(**params)
    for name, value in params.items():
        if getattr(made, name) is not value:
            raise RuntimeError(f"the constructor of {type(estimator).__name__} changes its argument {name!r}.")
    return made


def not_fitted(sentence: str) -> Exception:
    """Return scikit-learn's ``NotFittedError``, to be raised; it is imported only then."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(sentence)


def _filled(start: str, parts: list[str]) -> str:
    """Return parts separated by commas, in lines that begin below the first."""
    text, indent = start, " " * len(start)
    line = len(start)
    for k, part in enumerate(parts):
        last = k == len(parts) - 1
        piece = part + (")" if last else ",")
        if k and line + 1 + len(piece) > LONGEST_LINE:
            text, line = f"{text}\n{indent}", len(indent)
        elif k:
            text, line = f"{text} ", line + 1
        text, line = text + piece, line + len(piece)
    return text if parts else f"{start})"
