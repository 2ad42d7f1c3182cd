"""Points that herding may pick: all examples while they are few, representatives where they are many."""

import numpy as np
import pytest
from herding_by_hand import algorithm_2
from rule_cases import make_examples

from kmcf.bayes_rule import candidates as module
from kmcf.bayes_rule.candidates import Candidates, features_loss
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.kernels import Gaussian


def features_of(n):
    states, _ = make_examples(n)
    kernel = Gaussian(1.0).on_examples(states)
    return KernelFeatures.fit(kernel, tolerance=1e-12), kernel


def test_few_examples_are_all_candidates_and_picks_are_those_of_algorithm_2():
    features, kernel = features_of(40)
    chosen = Candidates(features, kernel)
    np.testing.assert_array_equal(chosen.indices, np.arange(40))
    weights = np.random.default_rng(0).dirichlet(np.ones(40))
    picked = chosen.herd(features.rows.T @ weights, 12)
    assert picked.indices.tolist() == algorithm_2(weights, kernel.matrix(), 12)


def test_of_many_examples_the_pivots_and_a_draw_are_taken(monkeypatch):
    monkeypatch.setattr(module, "FEWEST", 30)
    monkeypatch.setattr(module, "PER_FEATURE", 1)
    features, kernel = features_of(200)
    assert 5 < features.rank < 30
    chosen = Candidates(features, kernel)
    assert len(chosen.indices) == len(set(chosen.indices)) == 30
    assert set(features.pivots) <= set(chosen.indices)
    np.testing.assert_array_equal(chosen.indices, Candidates(features, kernel).indices)  # the same draw every time
    np.testing.assert_allclose(chosen.gram, kernel.matrix()[np.ix_(chosen.indices, chosen.indices)])
    picked = chosen.herd(features.rows.mean(axis=0), 10)
    assert set(picked.indices) <= set(chosen.indices)
    assert picked.loss < 0.2


def test_never_more_than_the_most(monkeypatch):
    monkeypatch.setattr(module, "FEWEST", 30)
    monkeypatch.setattr(module, "MOST", 7)
    features, kernel = features_of(200)
    assert len(Candidates(features, kernel).indices) == 7


def test_the_loss_in_features_is_the_distance_of_means():
    features, kernel = features_of(30)
    weights, picks = np.random.default_rng(1).dirichlet(np.ones(30)), np.array([3, 3, 9, 20])
    difference = np.bincount(picks, minlength=30) / 4 - weights
    expected = np.sqrt(difference @ kernel.matrix() @ difference)
    assert features_loss(features.rows[picks], features.rows.T @ weights) == pytest.approx(expected, abs=1e-6)
