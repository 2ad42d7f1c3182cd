"""The weights of posteriors on the examples, formed on the device from their coefficients, some at a time."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from kmcf.bayes_rule import CompressedRule
from kmcf.compiled.compiling import compiled
from kmcf.compiled.contract import Engine
from kmcf.compiled.preparing import herded_rule
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
    rule, dtype = herded_rule(engine.rule), engine.settings.dtype
    U, V = (np.asarray(factor.rows[: rule.size], dtype) for factor in (rule.states, rule.observations))
    if mesh is not None:
        filled = -(-len(U) // mesh.size) * mesh.size - len(U)  # rows of zeros have weight zero
        U, V = (np.pad(factor, ((0, filled), (0, 0))) for factor in (U, V))
        rows = NamedSharding(mesh, PartitionSpec(mesh.axis_names))
        U, V = jax.device_put((U, V), rows)
    piece = max(1, WEIGHTS_AT_ONCE // len(U))
    summary = _compiled(_weight_summary, not isinstance(rule, CompressedRule))
    parts = []
    for first in range(0, len(prior), piece):
        some = slice(first, first + piece)
        parts.append(jax.device_get(summary(U, V, prior[some], solution[some], weight_sum[some])))
    return WeightSummary(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def mean_features(engine: Engine, rows: Array, prior: Array, solution: Array, weight_sum: Array) -> Array:
    """Return the means of some features of the examples, (n, p), under K posteriors, (K, p)."""
    rule, dtype = herded_rule(engine.rule), engine.settings.dtype
    U, V, rows = (jnp.asarray(part[: rule.size], dtype) for part in (rule.states.rows, rule.observations.rows, rows))
    piece = max(1, WEIGHTS_AT_ONCE // len(U))
    mean = _compiled(_mean_features, not isinstance(rule, CompressedRule))
    parts = []
    for first in range(0, len(prior), piece):
        some = slice(first, first + piece)
        parts.append(mean(U, V, rows, prior[some], solution[some], weight_sum[some]))
    return jnp.concatenate(parts)


@cache
def _compiled(function: Callable[..., Any], clipped: bool) -> Any:
    return compiled(partial(function, clipped=clipped))


def _mean_features(
    U: Array, V: Array, rows: Array, prior: Array, solution: Array, weight_sum: Array, *, clipped: bool
) -> Array:
    with jax.default_matmul_precision("highest"):
        return _weights(U, V, prior, solution, weight_sum, clipped=clipped).T @ rows


def _weight_summary(
    U: Array, V: Array, prior: Array, solution: Array, weight_sum: Array, *, clipped: bool
) -> WeightSummary:
    with jax.default_matmul_precision("highest"):
        return summarise_columns(_weights(U, V, prior, solution, weight_sum, clipped=clipped))


def _weights(U: Array, V: Array, prior: Array, solution: Array, weight_sum: Array, *, clipped: bool) -> Array:
    """Return normalised weights, (n, K)."""
    coefficients = U @ prior.T
    return (coefficients.clip(0.0) if clipped else coefficients) * (V @ solution.T) / weight_sum
