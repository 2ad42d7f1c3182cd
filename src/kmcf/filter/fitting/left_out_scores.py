"""How good posteriors are, for observations whose states are known: a proper score, by which a fit decides."""

from __future__ import annotations

import numpy as np

from kmcf.bayes_rule import ExactRule, Examples
from kmcf.bayes_rule.base import LEAST_WEIGHT_SUM
from kmcf.bayes_rule.defaults import default_delta, default_epsilon
from kmcf.herding.resampling import KeepAll
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects


def posterior_scores(
    examples: Examples, states: Objects, observations: Objects, prior: FloatArray | None = None, *, plain: bool
) -> FloatArray:
    """Score posteriors by their RKHS distance to the true states' features (less is better), (m,).

    Parameters
    ----------
    examples : Examples
        What Kernel Bayes' Rule, with its default regularisers, knows.
    states, observations : collections of length m
        Further examples.
    prior : array (n,), optional
        Similarity of each known state to the prior. None: the prior is the distribution of the known states.
    plain : bool
        Whether the observation kernel is the plain default one.
    """
    rule = ExactRule.fit(
        examples,
        epsilon=default_epsilon(float(examples.state_kernel.diagonal().mean())),
        delta=default_delta("kbr", plain=plain, mean_diagonal=float(examples.observation_kernel.diagonal().mean())),
        rule="kbr",
        resampler=KeepAll(),
    )
    uniform = np.full(examples.size, 1.0 / examples.size)
    weights = rule.correct_all(rule.state_gram @ uniform if prior is None else prior, observations)
    totals = weights.sum(axis=0)
    weights = np.where(totals > LEAST_WEIGHT_SUM, weights / np.where(totals == 0.0, 1.0, totals), uniform[:, None])
    similarities = examples.state_kernel.against(states)
    return np.asarray(np.sum(weights * (rule.state_gram @ weights - 2.0 * similarities), axis=0))
