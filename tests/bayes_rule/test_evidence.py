"""The evidence of every engine is the formula written out: log Σ λ_i k_Y(y, Y_i), and what it is compared with."""

import numpy as np
import pytest
from rule_cases import prior_of, rule_problem

from kmcf.bayes_rule import Examples, ParticleSettings, RuleSettings, Sample, fit_particle_rule, fit_rule
from kmcf.bayes_rule.local import Accuracy, LocalRule
from kmcf.herding.herding import Herd
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian

EPSILON, DELTA = 1e-3, 1e-4


def examples_of(problem):
    states, observations = problem["states"], problem["observations"]
    on_observations = Gaussian(problem["observation_bandwidth"]).fit(observations).on_examples(observations)
    return Examples(states, Gaussian(0.7).fit(states).on_examples(states), on_observations)


def rule_of(engine, problem):
    settings = RuleSettings(
        engine=engine, rule="kbr", epsilon=EPSILON, delta=DELTA, tolerance=(1e-13, 1e-13), rank=(None, None),
        n_particles=12, resampler=Herd(5, 0.0), always_resampler=Herd(5, 0.0),
    )  # fmt: skip
    return fit_rule(examples_of(problem), settings).rule


def written_out(problem, weights):
    k_y = problem["k_y"]
    predicted, expected = weights @ k_y, weights @ problem["G_Y"] @ weights
    return [*np.log([predicted, k_y.mean(), expected]), 2.0 * predicted - expected]


@pytest.mark.parametrize("engine", ["literal", "exact", "lowrank", "compressed"])
@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_the_formula(engine, seed):
    problem = rule_problem(seed)
    posterior = rule_of(engine, problem).correct(
        Sample(problem["particles"], problem["particle_weights"]), problem["y"]
    )
    np.testing.assert_allclose(posterior.evidence, written_out(problem, prior_of(problem, EPSILON)), atol=1e-6)


def local_rule(problem, most=None):
    accuracy = Accuracy.of(1e-9, 1e-13, most)
    settings = {"epsilon": EPSILON, "delta": DELTA, "rule": "kbr", "resampler": Herd(5, 0.0)}
    return LocalRule.fit(examples_of(problem), accuracy=accuracy, **settings)


@pytest.mark.parametrize("seed", range(3))
def test_evidence_of_the_local_engine_is_the_formula_where_all_examples_near_the_prior_take_part(seed):
    problem = rule_problem(seed)
    prior = Sample(problem["particles"], problem["particle_weights"])
    posterior = local_rule(problem).correct(prior, problem["y"])
    np.testing.assert_allclose(posterior.evidence, written_out(problem, prior_of(problem, EPSILON)), atol=1e-6)


def test_evidence_of_the_local_engine_is_not_fooled_by_the_observations_choice_of_examples():
    """With fewer examples than are near, the prior's own density takes the place of λ; the choice must not show."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(400, 1))
    observations = states + 0.3 * rng.normal(size=(400, 1))
    problem = {"states": states, "observations": observations, "observation_bandwidth": 0.5}
    prior, y = Sample(rng.normal(size=(50, 1)), np.full(50, 0.02)), np.array([[2.0]])
    found = local_rule(problem, most=40).correct(prior, y).evidence
    similarities = np.exp(-((states - prior.states.T) ** 2) / (2 * 0.7**2)).mean(axis=1)
    shares = similarities / similarities.sum()
    k_y = np.exp(-((observations[:, 0] - 2.0) ** 2) / (2 * 0.5**2))
    assert found.predicted == pytest.approx(np.log(shares @ k_y), abs=0.2)
    gram = np.exp(-((observations - observations.T) ** 2) / (2 * 0.5**2))
    assert found.expected == pytest.approx(np.log(shares @ gram @ shares), abs=0.1)


@pytest.mark.parametrize("delta", [1e-2, np.inf])
def test_evidence_on_particles_uses_the_shares_of_the_examples(delta):
    problem = rule_problem(1)
    settings = ParticleSettings(delta=delta, tolerance=1e-13, rank=None, resampler=KeepAll(), background=0.0)
    rule = fit_particle_rule(examples_of(problem), settings).rule
    posterior = rule.correct(Sample(problem["particles"], problem["particle_weights"]), problem["y"])
    similarities = np.exp(-((problem["states"] - problem["particles"].T) ** 2) / (2 * 0.7**2))
    shares = similarities / similarities.sum(axis=0) @ problem["particle_weights"]
    np.testing.assert_allclose(posterior.evidence, written_out(problem, shares), atol=1e-6)


def test_evidence_does_not_depend_on_whether_examples_came_at_once():
    problem = rule_problem(0, n=40)
    first = {**problem, "states": problem["states"][:30], "observations": problem["observations"][:30]}
    at_once, grown = rule_of("compressed", problem), rule_of("compressed", first)
    grown = grown.extended(problem["states"][30:], problem["observations"][30:])
    prior = Sample(problem["particles"], problem["particle_weights"])
    found, expected = grown.correct(prior, problem["y"]).evidence, at_once.correct(prior, problem["y"]).evidence
    np.testing.assert_allclose(found, expected, atol=1e-3)  # other pivots


def test_innovation_of_normal_distributions_does_not_depend_on_their_width():
    """With a narrow kernel Σ λ k is the density: log E p(Y) − log p(y) = ν²/2s² − log 2 / 2, whatever s."""
    rng = np.random.default_rng(0)
    innovations = []
    for width in (0.5, 2.0):
        observations = rng.normal(scale=width, size=(4000, 1))
        gram = Gaussian(0.1 * width).fit(observations)
        weights = np.full(4000, 1 / 4000)
        k_y = gram(observations, np.array([[1.5 * width]]))[:, 0]
        innovations.append(np.log(weights @ gram(observations) @ weights) - np.log(weights @ k_y))
    np.testing.assert_allclose(innovations, 1.5**2 / 2 - np.log(2) / 2, atol=0.1)
