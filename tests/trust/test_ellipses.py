"""Ellipses hold the points that their equation says."""

import numpy as np
import pytest

from kmcf.trust.ellipses import Ellipse


def test_the_equation_decides():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    matrix, centre = root @ root.T, rng.normal(size=3)
    points = centre + 2.0 * rng.normal(size=(200, 3))
    away = points - centre
    expected = np.einsum("ni,ij,nj->n", away, np.linalg.inv(matrix), away) <= 1.0
    assert 0 < expected.sum() < 200
    np.testing.assert_array_equal(Ellipse(centre, matrix).contains(points), expected)


def test_the_outline_is_the_border():
    ellipse = Ellipse(np.array([1.0, -2.0]), np.array([[4.0, 1.0], [1.0, 2.0]]))
    away = ellipse.outline() - ellipse.centre
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", away, np.linalg.inv(ellipse.matrix), away), 1.0)


def test_a_flat_ellipse_holds_its_line_only():
    flat = Ellipse(np.zeros(2), np.diag([1.0, 0.0]))
    np.testing.assert_array_equal(flat.contains([[0.5, 0.0], [0.5, 0.1], [1.5, 0.0]]), [True, False, False])
    assert Ellipse(np.zeros(2), np.zeros((2, 2))).contains([0.0, 0.0]).all()


def test_angles_go_around():
    near_pi = Ellipse(np.array([0.0, 3.0]), np.diag([1.0, 0.25]), (1,))
    np.testing.assert_array_equal(near_pi.contains([[0.0, -3.0], [0.0, 0.0]]), [True, False])


def test_wrong_shapes_get_a_sentence():
    with pytest.raises(ValueError, match="has 2 columns"):
        Ellipse(np.zeros(2), np.eye(2)).contains([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="two columns"):
        Ellipse(np.zeros(3), np.eye(3)).outline()
