"""What a file may keep of a fitted rule, so that loading need not factorise again: plain arrays, checked when read.

The cache can always be left out: kernels, examples and regularisers determine the rule.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.bayes_rule.base import Examples
from kmcf.bayes_rule.both import EitherRule
from kmcf.bayes_rule.candidates import MOST, Candidates
from kmcf.bayes_rule.compressed import CompressedRule
from kmcf.bayes_rule.core import FeatureMap
from kmcf.bayes_rule.declared import DeclaredFunctions, Function
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.fitted import Decision, FittedRule, ParticleSettings, RuleSettings
from kmcf.bayes_rule.local_choice import fit_local
from kmcf.bayes_rule.lowrank import LowRankRule
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.bayes_rule.tensors import Tensors
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import all_finite
from kmcf.numerics.growing import Growing
from kmcf.numerics.linalg import PivotedCholesky
from kmcf.numerics.objects import is_numeric

MOST_EXAMPLES = 10**15
"""No sum runs over more examples."""
LAYOUT = 3
"""Raise this when the cache changes: rules from files with another layout are then fitted again."""


def to_cache(fitted: FittedRule) -> dict[str, Any]:
    """Return what is worth keeping of a rule; of a literal one, only its name and ranks."""
    cache: dict[str, Any] = {
        "engine": fitted.engine,
        "ranks": list(fitted.ranks),
        "trace_errors": list(fitted.trace_errors),
        "why": None if fitted.why is None else fitted.why._asdict(),
    }
    match fitted.rule:
        case ExactRule() as rule:
            cache |= {"factor": list(rule.observations), "negligible": rule.negligible}
        case LowRankRule() as rule:
            cache |= {"states": _stored(rule.states), "observations": _stored(rule.observations)}
        case CompressedRule() as rule:
            cache |= {"states": _stored(rule.states), "observations": _stored(rule.observations)}
            cache |= {"tensors": _fields(rule.tensors), "candidates": rule.candidates.indices, "outside": rule.outside}
            cache |= {"centre": rule.declared.centre}
        case ParticleRule(observations=KernelFeatures() as features):
            cache |= {"observations": _stored(features)}
        case EitherRule() as rule:
            cache |= to_cache(fitted._replace(rule=rule.examples))
            cache |= {"particles": to_cache(fitted._replace(rule=rule.particles))}
    return cache


def from_cache(
    cache: dict[str, Any],
    examples: Examples,
    settings: RuleSettings,
    *,
    angles: Sequence[int] = (),
    functions: Sequence[Function] = (),
) -> FittedRule | None:
    """Restore a rule on examples; None if the cache does not hold one and it has to be fitted."""
    common: dict[str, Any] = {"epsilon": settings.epsilon, "delta": settings.delta}
    dense = {**common, "rule": settings.rule, "resampler": settings.resampler}
    ranks, errors = _pair(cache["ranks"], int), _pair(cache["trace_errors"], float)
    summary = cache["engine"], ranks, errors, _decision(cache.get("why"))
    if cache["engine"] == "exact":
        factor = PivotedCholesky(*(np.asarray(part) for part in cache["factor"]))
        _check(factor.factor.ndim == 2 and len(factor.factor) == examples.size, "the factor has another size")
        _check_indices(factor.pivots, factor.factor.shape[1], examples.size)
        _check_numbers(factor.factor, factor.residual)
        negligible = _number(cache["negligible"], float)
        exact = ExactRule.fit(examples, represented=factor, negligible=negligible, **dense)
        return FittedRule(exact, *summary)
    if cache["engine"] == "local":
        return fit_local(examples, dataclasses.replace(settings, engine="local"))
    if cache["engine"] not in ("lowrank", "compressed"):
        return None
    states = _restored(cache["states"], examples.state_kernel)
    observations = _restored(cache["observations"], examples.observation_kernel)
    if cache["engine"] == "lowrank":
        return FittedRule(LowRankRule.fit(examples, states, observations, **dense), *summary)
    declared = DeclaredFunctions(examples.states, angles, functions, _centre(cache["centre"], examples))
    tensors = _tensors(cache["tensors"], examples.size, states.rank, observations.rank, declared.count)
    chosen = np.asarray(cache["candidates"])
    _check_indices(chosen, None, examples.size)
    _check(0 < len(chosen) <= MOST and len(np.unique(chosen)) == len(chosen), "herding has a strange choice of points")
    rule = CompressedRule(
        examples=Growing(examples.states),
        resampler=settings.always_resampler or settings.resampler,
        states=states,
        observations=observations,
        declared=declared,
        tensors=tensors,
        candidates=Candidates(states, examples.state_kernel, chosen),
        outside=_number(cache["outside"], float),
        **common,
    )
    return FittedRule(rule, *summary)


def particles_from_cache(cache: dict[str, Any], examples: Examples, settings: ParticleSettings) -> FittedRule | None:
    """Restore a rule on particles; None if the cache does not hold one and it has to be fitted."""
    if "observations" not in cache or not np.isfinite(settings.delta):
        return None
    features = _restored(cache["observations"], examples.observation_kernel)
    rule = ParticleRule(
        examples.state_kernel,
        features,
        delta=settings.delta,
        resampler=settings.resampler,
        background=settings.background,
        sharpness=settings.sharpness,
        states=examples.states,
    )
    return FittedRule(rule, "lowrank", _pair(cache["ranks"], int), _pair(cache["trace_errors"], float))


def _decision(stored: Any) -> Decision | None:
    """Restore why the engine was chosen; earlier versions did not say."""
    if stored is None:
        return None
    _check(isinstance(stored, dict) and set(stored) == set(Decision._fields), "what was decided cannot be read")
    tolerance = stored["tolerance"]
    numbers = {name: None if stored[name] is None else _number(stored[name], float) for name in ("change", "error")}
    costs = {str(name): _number(value, float) for name, value in dict(stored["nanoseconds"]).items()}
    _check(isinstance(stored["by_cost"], bool), "what was decided cannot be read")
    return Decision(costs, None if tolerance is None else _pair(tolerance, float), stored["by_cost"], **numbers)


def _fields(thing: Any) -> dict[str, Any]:
    return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}


def _stored(features: KernelFeatures) -> dict[str, Any]:
    return {
        "pivots": features.pivots,
        "lower": features.map.lower,
        "mapped": features.map.directions,
        "largest": features.map.largest,
        "rows": features.rows,
        "directions": features.directions,
        "trace_error": features.trace_error,
        "outside": features.outside,
    }


def _restored(stored: dict[str, Any], kernel: ExampleKernel) -> KernelFeatures:
    pivots, lower, rows = (np.asarray(stored[name]) for name in ("pivots", "lower", "rows"))
    _check_indices(pivots, len(lower), kernel.size)
    _check(lower.shape == (len(pivots), len(pivots)), "a triangular factor is not square")
    directions, mapped = stored["directions"], stored["mapped"]
    rank = len(pivots) if directions is None else len(directions)
    for reduced in (directions, mapped):
        _check(reduced is None or np.shape(reduced) == (rank, len(pivots)), "some directions have another size")
    _check((directions is None) == (mapped is None), "some directions are missing")
    _check(rows.shape == (kernel.size, rank), "some features have another size")
    _check_numbers(lower, rows, *(part for part in (directions, mapped) if part is not None))
    return KernelFeatures(
        pivots=pivots,
        pivot_kernel=kernel.subset(pivots),
        map=FeatureMap(lower, mapped, _number(stored["largest"], float)),
        growing=Growing(rows),
        trace_error=_number(stored["trace_error"], float),
        directions=directions,
        outside=_number(stored["outside"], float),
    )


def _tensors(stored: dict[str, Any], n: int, p: int, q: int, functions: int) -> Tensors:
    tensors = Tensors(**{**stored, "n": _number(stored["n"], int)})
    pairs_p, pairs_q = p * (p + 1) // 2, q * (q + 1) // 2
    expected = {
        "state_gram": (p, p),
        "total": (p, q),
        "correction": (p, pairs_q),
        "herding": (pairs_p, q),
        "moments": (functions, p, q),
    }
    if tensors.squares is not None:
        expected["squares"] = (pairs_p, pairs_q)
    _check(n <= tensors.n <= MOST_EXAMPLES, f"the sums are over {tensors.n} examples")
    for name, shape in expected.items():
        array = getattr(tensors, name)
        _check(np.shape(array) == shape, f"the tensor {name} has another size")
        _check_numbers(array)
    return tensors


def _centre(stored: Any, examples: Examples) -> Any:
    expected = (int(np.prod(examples.states.shape[1:])),) if is_numeric(examples.states) else None
    _check((None if stored is None else np.shape(stored)) == expected, "the centre of the moments has another size")
    if stored is not None:
        _check_numbers(stored)
    return stored


def _check_numbers(*arrays: Any) -> None:
    known = all(isinstance(array, np.ndarray) and array.dtype == np.float64 for array in arrays)
    _check(known, "some arrays are not double-precision numbers")
    _check(all(all_finite(array) for array in arrays), "some numbers are NaN or infinite")


def _number(value: Any, kind: type) -> Any:
    _check(isinstance(value, int | float | np.number) and not isinstance(value, bool), f"{value!r} is not a number")
    return kind(value)


def _check_indices(indices: Any, count: int | None, n: int) -> None:
    whole = indices.ndim == 1 and indices.dtype.kind in "iu" and (count is None or len(indices) == count)
    _check(whole and (not len(indices) or (indices.min() >= 0 and indices.max() < n)), "some indices are out of range")


def _check(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(f"the stored factors do not match the examples: {problem}.")


def _pair(values: Any, kind: type) -> Any:
    _check(isinstance(values, list | tuple) and len(values) == 2, f"{values!r} is not a pair of numbers")
    return _number(values[0], kind), _number(values[1], kind)
