import numpy as np
import pytest

from kmcf.bayes_rule.declared import DeclaredFunctions


def expectations(declared, states, weights):
    return declared.values(states).T @ weights


def test_mean_covariance_and_functions_are_read_off_expectations():
    rng = np.random.default_rng(0)
    states, weights = rng.normal(size=(30, 3)), rng.dirichlet(np.ones(30))

    def outer(x):
        return x[:, :, None] * x[:, None, :]

    declared = DeclaredFunctions(states, (), [outer])
    e = expectations(declared, states, weights)
    np.testing.assert_allclose(declared.mean(e), weights @ states)
    np.testing.assert_allclose(declared.covariance(e), np.cov(states.T, aweights=weights, bias=True), atol=1e-12)
    np.testing.assert_allclose(declared.value(outer, e), np.einsum("i,ijk->jk", weights, outer(states)))
    assert declared.value(np.sum, e) is None


def test_angles_get_a_circular_mean_and_leave_the_covariance_to_the_weights():
    states = np.array([[np.pi - 0.1, 1.0], [-np.pi + 0.1, 3.0]])
    declared = DeclaredFunctions(states, (0,), ())
    e = expectations(declared, states, np.array([0.5, 0.5]))
    mean = declared.mean(e)
    assert abs(mean[0]) == pytest.approx(np.pi)
    assert mean[1] == pytest.approx(2.0)
    assert declared.covariance(e) is None


def test_object_states_have_no_moments_but_declared_functions_work():
    words = ["a", "bb", "ccc"]

    def length(objects):
        return np.array([len(word) for word in objects])

    declared = DeclaredFunctions(words, (), [length])
    e = expectations(declared, words, np.array([0.2, 0.3, 0.5]))
    assert declared.mean(e) is None
    assert declared.value(length, e) == pytest.approx(2.3)


def test_a_function_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="one entry per state"):
        DeclaredFunctions(np.zeros((4, 1)), (), [lambda x: x[:2]])
