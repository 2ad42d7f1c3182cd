"""Regularisers from folds to all examples."""

import numpy as np
import pytest
from bayes_rules import algorithm_1, importance_rule
from rule_cases import rule_problem
from scipy.optimize import minimize_scalar

from kmcf.tuning.transfer import size_exponents, transferred


@pytest.mark.parametrize("rule", [algorithm_1, importance_rule])
def test_doubling_every_example_changes_no_posterior(rule):
    """ε and δ have no scale that grows with n: the rule sees the examples' distribution only."""
    problem = rule_problem(3)
    twice = lambda matrix: np.tile(matrix, (2, 2))  # noqa: E731
    once = rule(problem["k_y"], problem["m_pi"], problem["G_X"], problem["G_Y"], 1e-3, 1e-4)
    doubled = rule(
        np.tile(problem["k_y"], 2),
        np.tile(problem["m_pi"], 2),
        twice(problem["G_X"]),
        twice(problem["G_Y"]),
        1e-3,
        1e-4,
    )
    np.testing.assert_allclose(doubled[:25] + doubled[25:], once, rtol=1e-6, atol=1e-9)


def test_the_exponents_balance_bias_and_noise():
    def best(error):
        return np.exp(minimize_scalar(lambda log: error(np.exp(log)), bounds=(-30, 5), method="bounded").x)

    sizes = np.array([1e4, 1e8])
    epsilons = [best(lambda e, n=n: e + n**-0.5 * e**-0.5) for n in sizes]
    etas = [e + n**-0.5 * e**-0.5 for e, n in zip(epsilons, sizes, strict=True)]
    deltas = [best(lambda d, eta=eta: d + eta * d**-1.25) for eta in etas]
    slope = [np.log(v[1] / v[0]) / np.log(sizes[1] / sizes[0]) for v in (epsilons, deltas)]
    assert slope == pytest.approx([size_exponents()["epsilon"], size_exponents()["delta"]], rel=1e-3)


def test_transfer():
    found = transferred({"epsilon": 1.0, "delta": 1.0, "k": 3}, 100, 200)
    assert found == {"epsilon": pytest.approx(2 ** (-1 / 3)), "delta": pytest.approx(2 ** (-4 / 27)), "k": 3}
    assert transferred({"delta": 1.0}, 100, 200, "importance")["delta"] == pytest.approx(2 ** (-2 / 27))
    assert transferred({"epsilon": 0.5}, 100, 100) == {"epsilon": 0.5}
