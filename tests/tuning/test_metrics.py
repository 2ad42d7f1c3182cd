"""Metrics against their formulas written out."""

import numpy as np
import pytest
from embeddings import signed_weights
from kernels_by_hand import gaussian_matrix
from scipy.stats import norm

from kmcf.filter.results.belief import Belief
from kmcf.filter.results.step_report import StepReport
from kmcf.tuning.metrics import embedding_criterion, make_metric

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(40, 1))
WEIGHTS = signed_weights(40, RNG)
BELIEF = Belief(STATES, WEIGHTS, report=StepReport(weight_sum=0.8))
DISTANCES = np.abs(STATES - STATES.T)[np.triu_indices(40, 1)]
WIDTH = 0.5 * np.median(DISTANCES)  # the default kernel on states


def test_squared_error_goes_around_the_circle():
    belief = Belief(np.array([[1.0, 3.1], [1.0, 3.1]]), np.array([0.5, 0.5]), angles=(1,))
    metric = make_metric("rmse", belief.states, (1,), None)
    expected = 0.5**2 + (2 * np.pi - 6.2) ** 2
    assert metric.loss(belief, np.array([1.5, -3.1])) == pytest.approx(expected)
    assert metric.value(4.0) == 2.0


def test_error_of_the_mode():
    belief = Belief(np.array([[0.0], [3.0]]), np.array([0.4, 0.6]))
    assert make_metric("mode", belief.states, (), None).loss(belief, np.array([1.0])) == pytest.approx(4.0)


def test_mode_of_objects_counts_mistakes():
    belief = Belief(["kitchen", "hall"], np.array([0.3, 0.7]))
    metric = make_metric("mode", ["kitchen", "hall"], (), None)
    assert [metric.value(metric.loss(belief, room)) for room in ("hall", "kitchen")] == [0.0, 1.0]


def test_crps_is_the_distance_of_distribution_functions():
    metric = make_metric("crps", STATES, (), None)
    equal = Belief(STATES, np.full(40, 1 / 40))
    truth = 0.3
    # E|X − x| − ½ E|X − X'|, which holds for equal weights
    expected = np.mean(np.abs(STATES - truth)) - 0.5 * np.mean(np.abs(STATES - STATES.T))
    assert metric.loss(equal, np.array([truth])) == pytest.approx(expected)
    assert metric.value(0.7) == 0.7


def test_kernel_score_is_the_squared_distance_in_the_rkhs():
    metric = make_metric("kernel_score", STATES, (), None)
    gram = gaussian_matrix(STATES, STATES, WIDTH)
    for i in (0, 7, 31):
        expected = WEIGHTS @ gram @ WEIGHTS - 2.0 * WEIGHTS @ gram[:, i] + 1.0
        assert metric.loss(BELIEF, STATES[i]) == pytest.approx(expected, abs=1e-6)


def test_kernel_score_of_objects_uses_the_filter_kernel():
    rooms = ["a", "b", "a", "c"]
    same = lambda A, B: np.array([[float(x == y) for y in B] for x in A])  # noqa: E731
    metric = make_metric("kernel_score", rooms, (), same)
    belief = Belief(rooms, np.array([0.5, 0.25, 0.25, 0.0]))
    assert metric.loss(belief, "a") == pytest.approx(0.25**2 + 0.25**2)
    with pytest.raises(TypeError, match="pass a state_kernel"):
        make_metric("kernel_score", rooms, (), None)


def test_negative_log_density_has_a_background():
    positive = Belief(STATES, np.full(40, 1 / 40))
    metric = make_metric("negative_log_density", STATES, (), None)
    background = norm(STATES.mean(), STATES.std()).pdf(0.3)
    density = positive.density(np.array([[0.3]]))[0]
    expected = -np.log(0.999 * density + 0.001 * background)
    assert metric.loss(positive, np.array([0.3])) == pytest.approx(expected)
    assert np.isfinite(metric.loss(positive, np.array([1e6])))


def test_embedding_differences_use_the_weights_as_the_rule_gave_them():
    metric = embedding_criterion(STATES, (), None)
    gram = gaussian_matrix(STATES, STATES, WIDTH)
    total = np.zeros(40)
    for i in (2, 9):
        total += 0.8 * WEIGHTS - np.eye(40)[i]
    found = metric.loss(BELIEF, STATES[2]) + metric.loss(BELIEF, STATES[9])
    assert found @ found == pytest.approx(total @ gram @ total, abs=1e-5)


def test_bad_metrics():
    with pytest.raises(ValueError, match=r"metric = 'rmsd'.*did you mean 'rmse'"):
        make_metric("rmsd", STATES, (), None)
    with pytest.raises(TypeError, match=r"'rmse' needs numeric states.*list of 2 objects"):
        make_metric("rmse", ["a", "b"], (), None)
