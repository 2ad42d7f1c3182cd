"""The plane of a map."""

import numpy as np
import pytest

from kmcf.report.plane import Plane


@pytest.mark.parametrize("spread", [(1, 1), (100, 1), (1, 100), (0, 0), (0, 5)])
def test_both_directions_have_the_same_scale(spread):
    plane = Plane.around([np.random.default_rng(0).uniform(size=(50, 2)) * spread])
    vertical = (plane.y.start - plane.y.end) / (plane.y.high - plane.y.low)
    assert plane.per_unit == pytest.approx(vertical)
    assert plane.per_unit > 0


def test_everything_lies_inside():
    points = np.random.default_rng(0).normal(size=(200, 2))
    plane = Plane.around([points])
    assert plane.outside(points) == 0
    pixels = plane(points)
    assert (pixels >= 0).all()
    assert (pixels <= [720, plane.height]).all()
