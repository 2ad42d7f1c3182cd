"""From a filter that NumPy fitted to what a compiled step needs: its settings, and the numbers on the device."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.bayes_rule import CompressedRule, EitherRule, LowRankRule, ParticleRule
from kmcf.bayes_rule.clipped import ClippedSums
from kmcf.bayes_rule.core import CompressedCore
from kmcf.bayes_rule.declared import DeclaredFunctions
from kmcf.bayes_rule.tensors import Tensors
from kmcf.compiled.algebra import algebra_for
from kmcf.compiled.checks import check_kernel
from kmcf.compiled.loops import padded_gram
from kmcf.compiled.on_both import BothSteps
from kmcf.compiled.on_examples import ExampleSteps
from kmcf.compiled.on_particles import ParticleSteps
from kmcf.compiled.records import BothCore, Model, StepSettings
from kmcf.compiled.whole_tensors import WholeTensors
from kmcf.herding.resampling import Draw
from kmcf.numerics.objects import Objects

HerdedRule = CompressedRule | LowRankRule
CompiledRule = HerdedRule | ParticleRule | EitherRule

for _sums in (Tensors, WholeTensors, ClippedSums):
    jax.tree_util.register_dataclass(_sums, [field.name for field in dataclasses.fields(_sums)], [])


def settings_for(flt: Any, dtype: Any) -> StepSettings:
    """Return the settings of a filter's compiled steps; its kernels must be ones that JAX can compile.

    Parameters
    ----------
    flt : KernelMonteCarloFilter or ParticleLikelihoodFilter
        Fitted by NumPy; its transition and initial draws are written for JAX.
    dtype : dtype
        Precision.
    """
    settings = StepSettings(
        transition=flt.transition,
        initial=flt.initial,
        **_by_support(flt, flt.rule_, dtype),
        angles=tuple(flt.angles),
        seed=flt.seed_,
        n_particles=flt.n_particles_,
        rejecting=flt.rejecting_,
        dtype=dtype,
        algebra=algebra_for(jax.devices()[0].platform),
    )
    pivots = {name: getattr(settings, name).mapped(lambda array: array.astype(dtype)) for name in PIVOTS}
    settings = dataclasses.replace(settings, **pivots)
    check_kernel("state kernel", settings.state_pivots, flt.states_.shape[1:], dtype)
    check_kernel("observation kernel", settings.observation_pivots, flt.reader_.shape or (), dtype)
    return settings


PIVOTS = ("state_pivots", "observation_pivots")


def _by_support(flt: Any, rule: CompiledRule, dtype: Any) -> dict[str, Any]:
    """Return the settings that depend on where the posterior lives."""
    if isinstance(rule, EitherRule):
        here, there = _by_support(flt, herded_rule(rule), dtype), _by_support(flt, rule.particles, dtype)
        kernels = (there[name].mapped(lambda array: array.astype(dtype)) for name in PIVOTS)
        return {**here, "support": BothSteps(here["support"], there["support"], *kernels)}
    if isinstance(rule, ParticleRule):
        threshold = rule.resampler.threshold if isinstance(rule.resampler, Draw) else np.inf
        return {
            "state_pivots": rule.state_kernel,
            "observation_pivots": rule.observation_kernel,
            "support": ParticleSteps(float(threshold), rule.sharpness),
            "n_resample": flt.n_particles_,
        }
    known = rule.declared if isinstance(rule, CompressedRule) else None
    return {
        "state_pivots": rule.states.pivot_kernel,
        "observation_pivots": rule.observations.pivot_kernel,
        "support": ExampleSteps(known or DeclaredFunctions(flt.states_, flt.angles, ())),
        "n_resample": min(flt.n_resample, rule.size, flt.n_particles_),
    }


def herded_rule(rule: CompiledRule) -> HerdedRule:
    """Return the rule whose posterior lives on the examples."""
    found = rule.examples if isinstance(rule, EitherRule) else rule
    assert isinstance(found, CompressedRule | LowRankRule)
    return found


def model_of(rule: CompiledRule, states: Objects, settings: StepSettings) -> Model:
    """Return the fitted numbers on the device."""
    if isinstance(rule, ParticleRule):
        host = Model(rule.core, None, states)
    else:
        found = herded_rule(rule)
        core = _herded_core(found, settings.support)
        host = Model(core, states[found.candidates.indices], states)
        if isinstance(rule, EitherRule):
            rows = found.states.rows, found.observations.rows
            host = host._replace(core=BothCore(core, rule.particles.core, *rows))
    return jax.tree.map(lambda array: jnp.asarray(array, settings.dtype), host)


def _herded_core(rule: HerdedRule, support: Any) -> CompressedCore:
    if isinstance(support, BothSteps):
        support = support.examples
    core = rule.core if isinstance(rule, CompressedRule) else rule.compiled_core(support.declared)
    core = core._replace(candidate_gram=padded_gram(core.candidate_gram))
    if isinstance(core.tensors, Tensors):
        core = core._replace(tensors=WholeTensors.of_pairs(core.tensors))
    return core
