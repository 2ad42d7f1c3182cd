"""How much better a prior predicted an observation than all examples do, against the true ratio of densities."""

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule import Sample
from kmcf.bayes_rule.contrast import LEAST, Contrast


def two_places(**settings):
    """Two places that look different: at 0 observations are around 0, at 10 around 5."""
    rng = np.random.default_rng(0)
    states = np.concatenate([rng.normal(0.0, 0.5, size=(100, 1)), rng.normal(10.0, 0.5, size=(100, 1))])
    observations = 0.5 * states + rng.normal(0.0, 0.5, size=states.shape)
    move = kmcf.transitions.GaussianRandomWalk(0.5)
    return kmcf.KernelMonteCarloFilter(move, random_state=0, **settings).fit(states, observations)


RULES = [{"engine": "exact"}, {"engine": "lowrank"}, {"engine": "compressed"}, {"support": "particles"}]


@pytest.mark.parametrize("settings", RULES, ids=str)
def test_it_tells_a_right_prior_from_a_wrong_one(settings):
    """A prior at one of two places: the observation of that place is twice as probable as under both together."""
    rule = two_places(**settings)._rule()
    near = Sample(np.random.default_rng(1).normal(0.0, 0.5, size=(200, 1)), np.full(200, 1 / 200))
    right, wrong = (rule.correct(near, np.array([[y]])).contrast for y in (0.0, 5.0))
    assert right == pytest.approx(np.log(2.0), abs=0.15)
    assert wrong < np.log(0.1)


def test_engines_agree():
    prior = Sample(np.random.default_rng(1).normal(2.0, 3.0, size=(200, 1)), np.full(200, 1 / 200))
    found = [two_places(**one)._rule().correct(prior, np.array([[1.0]])).contrast for one in RULES[:3]]
    np.testing.assert_allclose(found, found[0], atol=0.02)


def test_the_formula():
    rng = np.random.default_rng(2)
    V, weights, psi = rng.uniform(size=(30, 4)), rng.dirichlet(np.ones(30)), rng.uniform(size=4)
    S = V.T @ V / 30
    sharp = np.linalg.inv(S + 0.01 * np.trace(S) * np.eye(4)) @ psi
    expected = np.log(max(weights @ V @ sharp / (V.mean(axis=0) @ sharp), LEAST))
    assert Contrast.of(S, V.mean(axis=0))(weights @ V, psi) == pytest.approx(expected)


def test_the_paper_s_engine_does_not_say():
    prior = Sample(np.zeros((5, 1)), np.full(5, 0.2))
    assert np.isnan(two_places(engine="literal")._rule().correct(prior, np.array([[0.0]])).contrast)


def test_without_a_factor_there_is_no_contrast():
    assert Contrast.of(-np.eye(2), np.array([0.5, 0.5])) is None


ALL_RULES = [*RULES, {"support": "both"}, {"support": "particles", "delta": np.inf}]


@pytest.mark.parametrize("settings", ALL_RULES, ids=str)
def test_one_observation_alone_suggests_the_place_it_was_made_at(settings):
    """At 5 it is e^25 times as probable under the second place as under the first."""
    flt = two_places(**settings)
    states, weights = flt._rule().suggested(np.array([[5.0]]))
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    assert weights[states[:, 0] > 5.0].sum() > 0.95
    np.testing.assert_array_equal(states, flt.states_)


def test_the_formula_of_what_is_likely():
    rng = np.random.default_rng(3)
    V, psi = rng.normal(size=(30, 4)), rng.normal(size=4)
    S = V.T @ V / 30
    density = np.clip(V @ np.linalg.inv(S + 0.01 * np.trace(S) * np.eye(4)) @ psi, 0.0, None)
    np.testing.assert_allclose(Contrast.of(S, V.mean(axis=0)).likely(V, psi), density / density.sum())
    assert Contrast.of(S, V.mean(axis=0)).likely(np.zeros((3, 4)), psi) is None


def test_some_columns_are_enough_and_of_several_sensors_one_that_spoke():
    rng = np.random.default_rng(0)
    states = np.concatenate([np.zeros((60, 1)), np.full((60, 1), 10.0)]) + 0.5 * rng.normal(size=(120, 1))
    both = np.hstack([states, rng.normal(size=states.shape)]) + 0.3 * rng.normal(size=(120, 2))
    kernel = kmcf.kernels.Gaussian()
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.5), observation_kernel=kernel)
    found = flt.fit(states, both)._rule().suggested(np.array([[10.0, np.nan]]))
    assert found.weights[found.states[:, 0] > 5.0].sum() > 0.95
    parts = {"dull": (states, both[:, 1:]), "sharp": (states, both[:, :1])}
    rule = flt.fit(parts)._rule()
    assert rule.suggested({"sharp": np.array([[10.0]])}).weights[60:].sum() > 0.95


def test_the_paper_s_engine_suggests_nothing():
    assert two_places(engine="literal")._rule().suggested(np.array([[0.0]])) is None
