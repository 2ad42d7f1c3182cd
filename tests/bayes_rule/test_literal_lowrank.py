"""Algorithm 5 as printed, against explicit formulas."""

import numpy as np
import pytest
from bayes_rules import algorithm_5, incomplete_cholesky
from rule_cases import fitted_kernels, make_examples

import kmcf
from kmcf.bayes_rule import Examples, LiteralLowRankRule, LiteralRule, Sample
from kmcf.bayes_rule.literal_lowrank import low_rank_bayes_rule
from kmcf.herding.resampling import KeepAll

PARTICLES = np.random.default_rng(5).normal(0.5, 0.8, size=(60, 1))
UNIFORM = np.full(60, 1 / 60)


@pytest.mark.parametrize(("rank_x", "rank_y"), [(5, 5), (10, 10), (8, 4)])
@pytest.mark.parametrize("columns", [1, 10])
def test_it_is_the_printed_algorithm(rank_x, rank_y, columns):
    states, observations = make_examples(80, columns)
    on_states, on_observations = fitted_kernels(states, observations)
    y = observations[:1] * 0.9
    rule = LiteralLowRankRule.of_rank(
        Examples(states, on_states, on_observations),
        (rank_x, rank_y),
        epsilon=1e-2,
        delta=1e-3,
        rule="kbr",
        resampler=KeepAll(),
    )
    found = rule.correct(Sample(PARTICLES, UNIFORM), y)
    expected = algorithm_5(
        on_observations.kernel(observations, y)[:, 0],
        on_states.kernel(states, PARTICLES) @ UNIFORM,
        incomplete_cholesky(on_states.matrix(), rank_x),
        incomplete_cholesky(on_observations.matrix(), rank_y),
        1e-2,
        1e-3,
    )
    np.testing.assert_allclose(found.unnormalised, expected, atol=1e-6 * np.abs(expected).max())
    assert rule.ranks == (rank_x, rank_y)


def test_at_full_rank_it_is_algorithm_1():
    rng = np.random.default_rng(0)
    states = rng.uniform(0, 20, size=(25, 1))  # far apart: the kernel matrices are well conditioned
    observations = states + 0.1 * rng.normal(size=states.shape)
    examples = Examples(states, *(kmcf.kernels.Gaussian(0.4).on_examples(rows) for rows in (states, observations)))
    settings = {"epsilon": 1e-2, "delta": 1e-4, "rule": "kbr", "resampler": KeepAll()}
    prior, y = Sample(states[:10], np.full(10, 0.1)), observations[3:4]
    five = LiteralLowRankRule.of_rank(examples, (None, None), **settings).correct(prior, y)
    one = LiteralRule.fit(examples, **settings).correct(prior, y)
    np.testing.assert_allclose(five.unnormalised, one.unnormalised, atol=1e-8)


def test_a_singular_matrix_is_an_error_that_names_the_stable_engine():
    with pytest.raises(np.linalg.LinAlgError, match=r"singular at this step.*engine='lowrank'"):
        low_rank_bayes_rule(np.array([1.0, -1.0]), np.ones((2, 1)), np.ones(2), 1e-3)


def test_the_filter_reaches_it_by_a_rank():
    states, observations = make_examples(60)
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, r: s, engine="literal", rank=10, random_state=0)
    flt.fit(states, observations)
    assert isinstance(flt.rule_, LiteralLowRankRule)
    assert (flt.engine_, flt.ranks_, flt.rejecting_) == ("literal", (10, 10), False)
    assert 0 < flt.trace_errors_[0] < 0.01
    other = flt.refitted(states, observations, epsilon=1e-2)
    again = kmcf.KernelMonteCarloFilter(lambda s, u, r: s, engine="literal", rank=10, epsilon=1e-2, random_state=0)
    again.fit(states, observations)
    np.testing.assert_allclose(other.filter(observations[:3]).mean, again.filter(observations[:3]).mean, rtol=1e-6)


def test_the_importance_weighted_rule_is_not_printed_so():
    with pytest.raises(ValueError, match="printed for rule='kbr' only"):
        kmcf.KernelMonteCarloFilter(lambda s, u, r: s, engine="literal", rank=5, rule="importance").fit(
            np.zeros((9, 1)), np.zeros((9, 1))
        )


def test_algorithm_5_says_that_it_needs_a_rank():
    with pytest.raises(TypeError, match="needs a rank"):
        LiteralLowRankRule.represented(None)
