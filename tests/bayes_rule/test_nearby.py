"""The examples near some particles, against comparing all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from kmcf.bayes_rule.nearby import Nearby, spacing
from kmcf.kernels import Columns, Gaussian, Laplace, Linear, Matern, Pose

NEGLIGIBLE = 1e-4
KERNELS = {
    "gaussian": Gaussian(0.5),
    "one width per column": Gaussian([0.5, 1.0, 2.0]),
    "laplace": Laplace(0.3),
    "matern 1/2": Matern(0.3, nu=0.5),
    "matern 5/2": Matern(0.3, nu=2.5),
    "a multiple": 3.0 * Gaussian(0.4),
    "pose": Pose(position_bandwidth=0.5, heading_bandwidth=0.5),
    "times a kernel that reaches everywhere": Linear() * Columns(Gaussian(0.5), [0, 1]),
}


@pytest.mark.parametrize("name", KERNELS)
@given(seed=st.integers(0, 1000), spread=st.sampled_from([0.01, 0.5, 5.0]))
def test_every_example_that_resembles_a_particle_is_found(name, seed, spread):
    rng = np.random.default_rng(seed)
    kernel = KERNELS[name]
    states, particles = rng.uniform(0, 10, size=(200, 3)), 5.0 + spread * rng.normal(size=(20, 3))
    nearby = Nearby.of(kernel.fit(states).on_examples(states), NEGLIGIBLE)
    found = nearby.around(particles)
    scale = np.sqrt(np.outer(kernel.diagonal(states), kernel.diagonal(particles)))
    alike = np.flatnonzero((np.abs(kernel(states, particles)) > NEGLIGIBLE * scale).any(axis=1))
    assert np.isin(alike, found).all()
    assert np.array_equal(found, np.unique(found))


@given(seed=st.integers(0, 1000), boxes=st.integers(10, 60))
def test_a_grid_finds_what_many_scattered_particles_resemble(seed, boxes):
    rng = np.random.default_rng(seed)
    states = rng.uniform(0, 40, size=(2000, 2))
    particles = rng.uniform(-10, 50, size=(boxes, 2))  # some of them far from all examples
    nearby = Nearby.of(Gaussian(0.5).on_examples(states), NEGLIGIBLE)
    found = nearby.around(particles)
    away = cdist(nearby.tree.data, nearby.places(particles)).min(axis=1)
    alike = np.flatnonzero(away <= nearby.radius)
    assert np.isin(alike, found).all()
    assert np.array_equal(found, np.unique(found))
    assert away[found].max(initial=0.0) <= 2.0 * np.sqrt(2.0) * nearby.radius  # the corner of the next cell


def test_a_world_of_many_cells_has_no_grid():
    states = np.random.default_rng(0).uniform(0, 1e4, size=(500, 2))
    nearby = Nearby.of(Gaussian(1.0).on_examples(states), NEGLIGIBLE)
    found = nearby.around(states[:100])
    assert len(found) < 200
    assert np.isin(np.arange(100), found).all()


def test_examples_far_away_are_not_found():
    states = np.linspace(0, 1000, 5001)[:, None]
    nearby = Nearby.of(Gaussian(1.0).on_examples(states), NEGLIGIBLE)
    assert len(nearby.around(np.array([[500.0], [501.0]]))) < 80
    assert len(nearby.around(np.array([[100.0], [900.0]]))) < 300
    assert 30 < nearby.typical() < 50


def test_particles_everywhere_find_everything():
    states = np.random.default_rng(0).uniform(0, 1e4, size=(3000, 2))
    nearby = Nearby.of(Gaussian(1.0).on_examples(states), NEGLIGIBLE)
    np.testing.assert_array_equal(nearby.around(states[:1000]), np.arange(3000))


def test_a_kernel_without_a_distance_has_no_neighbourhood():
    states = np.ones((5, 2))
    assert Nearby.of(Linear().on_examples(states), NEGLIGIBLE) is None
    assert Nearby.of((Linear() + Gaussian(1.0)).on_examples(states), NEGLIGIBLE) is None


def test_spacing_is_the_median_distance_to_the_nearest_neighbour():
    places = np.random.default_rng(0).normal(size=(50, 2))
    distances = cdist(places, places) + np.diag(np.full(50, np.inf))
    assert spacing(places) == pytest.approx(np.median(distances.min(axis=1)))
    assert spacing(places[:1]) == 0.0
