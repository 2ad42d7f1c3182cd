"""Fitting on examples in chunks: everything that the compressed engine needs of them is a sum.

1. Kernels, regularisers and pivots come from a random sample, as in a fit in memory.
2. All chunks are searched for examples that these pivots miss by more than they miss any of the sample; those missed
   most join the sample, and pivots are chosen again. A few rounds end this, where one pivot per round, as a
   factorisation of all examples would need, takes as many rounds as there are pivots.
3. The sums run over all chunks.

Neither the chunks' sizes nor the number of workers changes what is chosen, and the sums differ by rounding only. With
no more examples than the sample takes, the result is the fit in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kmcf.bayes_rule import CompressedRule
from kmcf.bayes_rule.tensors import keeps_squares
from kmcf.distributed.chunks import Chunks, read_chunks
from kmcf.distributed.passes import Work, add_up
from kmcf.filter.fitting.learning import learn
from kmcf.filter.fitting.learnt import LearningSettings, Learnt
from kmcf.numerics.arrays import FloatArray

SAMPLE = 10_000
"""Examples in the random sample."""
ROUNDS, PER_ROUND, SLACK = 4, 500, 10.0
"""How often to search for examples that the pivots miss, for how many, and by which factor more than usual."""


def learn_chunks(
    states: Any, observations: Any, settings: LearningSettings, *, angles: Sequence[int], seed: int
) -> Learnt:
    """Learn from Dask arrays or dataframes.

    Parameters
    ----------
    states, observations : Dask arrays or dataframes
        The examples: numbers, none missing.
    settings : LearningSettings
        As for a fit in memory; the rule they make is compressed.
    angles : sequence of int
        State columns that are angles.
    seed : int
        For the sample.

    Examples
    --------
    A filter that is fitted to Dask arrays calls it:

    >>> import dask.array as da
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train = model.simulate(100, random_state=0)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0)
    >>> flt.fit(da.from_array(train.states, chunks=50), da.from_array(train.observations, chunks=50)).engine_
    'compressed'
    """
    chunks = read_chunks(states, observations)
    if settings.augment and chunks.size > SAMPLE:  # the sums run over chunks, and such pairs are in none
        raise ValueError(
            f"augment=True makes up pairs beside examples in memory; the {chunks.size} of these Dask chunks are too "
            "many, and little would be gained."
        )
    learnt = learn(*chunks.rows(_sampled(chunks.size, seed)), settings)
    if chunks.size <= SAMPLE:
        return learnt
    learnt = _with_missed(learnt, chunks, settings, tuple(angles))
    work = _work(learnt, tuple(angles), chunks.size)
    summed = _compressed(learnt).summing(chunks.reduced(work.sums, add_up))
    return replace(learnt, fitted=learnt.fitted._replace(rule=summed))


def _sampled(size: int, seed: int) -> Any:
    if size <= SAMPLE:
        return np.arange(size)
    return np.sort(np.random.default_rng(seed).choice(size, SAMPLE, replace=False))


def _with_missed(learnt: Learnt, chunks: Chunks, settings: LearningSettings, angles: tuple[int, ...]) -> Learnt:
    """Choose pivots again as long as they miss examples that are not in the sample."""
    for _ in range(ROUNDS):
        work = replace(_work(learnt, angles, chunks.size), most=PER_ROUND)
        found = chunks.reduced(work.missed, work.join_missed)
        if not len(found.numbers):
            break
        order = np.argsort(found.numbers)
        learnt = learnt.appended(found.states[order], found.observations[order], settings).refreshed(settings)
    return learnt


def _work(learnt: Learnt, angles: tuple[int, ...], size: int) -> Work:
    rule, (x, y) = _compressed(learnt), learnt.examples
    return Work(
        states=rule.states.without_rows(),
        observations=rule.observations.without_rows(),
        declared=rule.declared,
        angles=angles,
        usual=(_usual(rule.states.of_many(x)), _usual(rule.observations.of_many(y))),
        squares=keeps_squares(size, rule.states.rank, rule.observations.rank),
    )


def _usual(features: tuple[FloatArray, FloatArray, FloatArray]) -> float:
    """Return what counts as missed: much more than the most that is missed of the sample."""
    _, diagonal, missed = features
    return SLACK * max(float(missed.max()), 1e-12 * float(diagonal.max()))


def _compressed(learnt: Learnt) -> CompressedRule:
    rule = learnt.fitted.rule
    assert isinstance(rule, CompressedRule)
    return rule
