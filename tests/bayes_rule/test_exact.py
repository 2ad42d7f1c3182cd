"""The exact engine against Algorithm 1 with explicit inverses, with all examples and with those near the prior."""

import numpy as np
import pytest
from bayes_rules import algorithm_1, importance_rule
from finite import DiscreteProblem
from hypothesis import given
from hypothesis import strategies as st
from rule_cases import prior_of, rule_problem
from scipy import linalg

from kmcf.bayes_rule import Examples, Sample
from kmcf.bayes_rule.exact import ROUNDING, ExactRule, importance_weighted_rule, kernel_bayes_rule, local_factor
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import FromCallable, Gaussian
from kmcf.numerics.linalg import pivoted_cholesky

FORMULAS = {"kbr": (kernel_bayes_rule, algorithm_1), "importance": (importance_weighted_rule, importance_rule)}
both_rules = pytest.mark.parametrize("rule", ["kbr", "importance"])


def factor_of(matrix, **options):
    return pivoted_cholesky(lambda i: matrix[:, i], np.diag(matrix), **({"tolerance": ROUNDING} | options))


def truth(rule, problem, epsilon, delta):
    return FORMULAS[rule][1](problem["k_y"], problem["m_pi"], problem["G_X"], problem["G_Y"], epsilon, delta)


def assert_close(weights, expected, tolerance):
    np.testing.assert_allclose(weights, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@both_rules
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-1, 1e-1), (1e-2, 1e-3), (1e-3, 1e-5)])
@pytest.mark.parametrize("columns", [1, 10])
@pytest.mark.parametrize("examples", ["distinct", "duplicated", "constant"])
def test_formula_equals_algorithm_1_with_explicit_inverses(rule, epsilon, delta, columns, examples):
    problem = rule_problem(0, observation_columns=columns, examples=examples)
    prior = prior_of(problem, epsilon)
    weights = FORMULAS[rule][0](prior, factor_of(problem["G_Y"]), problem["k_y"], delta)
    assert_close(weights, truth(rule, problem, epsilon, delta), 1e-7)


@both_rules
@given(seed=st.integers(0, 10_000), n=st.integers(5, 20), exponent=st.floats(-4, 0))
def test_formula_equals_algorithm_1_on_random_problems(rule, seed, n, exponent):
    problem = rule_problem(seed, n=n)
    epsilon, delta = 10.0**exponent, 10.0 ** (exponent - 1)
    weights = FORMULAS[rule][0](prior_of(problem, epsilon), factor_of(problem["G_Y"]), problem["k_y"], delta)
    assert_close(weights, truth(rule, problem, epsilon, delta), 1e-6)


@both_rules
@pytest.mark.parametrize("columns", [1, 10])
@pytest.mark.parametrize("examples", ["distinct", "duplicated", "constant"])
def test_rule_equals_algorithm_1_from_particles_to_weights(rule, columns, examples):
    problem = rule_problem(1, observation_columns=columns, examples=examples)
    fitted = ExactRule.fit(
        Examples(
            problem["states"],
            Gaussian(0.7).on_examples(problem["states"]),
            Gaussian(problem["observation_bandwidth"]).on_examples(problem["observations"]),
        ),
        epsilon=1e-2,
        delta=1e-3,
        rule=rule,
        resampler=KeepAll(),
    )
    weights = fitted.correct(Sample(problem["particles"], problem["particle_weights"]), problem["y"]).unnormalised
    assert_close(weights, truth(rule, problem, 1e-2, 1e-3), 1e-7)


def test_states_that_priors_are_expected_on_are_compared_once():
    problem = rule_problem(1)
    rng = np.random.default_rng(0)
    compared = []

    def similarity(a, b):
        compared.append(len(b))
        return np.exp(-0.5 * (a[:, None, 0] - b[None, :, 0]) ** 2)

    kernel = FromCallable(similarity).on_examples(problem["states"][:, :1])
    examples = Examples(problem["states"], kernel, Gaussian(0.7).on_examples(problem["observations"]))
    rule = ExactRule.fit(examples, epsilon=1e-2, delta=1e-3, rule="kbr", resampler=KeepAll())
    expected, others = rng.normal(size=(5, 1)), rng.normal(size=(5, 1))
    prepared = rule.expecting(expected).regularised(1e-3, 1e-4)
    compared.clear()
    for states in (expected, others, expected):
        prior = Sample(states, rng.dirichlet(np.ones(5)))
        found, literal = (one.correct(prior, problem["y"]) for one in (prepared, rule.regularised(1e-3, 1e-4)))
        np.testing.assert_array_equal(found.unnormalised, literal.unnormalised)
        assert found.state_coverage == literal.state_coverage == prepared.state_coverage(prior)
    assert len(compared) == 3 + 2  # the rule that expects nothing, and the others


@pytest.mark.parametrize("rank", [1, 6])
def test_at_low_rank_kernel_bayes_rule_is_algorithm_1_with_the_low_rank_matrix(rank):
    problem = rule_problem(2)
    factor = factor_of(problem["G_Y"], rank=rank)
    low = problem | {"G_Y": factor.factor @ factor.factor.T}
    weights = kernel_bayes_rule(prior_of(problem, 1e-2), factor, problem["k_y"], 1e-3)
    assert_close(weights, truth("kbr", low, 1e-2, 1e-3), 1e-8)


@pytest.mark.parametrize("rank", [1, 6])
def test_at_low_rank_the_importance_rule_is_that_of_the_low_rank_matrix(rank):
    problem = rule_problem(2)
    factor = factor_of(problem["G_Y"], rank=rank)
    low = problem | {"G_Y": factor.factor @ factor.factor.T}
    weights = importance_weighted_rule(prior_of(problem, 1e-2), factor, problem["k_y"], 1e-3)
    assert_close(weights, truth("importance", low, 1e-2, 1e-3), 1e-8)


