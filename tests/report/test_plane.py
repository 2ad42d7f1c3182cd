"""The plane of a map."""

import numpy as np
import pytest

from kmcf.report.plane import Plane


@pytest.mark.parametrize("spread", [(1, 1), (100, 1), (1, 100), (0, 0), (0, 5)])
def test_everything_lies_inside(spread):
    points = np.random.default_rng(0).normal(size=(50, 2)) * spread
    plane = Plane.around([points])
    assert plane.outside(points) == 0
    assert plane.left < points[:, 0].min() <= points[:, 0].max() < plane.right
    assert plane.bottom < points[:, 1].min() <= points[:, 1].max() < plane.top


def test_a_stray_does_not_widen_it():
    points = np.random.default_rng(0).normal(size=(50, 2))
    plane = Plane.around([points, np.array([[1e6, -1e6], [np.nan, 0.0]])])
    assert plane.right - plane.left < 20
    assert plane.outside(np.array([[1e6, -1e6], [0.0, 0.0], [np.nan, 0.0]])) == 1


def test_both_directions_have_the_same_scale():
    plot = Plane(0.0, 4.0, 0.0, 2.0).canvas(("x", "y"), "m", np.zeros((0, 4))).plot
    assert plot.match_aspect
    assert plot.x_range.renderers == plot.y_range.renderers == [plot.renderers[0]]
    assert {name: list(values) for name, values in plot.renderers[0].data_source.data.items()} == {
        "left": [0.0],
        "right": [4.0],
        "bottom": [0.0],
        "top": [2.0],
    }
