"""Checks of constructor arguments, made by ``fit``: the errors say what is wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from kmcf.bayes_rule.choice import ENGINES
from kmcf.filter.fitting.silence import check_floor
from kmcf.filter.relocation import OBSTACLES
from kmcf.numerics.objects import Objects, is_numeric
from kmcf.transitions.checks import STARTS, check_callable, check_transition

MOST_PARTICLES = 10**7
"""More particles than this are a mistake: each step would need gigabytes."""


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Check that a setting is one of a few words.

    Examples
    --------
    >>> check_choice("rule", "kbr", ("kbr", "importance"))
    """
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} = {value!r}; it must be one of {allowed}.")


def check_positive(
    name: str, value: Any, *, optional: bool = False, zero: bool = False, infinity: bool = False
) -> None:
    """Check that a setting is a positive number (optionally None, zero or infinite).

    Examples
    --------
    >>> check_positive("epsilon", 1e-3)
    """
    if value is None and optional:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and (value > 0 or (zero and value == 0)) and (infinity or np.isfinite(value)):
        return
    raise ValueError(f"{name} = {value!r}; it must be a {'non-negative' if zero else 'positive'} number.")


def check_count(name: str, value: Any, *, optional: bool = False, most: int | None = None) -> None:
    """Check that a setting is a positive integer (optionally None), at most so large.

    Examples
    --------
    >>> check_count("n_resample", 100)
    """
    if value is None and optional:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} = {value!r}; it must be a positive integer.")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} = {value!r}; it must be at most {most}, since every step works on so many states.")


def check_restored(flt: Any) -> None:
    """Check what moves states, and the settings by which a filter from a file could ask for memory without end."""
    check_draws(flt)
    for name in ("n_particles", "n_transitions"):
        check_count(name, getattr(flt, name, None), optional=True, most=MOST_PARTICLES)


def check_flag(name: str, value: Any, *, optional: bool = False) -> None:
    """Check that a setting is True or False (optionally None).

    Examples
    --------
    >>> check_flag("reject", None, optional=True)
    """
    if not isinstance(value, bool | np.bool_) and not (optional and value is None):
        raise ValueError(f"{name} = {value!r}; it must be True or False{' or None' if optional else ''}.")


def check_draws(flt: Any) -> None:
    """Check that states can be drawn and, if the filter needs it, moved."""
    if flt.transition is not None or flt.needs_transition:
        check_transition(flt.transition)
    if flt.initial is not None:
        check_callable(flt.initial, "initial", STARTS, "states or None")


def check_filter(flt: Any) -> None:
    """Check all settings of a Kernel Monte Carlo Filter that do not depend on the examples."""
    check_choice("rule", flt.rule, ("kbr", "importance"))
    check_choice("engine", flt.engine, ENGINES)
    check_choice("resampling", flt.resampling, ("herding", "multinomial", "none"))
    check_choice("support", flt.support, ("examples", "particles", "both"))
    check_positive("epsilon", flt.epsilon, optional=True)
    check_positive("delta", flt.delta, optional=True, infinity=flt.support == "particles")
    check_count("n_resample", flt.n_resample)
    check_flag("augment", flt.augment, optional=True)
    _check_shared(flt)
    if flt.engine == "compressed":
        _check_compressed(flt)
    check_printed(flt.engine, flt.rule, flt.rank)
    if flt.engine == "local" and any(isinstance(part, float) for part in pair_of(flt.rank)):
        raise ValueError(
            f"rank = {flt.rank!r}; for engine='local' it is the largest number of examples that a step solves for, an "
            "integer."
        )
    if flt.relocate and flt.engine in OBSTACLES:
        raise ValueError(
            f"relocate=True, but engine={flt.engine!r}: {OBSTACLES[flt.engine]}; use another engine, or a transition "
            "made by kmcf.transitions.with_recovery."
        )
    if flt.augment and flt.engine == "literal":
        raise ValueError(
            "augment=True, but engine='literal' is the paper's algorithm, which knows recorded pairs only."
        )
    if flt.augment and flt.n_examples is not None:
        raise ValueError("augment=True makes up pairs beside all examples; n_examples keeps some of them: give one.")
    if flt.support == "both" and flt.engine == "literal":
        raise ValueError("engine='literal' is the paper's algorithm, whose posterior lives on the examples alone.")
    if flt.support == "particles" and flt.engine not in ("auto", "lowrank"):
        raise ValueError(f"support='particles' is computed by engine='lowrank' (or 'auto'), not {flt.engine!r}.")


