"""The exact engine solves only for the examples that the prior does not exclude."""

import numpy as np
import pytest

from kmcf.bayes_rule import Examples, Sample
from kmcf.bayes_rule.choice import RuleSettings, cheapest, neighbours
from kmcf.bayes_rule.exact import ExactRule, local_factor
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian

N = 240


def problem(width):
    rng = np.random.default_rng(0)
    states = np.sort(rng.uniform(0, 60, size=(N, 1)), axis=0)
    observations = np.concatenate([np.sin(states), states % 7], axis=1) + 0.1 * rng.normal(size=(N, 2))
    examples = Examples(states, Gaussian(width).on_examples(states), Gaussian(0.5).on_examples(observations))
    particles = 20.0 + rng.normal(size=(50, 1))
    return examples, particles, np.full(50, 0.02), observations[80:81]


def corrected(engine, examples, particles, weights, y, **settings):
    fitted = engine.fit(examples, epsilon=1e-3, delta=1e-4, resampler=KeepAll(), **settings)
    return fitted.correct(Sample(particles, weights), y)


@pytest.mark.parametrize("rule", ["kbr", "importance"])
def test_narrow_examples_need_few_examples_and_give_the_literal_weights(rule):
    examples, particles, weights, y = problem(0.5)
    literal = (
        LiteralRule.fit(examples, epsilon=1e-3, delta=1e-4, rule=rule, resampler=KeepAll())
        .correct(Sample(particles, weights), y)
        .weights()
    )
    local = (
        ExactRule.fit(examples, epsilon=1e-3, delta=1e-4, rule=rule, resampler=KeepAll())
        .correct(Sample(particles, weights), y)
        .weights()
    )
    assert 0 < np.count_nonzero(local) < N / 2  # the local path was taken
    np.testing.assert_allclose(local, literal, atol=1e-9 * np.abs(literal).max())


def test_what_is_neglected_is_what_was_asked_for():
    examples, particles, weights, y = problem(0.5)
    literal = (
        LiteralRule.fit(examples, epsilon=1e-3, delta=1e-4, rule="kbr", resampler=KeepAll())
        .correct(Sample(particles, weights), y)
        .weights()
    )
    coarse = ExactRule.fit(
        examples, epsilon=1e-3, delta=1e-4, rule="kbr", resampler=KeepAll(), negligible=1e-3
    ).correct(Sample(particles, weights), y)
    fine = ExactRule.fit(examples, epsilon=1e-3, delta=1e-4, rule="kbr", resampler=KeepAll(), negligible=1e-6).correct(
        Sample(particles, weights), y
    )
    assert np.count_nonzero(coarse.weights()) < np.count_nonzero(fine.weights())
    errors = [np.abs(found.weights() - literal).sum() for found in (coarse, fine)]
    assert errors[1] < 1e-4 < 1e-1
    assert errors[1] < errors[0] < 0.1


def test_wide_examples_take_all_examples():
    examples, particles, weights, y = problem(30.0)
    found = (
        ExactRule.fit(examples, epsilon=1e-3, delta=1e-4, rule="kbr", resampler=KeepAll())
        .correct(Sample(particles, weights), y)
        .weights()
    )
    assert np.count_nonzero(found) == N


def test_duplicates_do_not_break_the_small_factor():
    rows = np.repeat(np.random.default_rng(0).normal(size=(5, 40)), 3, axis=0)
    lower = local_factor(rows).factor
    np.testing.assert_allclose(lower @ lower.T, rows @ rows.T, atol=1e-10)


def test_auto_knows_that_few_examples_are_near():
    narrow, wide = problem(0.5)[0].state_kernel, problem(30.0)[0].state_kernel
    assert neighbours(narrow, 1e-6) < N / 3 < neighbours(wide, 1e-6)
    settings = RuleSettings("auto", "kbr", 1e-3, 1e-4, (1e-8, 1e-8), (None, None), 400, KeepAll(), KeepAll())
    assert cheapest(3000, 3000, 3000, settings, near=100) == "exact"
    assert cheapest(3000, 40, 40, settings, near=100) == "compressed"


def test_a_prior_that_excludes_all_examples_gives_no_weights():
    examples, particles, weights, y = problem(0.5)
    found = ExactRule.fit(examples, epsilon=1e-3, delta=1e-4, rule="kbr", resampler=KeepAll()).correct(
        Sample(particles + 1e6, weights), y
    )
    assert found.weight_sum == 0.0
