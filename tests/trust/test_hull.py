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


def test_examples_on_a_line_have_a_box():
    states = np.column_stack([np.arange(10.0), np.arange(10.0)])
    assert Hull.of(states).outside(np.array([[5.0, 5.0], [11.0, 5.0]])).tolist() == [False, True]


def test_angles_do_not_count():
    states = np.column_stack([np.linspace(0, 1, 20), np.linspace(-0.1, 0.1, 20)])
    assert Hull.of(states, angles=[1]).outside(np.array([[0.5, 3.0], [1.5, 0.0]])).tolist() == [False, True]
    assert Hull.of(states[:, 1:], angles=[0]) is None
    assert Hull.of(["here", "there"]) is None