@both_rules
@pytest.mark.parametrize("y", [0, 1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-1, 1e-2), (1e-3, 1e-4), (1e-8, 1e-10)])
def test_discrete_problem_in_closed_form(rule, y, epsilon, delta):
    problem = DiscreteProblem()
    same = FromCallable(problem.same)
    fitted = ExactRule.fit(
        Examples(problem.states, same.on_examples(problem.states), same.on_examples(problem.observations)),
        epsilon=epsilon,
        delta=delta,
        rule=rule,
        resampler=KeepAll(),
    )
    weights = fitted.correct(
        Sample(np.array([[0.0], [1.0], [2.0]]), problem.PRIOR), np.array([[float(y)]])
    ).unnormalised
    np.testing.assert_allclose(problem.mass(weights), problem.regularised(y, epsilon, delta, rule), rtol=1e-8)
    if delta < 1e-9:
        np.testing.assert_allclose(problem.mass(weights), problem.posterior(y), atol=1e-6)


def test_importance_rule_gives_no_weight_where_the_prior_coefficient_is_negative():
    problem = rule_problem(3)
    prior = prior_of(problem, 1e-3)
    assert prior.min() < 0
    weights = importance_weighted_rule(prior, factor_of(problem["G_Y"]), problem["k_y"], 1e-2)
    np.testing.assert_array_equal(weights[prior <= 0], np.zeros(int((prior <= 0).sum())))


@both_rules
def test_permuting_the_examples_permutes_the_weights(rule):
    problem = rule_problem(4)
    prior = prior_of(problem, 1e-2)
    order = np.random.default_rng(0).permutation(25)
    shuffled = problem["G_Y"][np.ix_(order, order)]
    weights = FORMULAS[rule][0](prior, factor_of(problem["G_Y"]), problem["k_y"], 1e-3)
    permuted = FORMULAS[rule][0](prior[order], factor_of(shuffled), problem["k_y"][order], 1e-3)
    assert_close(permuted, weights[order], 1e-8)


@both_rules
def test_without_similar_observations_all_weights_vanish(rule):
    problem = rule_problem(5)
    weights = FORMULAS[rule][0](prior_of(problem, 1e-2), factor_of(problem["G_Y"]), np.zeros(25), 1e-3)
    np.testing.assert_array_equal(weights, np.zeros(25))


@both_rules
def test_inputs_are_not_modified(rule):
    problem = rule_problem(6)
    prior, factor = prior_of(problem, 1e-2), factor_of(problem["G_Y"])
    before = prior.copy(), factor.factor.copy(), problem["k_y"].copy()
    FORMULAS[rule][0](prior, factor, problem["k_y"], 1e-3)
    for now, then in zip((prior, factor.factor, problem["k_y"]), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_state_kernel_that_is_not_positive_definite_is_an_error_that_names_epsilon():
    problem = rule_problem(7)
    indefinite = FromCallable(lambda a, b: -Gaussian(0.7)(a, b))
    with pytest.raises(linalg.LinAlgError, match=r"G_X \+ n epsilon I is not positive definite.*raise epsilon"):
        ExactRule.fit(
            Examples(
                problem["states"],
                indefinite.on_examples(problem["states"]),
                Gaussian(1.0).on_examples(problem["observations"]),
            ),
            epsilon=1e-3,
            delta=1e-3,
            rule="kbr",
            resampler=KeepAll(),
        )


def test_an_observation_kernel_that_is_not_positive_definite_is_an_error():
    problem = rule_problem(7)
    indefinite = FromCallable(lambda a, b: 1.0 + np.abs(a - b.T))
    with pytest.raises(linalg.LinAlgError, match="kernel matrix is not positive semi-definite"):
        ExactRule.fit(
            Examples(
                problem["states"],
                Gaussian(0.7).on_examples(problem["states"]),
                indefinite.on_examples(problem["observations"]),
            ),
            epsilon=1e-3,
            delta=1e-3,
            rule="kbr",
            resampler=KeepAll(),
        )


# --- examples that the prior does not exclude -------------------------------------------------------------------------


N = 240


def corridor(width):
    rng = np.random.default_rng(0)
    states = np.sort(rng.uniform(0, 60, size=(N, 1)), axis=0)
    observations = np.concatenate([np.sin(states), states % 7], axis=1) + 0.1 * rng.normal(size=(N, 2))
    examples = Examples(states, Gaussian(width).on_examples(states), Gaussian(0.5).on_examples(observations))
    particles = 20.0 + rng.normal(size=(50, 1))
    return examples, particles, np.full(50, 0.02), observations[80:81]


@pytest.mark.parametrize("rule", ["kbr", "importance"])
def test_narrow_examples_need_few_examples_and_give_the_literal_weights(rule):
    examples, particles, weights, y = corridor(0.5)
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
    examples, particles, weights, y = corridor(0.5)
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
    examples, particles, weights, y = corridor(30.0)
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


def test_a_prior_that_excludes_all_examples_gives_no_weights():
    examples, particles, weights, y = corridor(0.5)
    found = ExactRule.fit(examples, epsilon=1e-3, delta=1e-4, rule="kbr", resampler=KeepAll()).correct(
        Sample(particles + 1e6, weights), y
    )
    assert found.weight_sum == 0.0


def test_a_local_factor_is_right_or_none():
    """A thousand equal examples: where rounding makes their matrix indefinite, nothing is returned."""
    rows = np.tile(np.random.default_rng(0).normal(size=(1, 1)), (1500, 1))
    found = local_factor(rows)
    assert found is None or np.allclose(found.factor @ found.factor.T, rows @ rows.T, rtol=1e-6)
