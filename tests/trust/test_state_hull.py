import numpy as np
import pytest

from kmcf.trust.hull import Hull


def test_interval():
    hull = Hull.of(np.array([[3.0], [-1.0], [2.0]]))
    points = np.array([[-1.0], [3.0], [0.0], [-1.001], [3.001]])
    assert hull.outside(points).tolist() == [False, False, False, True, True]


def test_a_triangle_is_not_its_bounding_box():
    hull = Hull.of(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.5, 0.5]]))
    assert hull.outside(np.array([[0.9, 0.9], [1.1, 1.1]])).tolist() == [False, True]


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_mixtures_of_examples_are_inside(columns):
    rng = np.random.default_rng(columns)
    states = rng.normal(size=(40, columns))
    mixtures = rng.dirichlet(np.ones(40), size=200) @ states
    hull = Hull.of(states)
    assert not hull.outside(mixtures).any()
    assert not hull.outside(states).any()
    assert hull.outside(states.max(axis=0)[None] + 0.01).all()


@pytest.mark.parametrize("units", [[1e-6, 1e3], [1e9, 1.0], [1e-9, 1e-3]])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_units_do_not_matter(units, shift):
    rng = np.random.default_rng(0)
    states = rng.normal(size=(60, 2))
    signed = rng.normal(size=(300, 60))
    points = (signed / signed.sum(axis=1, keepdims=True)) @ states
    expected, beyond = Hull.of(states).outside(points), Hull.of(states).beyond(points)
    assert 50 < expected.sum() < 250
    units = np.array(units)
    hull, moved = Hull.of((states + shift) * units), (points + shift) * units
    np.testing.assert_array_equal(hull.outside(moved), expected)
    np.testing.assert_allclose(hull.beyond(moved), beyond, rtol=1e-6, atol=1e-6)


def test_means_of_large_numbers_are_inside_though_they_are_rounded():
    rng = np.random.default_rng(0)
    states = 1.7e9 + rng.uniform(size=(40, 2))
    means = rng.dirichlet(np.full(40, 0.01), size=300) @ states
    assert not Hull.of(states).outside(means).any()


def test_examples_on_a_line_have_a_box():
    states = np.column_stack([np.arange(10.0), np.arange(10.0)])
    assert Hull.of(states).outside(np.array([[5.0, 5.0], [11.0, 5.0]])).tolist() == [False, True]


@pytest.mark.parametrize("plane", [[0.0, 0.0, 0.0], [0.3, -0.7, 2.0]])
def test_examples_on_a_plane_have_a_hull_on_it(plane):
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    flat = np.concatenate([corners, rng.dirichlet(np.ones(3), size=20) @ corners])
    points = np.array([[0.9, 0.9], [1.1, 1.1], [-0.1, 1.0]])

    def on_plane(rows):
        return np.column_stack([rows, plane[0] * rows[:, 0] + plane[1] * rows[:, 1] + plane[2]])

    assert Hull.of(on_plane(flat)).outside(on_plane(points)).tolist() == [False, True, True]


def test_angles_do_not_count():
    states = np.column_stack([np.linspace(0, 1, 20), np.linspace(-0.1, 0.1, 20)])
    assert Hull.of(states, angles=[1]).outside(np.array([[0.5, 3.0], [1.5, 0.0]])).tolist() == [False, True]
    assert Hull.of(states[:, 1:], angles=[0]) is None
    assert Hull.of(["here", "there"]) is None
