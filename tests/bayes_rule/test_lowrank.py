import numpy as np
import pytest
from bayes_rules import algorithm_1, feature_rule
from rule_cases import fitted_kernels, make_examples

from kmcf.bayes_rule import Examples, LowRankRule, Sample
from kmcf.bayes_rule.factors import features_of_rank
from kmcf.herding.resampling import KeepAll

PARTICLES = np.random.default_rng(5).normal(0.5, 0.8, size=(60, 1))
UNIFORM = np.full(60, 1 / 60)


def fit(kernels, rule="kbr", rank=None, tolerance=1e-12, epsilon=1e-3, delta=1e-4):
    states = features_of_rank(kernels[0], tolerance=tolerance, rank=rank)
    observations = features_of_rank(kernels[1], tolerance=tolerance, rank=rank, targets=states.rows)
    examples = Examples(None, *kernels)  # nobody asks for the support
    return LowRankRule.fit(examples, states, observations, epsilon=epsilon, delta=delta, rule=rule, resampler=KeepAll())


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-2, 1e-1), (1e-3, 9e-6), (1e-4, 1e-6)])
def test_full_rank_is_algorithm_1(columns, epsilon, delta):
    states, observations = make_examples(80, columns)
    kernels = fitted_kernels(states, observations)
    y = observations[:1] * 0.9
    posterior = fit(kernels, epsilon=epsilon, delta=delta).correct(Sample(PARTICLES, UNIFORM), y)
    m_pi = kernels[0].kernel(states, PARTICLES) @ UNIFORM
    k_y = kernels[1].kernel(observations, y)[:, 0]
    expected = algorithm_1(k_y, m_pi, kernels[0].matrix(), kernels[1].matrix(), epsilon, delta)
    np.testing.assert_allclose(posterior.weights(), expected / expected.sum(), atol=2e-6)
    assert posterior.weight_sum == pytest.approx(expected.sum(), rel=1e-5)


@pytest.mark.parametrize("rule", ["kbr", "importance"])
@pytest.mark.parametrize("rank", [3, 10])
def test_low_rank_is_the_rule_on_its_features(rule, rank):
    states, observations = make_examples(70, 3)
    kernels = fitted_kernels(states, observations)
    fitted = fit(kernels, rule=rule, rank=rank)
    y = observations[4:5]
    c, _ = fitted.states.of_mean(PARTICLES, UNIFORM)
    psi, _ = fitted.observations.of_one(y)
    expected = feature_rule(psi, c, fitted.states.rows, fitted.observations.rows, 1e-3, 1e-4, rule)
    np.testing.assert_allclose(
        fitted.correct(Sample(PARTICLES, UNIFORM), y).weights(), expected / expected.sum(), rtol=1e-5, atol=1e-7
    )


def test_herding_represents_the_posterior():
    states, observations = make_examples(90)
    kernels = fitted_kernels(states, observations)
    fitted = fit(kernels)
    posterior = fitted.correct(Sample(PARTICLES, UNIFORM), observations[:1])
    herding = fitted.herd(posterior, 40)
    weights, G = posterior.weights(), kernels[0].matrix()
    difference = np.bincount(herding.indices, minlength=90) / 40 - weights
    assert herding.loss == pytest.approx(np.sqrt(difference @ G @ difference), abs=1e-5)
    assert fitted.resampling_loss(herding.indices, posterior) == pytest.approx(herding.loss, abs=1e-5)
