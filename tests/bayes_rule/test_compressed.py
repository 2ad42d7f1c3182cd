import numpy as np
import pytest
from rule_cases import fitted_kernels, make_examples

from kmcf.bayes_rule import CompressedRule, Examples, LowRankRule, Sample
from kmcf.bayes_rule.declared import DeclaredFunctions
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.herding.resampling import KeepAll

PARTICLES = np.random.default_rng(5).normal(0.5, 0.8, size=(60, 1))
UNIFORM = np.full(60, 1 / 60)


def cube(states):
    return states[:, 0] ** 3


def table(states):
    return np.stack([np.sin(states), np.cos(states)], axis=1)[:, :, 0]


def fit_both(states, observations, functions=()):
    kernels = fitted_kernels(states, observations)
    features = [KernelFeatures.fit(kernel, tolerance=1e-10) for kernel in kernels]
    declared = DeclaredFunctions(states, (), functions)
    examples = Examples(states, *kernels)
    settings = {"epsilon": 1e-3, "delta": 1e-4, "resampler": KeepAll()}
    compressed = CompressedRule.fit(examples, *features, declared=declared, **settings)
    return compressed, LowRankRule.fit(examples, *features, rule="kbr", **settings)


def test_compressed_gives_the_low_rank_weights_and_moments():
    states, observations = make_examples(300)
    compressed, lowrank = fit_both(states, observations, (cube, table))
    for k in range(5):
        y = observations[k : k + 1]
        a, b = compressed.correct(Sample(PARTICLES, UNIFORM), y), lowrank.correct(Sample(PARTICLES, UNIFORM), y)
        w = b.weights()
        assert a.weight_sum == pytest.approx(b.weight_sum, rel=1e-8)
        np.testing.assert_allclose(a.weights(), w, atol=1e-8)
        np.testing.assert_allclose(a.mean(), w @ states, atol=1e-8)
        deviations = states - w @ states
        np.testing.assert_allclose(a.covariance(), (w[:, None] * deviations).T @ deviations, atol=1e-8)
        np.testing.assert_allclose(a.expectation(cube), w @ cube(states), atol=1e-7)
        np.testing.assert_allclose(a.expectation(table), w @ table(states), atol=1e-8)
        assert a.expectation(np.abs) is None
        assert a.sum_of_squares() == pytest.approx(np.sum(w**2), rel=1e-6)
        np.testing.assert_array_equal(compressed.herd(a, 30).indices, lowrank.herd(b, 30).indices)
        assert (a.observation_coverage, a.state_coverage) == (b.observation_coverage, b.state_coverage)


def test_moments_far_from_the_origin_keep_their_digits():
    states, observations = make_examples(200)
    near, _ = fit_both(states, observations)
    far, _ = fit_both(states + 1e6, observations)
    a = near.correct(Sample(PARTICLES, UNIFORM), observations[:1])
    b = far.correct(Sample(PARTICLES + 1e6, UNIFORM), observations[:1])
    np.testing.assert_allclose(b.covariance(), a.covariance(), rtol=1e-4)
    np.testing.assert_allclose(b.mean() - 1e6, a.mean(), atol=1e-4)


def test_summaries_of_many_posteriors_equal_those_of_their_weights(monkeypatch):
    monkeypatch.setattr("kmcf.bayes_rule.compressed.ROWS_AT_ONCE", 37)
    states, observations = make_examples(200)
    compressed, _ = fit_both(states, observations)
    posteriors = [compressed.correct(Sample(PARTICLES, UNIFORM), observations[k : k + 1]) for k in range(6)]
    summary = posteriors[0].summarise(posteriors)
    for k, posterior in enumerate(posteriors):
        w = posterior.weights()
        assert summary.largest[k] == np.argmax(w)
        assert summary.sum_of_squares[k] == pytest.approx(np.sum(w**2))
        assert summary.negative_mass[k] == pytest.approx(-w[w < 0].sum())


def test_extending_equals_fitting_all_with_the_same_pivots():
    states, observations = make_examples(400)
    first, _ = fit_both(states[:250], observations[:250], (cube,))
    before = first.correct(Sample(PARTICLES, UNIFORM), observations[:1])
    weights_before = before.weights().copy()
    extended = first.extended(states[250:300], observations[250:300]).extended(states[300:], observations[300:])
    after = extended.correct(Sample(PARTICLES, UNIFORM), observations[:1])
    # The same rule by hand: features of all examples from the first pivots, all sums over 400 examples.
    U = np.stack([first.states.of_one(x[None])[0] for x in states])
    V = np.stack([first.observations.of_one(y[None])[0] for y in observations])
    c, _ = first.states.of_mean(PARTICLES, UNIFORM)
    prior = U @ np.linalg.solve(U.T @ U + 400 * 1e-3 * np.eye(U.shape[1]), c)
    C = V.T @ (prior[:, None] * V)
    z = np.linalg.solve(C @ C + 1e-4 * np.eye(len(C)), C @ V[0])
    w = prior * (V @ z)
    np.testing.assert_allclose(after.weights(), w / w.sum(), atol=1e-7)
    np.testing.assert_allclose(after.expectation(cube), (w / w.sum()) @ cube(states), atol=1e-6)
    np.testing.assert_array_equal(before.weights(), weights_before)
