"""Predictions learnt from pairs of states, against the sum rule with its inverse."""

import numpy as np
import pytest
from bayes_rules import sum_rule
from kernels_by_hand import gaussian_matrix

from kmcf.baselines import KernelBayesFilter
from kmcf.baselines.sum_rule import SumRule, TransitionPairs
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian

MODEL = paper_model("1b")
TRAIN, TEST = MODEL.simulate(40, random_state=0), MODEL.simulate(6, random_state=1)


SETTINGS = {
    "state_kernel": Gaussian(0.8),
    "observation_kernel": Gaussian(1.1),
    "epsilon": 1e-2,
    "delta": 1e-3,
    "transition_epsilon": 2e-2,
    "n_particles": 25,
    "random_state": 0,
}


@pytest.mark.parametrize("controlled", [False, True])
def test_the_rule_is_its_formula(controlled):
    rng = np.random.default_rng(0)
    before, after, controls = (rng.normal(size=(20, d)) for d in (2, 2, 1))
    pairs = TransitionPairs(before, after, controls if controlled else None)
    states, weights, control = rng.normal(size=(6, 2)), rng.dirichlet(np.ones(6)), np.array([[0.3]])
    G, values = gaussian_matrix(before, before, 0.9), gaussian_matrix(before, states, 0.9) @ weights
    if controlled:
        G = G * gaussian_matrix(controls, controls, 0.7)
        values = values * gaussian_matrix(controls, control, 0.7)[:, 0]
    kernels = Gaussian(0.9), Gaussian(0.7) if controlled else None
    for known in (states, before):  # similarities that were computed before, and that were not
        rule = SumRule(pairs, *kernels, epsilon=1e-2, examples=known)
        np.testing.assert_allclose(rule.predict(states, weights, control), sum_rule(values, G, 1e-2), atol=1e-9)
    assert rule.controlled == controlled
    assert rule.successors is after


def test_prediction_learns_the_drift():
    """x' = 0.9 x + noise: a belief at 2 moves to 1.8."""
    model = paper_model("1a")
    train = model.simulate(800, random_state=0)
    flt = KernelBayesFilter(initial=lambda size, rng: np.full((size, 1), 2.0), random_state=0)
    flt.fit(train.states, train.observations)
    ahead = flt.forecast(flt.start(), 2)
    assert ahead.mean[0, 0] == pytest.approx(2.0)
    assert ahead.mean[1, 0] == pytest.approx(1.8, abs=0.3)


def test_pairs_are_thinned_evenly():
    train = MODEL.simulate(100, random_state=0)
    flt = KernelBayesFilter(n_transitions=12, random_state=0).fit(train.states, train.observations, train.controls)
    predicted = flt.forecast(flt.start(), 2, train.controls[:2])[1].states
    assert len(predicted) == 12
    np.testing.assert_array_equal(predicted[[0, -1]], train.states[[1, -1]])


def test_where_no_pair_is_near_the_prediction_is_uniform():
    flt = KernelBayesFilter(initial=lambda size, rng: np.full((size, 1), 1e4), **SETTINGS)
    flt.fit(TRAIN.states, TRAIN.observations)
    lost = flt.forecast(flt.start(), 2)[1]
    np.testing.assert_allclose(lost.weights, 1 / 39)
