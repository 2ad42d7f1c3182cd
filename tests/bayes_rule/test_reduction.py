"""Fewer observation features where posteriors hardly change."""

import numpy as np
import pytest
from bayes_rules import algorithm_1
from rule_cases import fitted_kernels, make_examples

from kmcf.bayes_rule import Examples, LowRankRule, Sample
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.probes import Probes
from kmcf.bayes_rule.reduction import FEWEST, reduce_features, reduce_observations
from kmcf.herding.resampling import KeepAll

REGULARISERS = {"epsilon": 1e-3, "delta": 1e-4}


def reduced_for(x, states, observations):
    probes = Probes.of(x, states, observations, rule="kbr", **REGULARISERS)
    return reduce_observations(states, observations, probes, lambda p, q: True)[0]


@pytest.mark.parametrize("columns", [1, 2])
def test_few_features_stay_as_they_are(columns):
    x, y = make_examples(150, columns)
    states, observations = (KernelFeatures.fit(k, tolerance=1e-6) for k in fitted_kernels(x, y))
    assert observations.rank <= 2 * FEWEST
    assert reduced_for(x, states, observations) is observations


def test_many_features_are_reduced_and_the_posterior_stays():
    """Ten columns of noise: full rank, yet a posterior over one coordinate needs little of it."""
    x, y = make_examples(250, columns=10)
    kernels = fitted_kernels(x, y)
    states, observations = (KernelFeatures.fit(kernel, tolerance=1e-9) for kernel in kernels)
    reduced = reduced_for(x, states, observations)
    assert FEWEST <= reduced.rank < 0.8 * observations.rank
    rule = LowRankRule.fit(Examples(x, *kernels), states, reduced, rule="kbr", resampler=KeepAll(), **REGULARISERS)
    for k in (3, 77, 140):
        prior = Sample(x[k] + np.linspace(-2.0, 2.0, 40)[:, None], np.full(40, 1 / 40))
        m_pi = kernels[0].against(prior.states) @ prior.weights
        k_y = kernels[1].against(y[k : k + 1])[:, 0]
        exact = algorithm_1(k_y, m_pi, kernels[0].matrix(), kernels[1].matrix(), *REGULARISERS.values())
        exact = exact / exact.sum()
        difference = rule.correct(prior, y[k : k + 1]).weights() - exact
        spread = np.sqrt(1.0 - exact @ kernels[0].matrix() @ exact)
        assert np.sqrt(difference @ kernels[0].matrix() @ difference) < 0.1 * spread


def test_where_nothing_can_be_compared_all_features_stay():
    x, y = make_examples(30)
    states, observations = (KernelFeatures.fit(k, tolerance=1e-6) for k in fitted_kernels(x, y))
    reduced = reduce_features(states, observations, None, tolerance=1e-6, affordable=lambda p, q: True)
    assert reduced.states is states
    assert reduced.observations is observations
