"""Herding beyond the candidates."""

import numpy as np
import pytest

from kmcf.embedding import Embedding
from kmcf.herding import herd_continuously, herd_embedding
from kmcf.kernels import Gaussian

RNG = np.random.default_rng(0)


def sparse_embedding(dimensions=1):
    """Few states, so that the candidates are a poor choice."""
    states = RNG.normal(size=(12, dimensions))
    return Embedding(states, RNG.dirichlet(np.ones(12)), Gaussian(1.0))


def test_one_point_is_the_maximum_of_the_kernel_mean():
    embedding = sparse_embedding()
    grid = np.linspace(-4, 4, 80_001)[:, None]
    expected = grid[np.argmax(embedding.evaluate(grid))]
    np.testing.assert_allclose(herd_continuously(embedding, 1).points[0], expected, atol=1e-3)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_it_goes_on_where_poor_candidates_end(dimensions):
    """The candidates' convex hull does not hold the embedding: herding among them has a floor, beyond them none."""
    embedding = sparse_embedding(dimensions)
    candidates = 2.0 * np.sign(RNG.normal(size=(4, dimensions)))
    free, bound = (method(embedding, 20, candidates) for method in (herd_continuously, herd_embedding))
    assert free.loss < 0.25 * bound.loss
    uniform = Embedding(free.points, np.full(20, 1 / 20), Gaussian(1.0))
    assert free.loss == pytest.approx(uniform.distance(embedding))


def test_signed_targets_and_other_candidates():
    weights = np.array([1.4, -0.4])
    embedding = Embedding(np.array([[0.0], [1.0]]), weights, Gaussian(0.8))
    found = herd_continuously(embedding, 2, candidates=np.linspace(-3, 3, 7)[:, None])
    assert found.points[0, 0] < 0.0  # pushed away from the negative weight


def test_bad_input():
    embedding = sparse_embedding()
    with pytest.raises(ValueError, match="size = 0"):
        herd_continuously(embedding, 0)
    with pytest.raises(TypeError, match="vectors of numbers"):
        herd_continuously(Embedding(["a", "b"], np.array([0.5, 0.5]), Gaussian(1.0)), 1)
