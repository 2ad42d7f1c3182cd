"""What a tuner may change in a filter with kernels and regularisers, and where it starts.

Any filter with the settings ``state_kernel``, ``observation_kernel``, ``epsilon``, ``delta`` can use these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from kmcf.bayes_rule.defaults import EPSILON
from kmcf.filter.fitting.kernel_choice import candidate
from kmcf.kernels import Kernel, Learned
from kmcf.numerics.objects import as_objects
from kmcf.support.estimators import clone
from kmcf.support.search_space import Integer, LogNormal, Parameter, Variants

WIDTH_SD = 0.5
EPSILON_SD = 1.1
BACKGROUND_SD = 0.7
DELTA_SD = {"kbr": 2.2, "importance": 1.1}
"""Spread of the logarithms; δ regularises C² in rule "kbr" and C in "importance", hence the factor of two."""


def kernel_search_space(flt: Any, **regularisers: Parameter) -> dict[str, Parameter]:
    """Return the widths of both kernels, the regularisers given, and the rank if one was set.

    Parameters
    ----------
    flt : filter
        With its settings; kernels that are None contribute nothing.
    **regularisers
        Further parameters by name.
    """
    space: dict[str, Parameter] = {}
    for name in ("state_kernel", "observation_kernel"):
        space |= kernel_widths(getattr(flt, name), name)
    space |= regularisers
    if isinstance(flt.rank, int | np.integer):
        space["rank"] = Integer(int(flt.rank))
    return space


def epsilon_space(epsilon: float | None) -> dict[str, Parameter]:
    """Return how ε may vary around its value, or around the default."""
    return {"epsilon": LogNormal(EPSILON if epsilon is None else epsilon, EPSILON_SD)}


def delta_space(delta: float | None, default: float, rule: str) -> dict[str, Parameter]:
    """Return how δ may vary around its value, or around the default; nothing if it is infinite."""
    if delta is not None and not np.isfinite(delta):
        return {}
    return {"delta": LogNormal(default if delta is None else delta, DELTA_SD[rule])}


def background_space(background: float) -> dict[str, Parameter]:
    """Return how φ may vary, if it is positive."""
    return {"background": LogNormal(background, BACKGROUND_SD)} if background > 0.0 else {}


def kernel_widths(kernel: Any, name: str) -> dict[str, Parameter]:
    """Return the bandwidths of a kernel and its parts, or the multipliers of those that are learnt.

    Parameters
    ----------
    kernel : object
        A kernel of any class; one without ``get_params`` contributes nothing.
    name : str
        The filter's name for it; the widths have the names that the filter's ``set_params`` knows.

    Examples
    --------
    >>> from kmcf.kernels import Columns, Gaussian
    >>> sorted(kernel_widths(Columns(Gaussian(multiplier=0.5), 0) * Columns(Gaussian(2.0), 1), "state_kernel"))
    ['state_kernel__first__kernel__multiplier', 'state_kernel__second__kernel__bandwidth']
    """
    if isinstance(kernel, type) or not hasattr(kernel, "get_params"):
        return {}
    parameters = kernel.get_params(deep=True)
    widths: dict[str, Parameter] = {}
    for inner, value in parameters.items():
        outer, _, own = inner.rpartition("__")
        learnt = parameters.get(f"{outer}__bandwidth" if outer else "bandwidth") is None
        if (own == "bandwidth" or (own == "multiplier" and learnt)) and _is_positive(value):
            widths[f"{name}__{inner}"] = LogNormal(float(value), WIDTH_SD)
    return widths


def kernel_variants(
    flt: Any, states: Any, observations: Any, default_delta: Callable[[bool, float], float]
) -> Variants:
    """Return a filter with explicit kernels and regularisers, from one fit that also checks the settings.

    If the filter chose its observation kernel from the examples, the best of the others is a second variant.

    Parameters
    ----------
    flt : filter
        Fitted or not; it does not change.
    states, observations : arrays or lists
        The examples.
    default_delta : callable
        Default δ, given whether the observation kernel is the plain default, and its mean diagonal.
    """
    fitted = clone(flt).fit(states, observations)
    explicit, given = clone(flt), flt.get_params(deep=False)
    explicit.set_params(**{name: getattr(fitted, f"{name}_") for name in ("epsilon", "delta") if name in given})
    if flt.state_kernel is None:
        explicit.set_params(state_kernel=clone(fitted.state_kernel_))
    if given.get("augment", False) is None:  # decided here, once, and not by the part of the examples that a trial sees
        explicit.set_params(augment=fitted.augmented_ > 0)
    choice = fitted.kernel_choice_
    if choice is None:
        if isinstance(flt.observation_kernel, Learned):
            explicit.set_params(observation_kernel=_with_width(explicit.observation_kernel))
        return Variants("observation_kernel", {"given": explicit})
    filters = {choice.name: clone(explicit).set_params(observation_kernel=_with_width(clone(choice.kernel)))}
    if choice.scores:
        name = min((name for name in choice.scores if name != choice.name), key=lambda name: choice.scores[name])
        other = candidate(name, as_objects(observations, "observations"), flt.angles)
        filters[name] = clone(explicit).set_params(observation_kernel=_with_width(other))
        if flt.delta is None:
            filters[name].set_params(delta=default_delta(name == "plain", 1.0))  # all have a unit diagonal
    return Variants("observation_kernel", filters)


def differ(first: Any, second: Any) -> bool:
    """Say whether two settings may differ: numbers and words by value, anything else by identity.

    Examples
    --------
    >>> differ(1.0, 1), differ("a", "b"), differ([1], [1])
    (False, True, True)
    """
    if isinstance(first, Real | str) and isinstance(second, Real | str):
        return bool(first != second)
    return first is not second


def _with_width(kernel: Kernel) -> Kernel:
    """Make the kernel on a learnt summary explicit, so that it has a width to tune."""
    if isinstance(kernel, Learned) and kernel.kernel is None:
        kernel.set_params(kernel=kernel.default_kernel())
    return kernel


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0.0 < float(value) < np.inf
