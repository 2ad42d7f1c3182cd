"""The rule backwards: on a table it is Bayes' rule, and weights never cancel more than they did."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.bayes_rule.backward import BackwardStep, DistinctStates, Later, StateFeatures, positive_rows, reweighted
from kmcf.bayes_rule.backward_core import stands_for
from kmcf.kernels import Gaussian

TABLE = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
BEFORE = np.array([0.5, 0.3, 0.2])


def on_table(delta=1e-12):
    """The backward step between three states whose moves are known exactly."""
    return BackwardStep.of(BEFORE, TABLE, np.eye(3), BEFORE @ TABLE, delta)


def test_on_a_table_it_is_bayes_rule():
    joint = BEFORE[:, None] * TABLE
    np.testing.assert_allclose(on_table().given_states(np.eye(3)), (joint / joint.sum(axis=0)).T, rtol=1e-9)
    later = np.array([0.1, 0.1, 0.8])
    np.testing.assert_allclose(on_table().given_mean(later), joint @ (later / joint.sum(axis=0)), rtol=1e-9)


def test_a_prediction_that_came_true_changes_nothing():
    np.testing.assert_allclose(on_table().given_mean(BEFORE @ TABLE), BEFORE, rtol=1e-9)


def test_the_formula_as_it_is_printed():
    rng = np.random.default_rng(0)
    states, predicted, after = rng.normal(size=(20, 1)), rng.normal(size=(30, 1)), rng.normal(size=(7, 1))
    features = StateFeatures.fit((4.0 * Gaussian(1.0)).on_examples(states))
    moved = rng.normal(size=(40, 1))
    phi, shares = features.of(predicted), np.full(30, 1 / 30)
    weights = np.full(20, 1 / 20)
    step = BackwardStep.of(weights, features.of(moved, copies=2), phi, shares, features.delta)
    C = phi.T @ phi / 30
    m = features.of(after).mean(axis=0)
    z = np.linalg.inv(C @ C + features.delta * np.eye(len(C))) @ C @ m
    ratios = np.maximum(features.of(moved).reshape(20, 2, -1).mean(axis=1) @ z, 0.0)
    np.testing.assert_allclose(step.given_mean(m), weights * ratios / (weights @ ratios), rtol=1e-6)


def test_features_give_the_kernel_relative_to_its_largest_value():
    states = np.linspace(-2, 2, 50)[:, None]
    features = StateFeatures.fit((4.0 * Gaussian(1.0)).on_examples(states))
    rows = features.of(states)
    np.testing.assert_allclose(rows @ rows.T, np.exp(-0.5 * (states - states.T) ** 2), atol=5e-3)


def test_distinct_states_say_which_one_it_is():
    states = np.repeat([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]], 4, axis=0)
    distinct = DistinctStates.among(states)
    np.testing.assert_array_equal(distinct.of(states[[0, 4, 8]]), np.eye(3))
    np.testing.assert_array_equal(distinct.of(np.array([[-0.0, 0.0], [9.0, 9.0]])), [[0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(distinct.of(states[[0, 4]], copies=2), [[0.5, 0.5, 0.0]])
    assert distinct.holds(states)
    assert not distinct.holds(states + 1.0)
    assert DistinctStates.among(np.arange(10.0)[:, None]) is None
    assert DistinctStates.among([{}, {}, {}, {}]) is None  # which cannot be looked up


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.integers(0, 1000))
def test_smoothed_weights_do_not_cancel_much_more(numbers, seed):
    weights = np.array(numbers)
    if abs(weights.sum()) < 0.1:
        return
    weights = weights / weights.sum()
    found = reweighted(weights, np.random.default_rng(seed).exponential(size=len(weights)))
    assert found.sum() == pytest.approx(1.0)
    assert np.abs(found).sum() <= 2.0 * np.abs(weights).sum() * (1 + 1e-9)


def test_rows_without_anything_keep_the_weights():
    np.testing.assert_allclose(positive_rows(np.zeros((1, 3)), np.array([0.5, 0.75, -0.25])), [[0.4, 0.6, 0.0]])


def test_ratios_that_cancel_in_any_part_are_not_taken():
    """Of 2 × 1 − 1 × 1.9 a tenth is left; an eighth of the ratios, the least part tried, still gives 4.25 and −3.25."""
    weights = np.array([2.0, -1.0])
    np.testing.assert_array_equal(reweighted(weights, np.array([1.0, 1.9])), weights)
    np.testing.assert_allclose(reweighted(weights, np.array([1.0, 1.5])), [3.0, -2.0])


def test_features_see_what_is_near_their_pivots_whatever_the_kernel_is_multiplied_by():
    states = np.linspace(-2, 2, 50)[:, None]
    features = StateFeatures.fit((4.0 * Gaussian(1.0)).on_examples(states))
    near, edge, far = features.seen(features.of(points := np.array([[0.5], [3.0], [6.0]])), points)
    assert near > 0.99 > edge > 0.5 > 0.01 > far


def test_a_step_that_cannot_be_trusted_gives_nothing():
    later = Later(np.array([0.1, 0.1, 0.8]), 1.0)
    np.testing.assert_array_equal(on_table().given(later), on_table().given_mean(later.mean))
    assert on_table().given(later._replace(seen=0.5)) is None
    shares = BEFORE @ TABLE
    unseen = BackwardStep.of(BEFORE, TABLE, np.eye(3), shares, 1e-12, seen=np.array([0.2, 0.5, 0.4]))
    assert unseen.seen == pytest.approx(shares @ [0.2, 0.5, 0.4])
    assert unseen.given(later) is None
    assert BackwardStep.of(BEFORE, TABLE, np.eye(3), shares, 1e-12, apt=False).given(later) is None


def test_states_at_the_edge_do_not_stand_for_weights_that_reach_beyond():
    states = np.array([[1.0], [1.5], [2.0]])
    rows = StateFeatures.fit(Gaussian(1.0).on_examples(states)).of(states)
    beyond = np.array([0.0, -0.8, 1.8])  # with a mean of 2.4
    assert not stands_for(rows, np.array([0.0, 0.0, 1.0]), beyond @ rows)
    assert stands_for(rows, np.array([0.0, 0.1, 0.9]), np.array([-0.02, 0.12, 0.9]) @ rows)