def check_printed(engine: str, rule: str, rank: Any) -> None:
    """Check that the paper prints what the literal engine is asked to compute."""
    if engine == "literal" and rule != "kbr" and pair_of(rank) != (None, None):
        raise ValueError(
            f"engine='literal' with a rank is Algorithm 5, which is printed for rule='kbr' only, not for {rule!r}; use "
            "engine='lowrank', or leave the rank out."
        )


def check_particle_likelihood(flt: Any) -> None:
    """Check all settings of a filter on particles that do not depend on the examples."""
    check_choice("resampling", flt.resampling, ("systematic", "none"))
    check_positive("delta", flt.delta, optional=True, infinity=True)
    check_positive("background", flt.background, zero=True)
    _check_shared(flt)


def _check_shared(flt: Any) -> None:
    check_draws(flt)
    check_floor(flt.floor)
    check_flag("reject", flt.reject, optional=True)
    check_flag("relocate", flt.relocate, optional=True)
    check_count("n_particles", flt.n_particles, optional=True, most=MOST_PARTICLES)
    if isinstance(flt.n_examples, float):
        check_positive("n_examples", flt.n_examples)
    else:
        check_count("n_examples", flt.n_examples, optional=True)
        if flt.n_examples == 1:
            raise ValueError("n_examples = 1; one example cannot tell states apart: keep at least 2.")
    by_bound = flt.resample_threshold == "bound" and flt.resampling == "herding" and flt.support == "examples"
    if not by_bound:
        check_positive("resample_threshold", flt.resample_threshold, zero=True, infinity=True)
    check_accuracy(flt.tolerance, flt.rank)


def particles_for(given: int | None, n: int) -> int:
    """Return the number of particles: as given, or that of the examples, at most 1000.

    Examples
    --------
    >>> particles_for(None, 200), particles_for(None, 10_000), particles_for(70, 200)
    (200, 1000, 70)
    """
    return min(n, 1000) if given is None else int(given)


def check_accuracy(tolerance: Any, rank: Any) -> None:
    """Check the tolerance and the rank of low-rank engines."""
    if tolerance is not None and (not isinstance(tolerance, str) or tolerance != "auto"):
        for part in pair_of(tolerance):
            check_positive("tolerance", part)
            if part >= 1:
                raise ValueError(f"tolerance = {part!r}; it is relative to the largest similarity and must be below 1.")
    for part in pair_of(rank):
        if isinstance(part, float) and not 0.0 < part < 1.0:
            raise ValueError(f"rank = {part!r}; a number that is not whole is a share of the trace, between 0 and 1.")
        if not isinstance(part, float):
            check_count("rank", part, optional=True)


def pair_of(value: Any) -> tuple[Any, Any]:
    """Read a setting that is one value for states and observations, or a pair.

    Examples
    --------
    >>> pair_of(20), pair_of((10, None))
    ((20, 20), (10, None))
    """
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, tuple | list):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{value!r} must be one value, or a pair for states and observations.")
    return value[0], value[1]


def _check_compressed(flt: Any) -> None:
    if flt.rule == "importance":
        raise ValueError(
            "engine='compressed' cannot compute rule='importance', which clips the prior's n coefficients at zero; use "
            "engine='lowrank'."
        )
    if flt.resampling == "none" or flt.resample_threshold in ("bound", np.inf):
        raise ValueError(
            "engine='compressed' always resamples, because propagating all n examples with their weights would cost "
            "what it saves; use engine='lowrank' for resampling='none', resample_threshold=inf or 'bound'."
        )


def check_angles(angles: Sequence[int], states: Objects) -> None:
    """Check that the columns named as angles exist."""
    if not isinstance(angles, Sequence | np.ndarray) or isinstance(angles, str):
        raise TypeError(f"angles = {angles!r}; it must be a sequence of state columns, such as (2,), or () for none.")
    if len(angles) and not is_numeric(states):
        raise ValueError("angles name state columns, but the states are not numeric.")
    columns = int(np.prod(states.shape[1:])) if is_numeric(states) else 0
    for j in angles:
        if not isinstance(j, Integral) or not 0 <= j < columns:
            raise ValueError(f"angles = {angles!r}: {j!r} is not a state column (0 to {columns - 1}).")


def check_functions(functions: Any) -> tuple[Any, ...]:
    """Check the functions declared at fit."""
    if not isinstance(functions, Sequence) or not all(callable(function) for function in functions):
        raise TypeError("functions must be a list of functions of the states.")
    return tuple(functions)
