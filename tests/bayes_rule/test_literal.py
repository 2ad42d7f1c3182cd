import numpy as np
import pytest
from bayes_rules import algorithm_1, importance_rule
from finite import DiscreteProblem
from rule_cases import prior_of, rule_problem

from kmcf.bayes_rule import Examples, Sample
from kmcf.bayes_rule.literal import LiteralRule, importance_weighted_rule, kernel_bayes_rule
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import FromCallable, Gaussian

FORMULAS = {"kbr": (kernel_bayes_rule, algorithm_1), "importance": (importance_weighted_rule, importance_rule)}

both_rules = pytest.mark.parametrize("rule", ["kbr", "importance"])
regularisers = pytest.mark.parametrize(("epsilon", "delta"), [(1e-1, 1e-1), (1e-2, 1e-3), (1e-3, 1e-5)])


def assert_close(weights, expected, tolerance=1e-8):
    np.testing.assert_allclose(weights, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@both_rules
@regularisers
@pytest.mark.parametrize("columns", [1, 10])
@pytest.mark.parametrize("examples", ["distinct", "duplicated", "constant"])
def test_formula_is_the_printed_one(rule, epsilon, delta, columns, examples):
    problem = rule_problem(0, observation_columns=columns, examples=examples)
    formula, truth = FORMULAS[rule]
    weights = formula(prior_of(problem, epsilon), problem["G_Y"], problem["k_y"], delta)
    expected = truth(problem["k_y"], problem["m_pi"], problem["G_X"], problem["G_Y"], epsilon, delta)
    assert_close(weights, expected)


@both_rules
@pytest.mark.parametrize("columns", [1, 10])
def test_rule_is_the_printed_algorithm_from_particles_to_weights(rule, columns):
    problem = rule_problem(1, observation_columns=columns)
    fitted = LiteralRule.fit(
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
    expected = FORMULAS[rule][1](problem["k_y"], problem["m_pi"], problem["G_X"], problem["G_Y"], 1e-2, 1e-3)
    assert_close(weights, expected)


def test_kernel_bayes_rule_uses_the_matrix_square_and_not_the_elementwise_one():
    problem = rule_problem(2)
    prior = prior_of(problem, 1e-2)
    LG = np.diag(prior) @ problem["G_Y"]
    elementwise = LG @ np.linalg.inv(LG * LG + 1e-3 * np.eye(25)) @ (prior * problem["k_y"])
    weights = kernel_bayes_rule(prior, problem["G_Y"], problem["k_y"], 1e-3)
    assert np.abs(weights - elementwise).max() > 0.1 * np.abs(weights).max()


@both_rules
@pytest.mark.parametrize("y", [0, 1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-1, 1e-2), (1e-3, 1e-4)])
def test_discrete_problem_in_closed_form_at_finite_regularisers(rule, y, epsilon, delta):
    problem = DiscreteProblem()
    prior = np.linalg.inv(problem.same(problem.states, problem.states) + problem.size * epsilon * np.eye(problem.size))
    prior = prior @ problem.PRIOR[problem.states[:, 0].astype(int)]
    G_Y = problem.same(problem.observations, problem.observations)
    k_y = (problem.observations[:, 0] == y).astype(float)
    weights = FORMULAS[rule][0](prior, G_Y, k_y, delta)
    np.testing.assert_allclose(problem.mass(weights), problem.regularised(y, epsilon, delta, rule), rtol=1e-9)


@both_rules
@pytest.mark.parametrize("y", [0, 1, 2])
def test_posterior_approaches_bayes_rule_as_the_regularisers_vanish(rule, y):
    problem = DiscreteProblem()
    same = FromCallable(problem.same)
    errors = []
    for size in (1e-1, 1e-3, 1e-5, 1e-7):
        fitted = LiteralRule.fit(
            Examples(problem.states, same.on_examples(problem.states), same.on_examples(problem.observations)),
            epsilon=size,
            delta=size,
            rule=rule,
            resampler=KeepAll(),
        )
        weights = fitted.correct(
            Sample(np.array([[0.0], [1.0], [2.0]]), problem.PRIOR), np.array([[float(y)]])
        ).unnormalised
        errors.append(np.abs(problem.mass(weights) - problem.posterior(y)).max())
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_algorithm_1_can_be_negative(seed):
    """Also where the prior is a sample with positive weights, as the particles of the filter are."""
    problem = rule_problem(seed)
    assert problem["particle_weights"].min() > 0
    weights = kernel_bayes_rule(prior_of(problem, 1e-2), problem["G_Y"], problem["k_y"], 1e-3)
    assert weights.min() < -0.05 * weights.max()
    assert weights.sum() > 0


def test_importance_rule_gives_no_weight_where_the_prior_coefficient_is_negative():
    problem = rule_problem(3)
    prior = prior_of(problem, 1e-3)
    assert prior.min() < 0
    weights = importance_weighted_rule(prior, problem["G_Y"], problem["k_y"], 1e-2)
    np.testing.assert_array_equal(weights[prior <= 0], np.zeros(int((prior <= 0).sum())))
    clipped = importance_weighted_rule(np.where(prior > 0, prior, 0.0), problem["G_Y"], problem["k_y"], 1e-2)
    np.testing.assert_array_equal(weights, clipped)


def test_the_matrix_of_the_states_is_factorised_before_any_observation(monkeypatch):
    """Section 4.3: its inverse does not depend on test data."""
    problem = rule_problem(6)
    kernels = Gaussian(0.7).on_examples(problem["states"]), Gaussian(1.0).on_examples(problem["observations"])
    settings = {"epsilon": 1e-2, "delta": 1e-3, "rule": "kbr", "resampler": KeepAll()}
    fitted = LiteralRule.fit(Examples(problem["states"], *kernels), **settings)
    monkeypatch.delattr("kmcf.bayes_rule.gram.cholesky")
    fitted.correct(Sample(problem["particles"], problem["particle_weights"]), problem["y"])
    with pytest.raises(NameError, match="cholesky"):
        LiteralRule.fit(Examples(problem["states"], *kernels), **settings)


@pytest.mark.parametrize("formula", [kernel_bayes_rule, importance_weighted_rule])
def test_permuting_the_examples_permutes_the_weights(formula):
    problem = rule_problem(4)
    prior = prior_of(problem, 1e-2)
    order = np.random.default_rng(0).permutation(25)
    weights = formula(prior, problem["G_Y"], problem["k_y"], 1e-3)
    permuted = formula(prior[order], problem["G_Y"][np.ix_(order, order)], problem["k_y"][order], 1e-3)
    assert_close(permuted, weights[order])


@pytest.mark.parametrize("formula", [kernel_bayes_rule, importance_weighted_rule])
def test_inputs_are_not_modified(formula):
    problem = rule_problem(5)
    prior = prior_of(problem, 1e-2)
    before = prior.copy(), problem["G_Y"].copy(), problem["k_y"].copy()
    formula(prior, problem["G_Y"], problem["k_y"], 1e-3)
    for now, then in zip((prior, problem["G_Y"], problem["k_y"]), before, strict=True):
        np.testing.assert_array_equal(now, then)
