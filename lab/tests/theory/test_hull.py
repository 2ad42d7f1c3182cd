"""The distance from a convex hull and the two algorithms, against small cases and a general solver."""

import numpy as np
import pytest
from herding_by_hand import algorithm_4
from scipy.optimize import minimize

from kmcf.herding.herding import herd
from kmcf_lab.cells import Cell
from kmcf_lab.tables import rows_of
from kmcf_lab.theory.hull import TARGETS, compute_hull, frank_wolfe, nearest_in_hull, target_weights


def problem(seed, size=8):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, size)
    gram = np.exp(-((points[:, None] - points) ** 2) / (2 * 0.3**2))
    return points, gram, rng.normal(size=size)


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_point_is_what_a_general_solver_finds(seed):
    _, gram, target = problem(seed)
    found = nearest_in_hull(gram @ target, gram, target @ gram @ target)
    start = np.full(8, 1 / 8)
    general = minimize(
        lambda a: (a - target) @ gram @ (a - target),
        start,
        jac=lambda a: 2 * gram @ (a - target),
        bounds=[(0, 1)] * 8,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(8)},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert found.squared_distance == pytest.approx(general.fun, rel=1e-5)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.gap < 1e-6


def test_a_target_in_the_hull_has_distance_zero_and_a_point_is_its_own_nearest():
    _, gram, _ = problem(0)
    inside = np.random.default_rng(1).dirichlet(np.ones(8))
    assert nearest_in_hull(gram @ inside, gram, inside @ gram @ inside).squared_distance < 1e-8
    vertex = np.eye(8)[3]
    np.testing.assert_allclose(nearest_in_hull(gram @ vertex, gram, 1.0).weights, vertex, atol=1e-3)


def test_the_certificate_bounds_any_other_point():
    """No point of the hull is nearer than the squared distance minus the gap."""
    _, gram, target = problem(2)
    found = nearest_in_hull(gram @ target, gram, target @ gram @ target)
    for weights in np.random.default_rng(0).dirichlet(np.full(8, 0.3), size=500):
        assert (weights - target) @ gram @ (weights - target) >= found.squared_distance - found.gap - 1e-12


def test_algorithm_4_is_not_the_frank_wolfe_method():
    """A hand calculation: after pick 0, Algorithm 4 compares 1 − ½ with 0.7 − ¼, the other 1 − 1 with 0.7 − ½."""
    gram, mean = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, 0.7])
    assert list(herd(mean, gram, 2, 1.0).indices) == [0, 0]
    assert list(frank_wolfe(mean, gram, 2)) == [0, 1]


def test_frank_wolfe_is_its_definition():
    """g_0 = 0, s = argmax ⟨·, m̂ − g⟩, g ← (1 − 1/ℓ) g + s/ℓ, line by line on the kernel matrix."""
    _, gram, target = problem(3)
    mean, g, picks = gram @ target, np.zeros(8), []
    for step in range(1, 31):
        picks.append(int(np.argmax(mean - gram @ g)))
        g = (1 - 1 / step) * g + np.eye(8)[picks[-1]] / step
    assert list(frank_wolfe(mean, gram, 30)) == picks


def test_herding_is_algorithm_4_for_targets_outside_the_hull():
    points, gram, target = problem(4)
    mean = gram @ target
    literal = algorithm_4(lambda i: mean[i], lambda i, j: gram[i, j], range(8), 25)
    assert list(herd(mean, gram, 25, target @ gram @ target).indices) == literal
    assert len(points) == 8


@pytest.mark.parametrize("kind", TARGETS)
def test_losses_lie_between_the_infimum_and_the_bound(kind):
    rows = compute_hull(Cell("hull", {"target": kind, "candidates": 40, "repetition": 0, "seed": 5}))
    for row in rows:
        for name in ("loss", "loss_frank_wolfe"):
            assert row["infimum"] - row["gap"] - 1e-12 <= row[name] <= row["bound"]
    assert (rows[0]["infimum"] > 1e-3) == (kind != "inside")
    assert rows[-1]["loss"] - rows[-1]["infimum"] < 0.02 * (rows[0]["loss"] - rows[0]["infimum"]) + 1e-4


def test_targets_are_what_they_are_called():
    points, gram, _ = problem(5, 30)
    rng = np.random.default_rng(0)
    weights = {kind: target_weights(kind, points, gram, rng) for kind in TARGETS}
    sums = {kind: one.sum() for kind, one in weights.items()}
    assert sums == pytest.approx({"inside": 1, "signed": 1, "cancelling": 1, "scaled": 2, "negative": -1})
    assert weights["inside"].min() >= 0
    assert weights["signed"].min() < 0
    assert weights["cancelling"].min() < 0


def test_every_target_is_measured(results):
    assert {row["target"] for row in rows_of(results, "hull")} == set(TARGETS)
