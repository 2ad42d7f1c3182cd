"""The weights of posteriors on the examples, formed on the device from their coefficients, some at a time."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from functools import partial

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from kmcf.bayes_rule import CompressedRule, ParticleRule
from kmcf.compiled.compiling import compiled
from kmcf.compiled.contract import Engine
from kmcf.embedding.lazy_weights import WeightSummary, summarise_columns
from kmcf.numerics.arrays import Array

WEIGHTS_AT_ONCE = 2**25
"""How many weights are formed at a time when summaries need them (256 MB)."""


def summarise_weights(
    engine: Engine, prior: Array, solution: Array, weight_sum: Array, mesh: Mesh | None
) -> WeightSummary:
    """Form the weights of K posteriors on the device and summarise them.

    With a mesh the rows of the factors, one per example, are spread over its devices.
    """
    rule, dtype = engine.rule, engine.settings.dtype
    assert not isinstance(rule, ParticleRule)
    U, V = (np.asarray(factor.rows[: rule.size], dtype) for factor in (rule.states, rule.observations))
    if mesh is not None:
        filled = -(-len(U) // mesh.size) * mesh.size - len(U)  # rows of zeros have weight zero
        U, V = (np.pad(factor, ((0, filled), (0, 0))) for factor in (U, V))
        rows = NamedSharding(mesh, PartitionSpec(mesh.axis_names))
        U, V = jax.device_put((U, V), rows)
    piece = max(1, WEIGHTS_AT_ONCE // len(U))
    summary = compiled(partial(_weight_summary, clipped=not isinstance(rule, CompressedRule)))
    parts = []
    for first in range(0, len(prior), piece):
        some = slice(first, first + piece)
        parts.append(jax.device_get(summary(U, V, prior[some], solution[some], weight_sum[some])))
    return WeightSummary(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _weight_summary(
    U: Array, V: Array, prior: Array, solution: Array, weight_sum: Array, *, clipped: bool
) -> WeightSummary:
    with jax.default_matmul_precision("highest"):
        coefficients = U @ prior.T
        weights = (coefficients.clip(0.0) if clipped else coefficients) * (V @ solution.T) / weight_sum
    return summarise_columns(weights)
