"""Heat maps hold the mass that there is, where it is."""

import re

import numpy as np
import pytest

from kmcf.report import Axis, HeatMap
from kmcf.report.heat_map import LEVELS, mass_on_grid


def test_mass_by_counting():
    rng = np.random.default_rng(0)
    values, weights, edges = rng.uniform(-1, 3, size=50), rng.normal(size=50), np.linspace(0.0, 2.0, 6)
    cells = [0.0] * 5
    for value, weight in zip(values, weights, strict=True):
        cells[min(max(int(value // 0.4), 0), 4)] += weight
    positive = [max(cell, 0.0) for cell in cells]
    np.testing.assert_allclose(mass_on_grid(values, weights, edges), np.array(positive) / sum(positive))


def test_dark_cells_are_where_the_amounts_are():
    amounts = np.zeros((3, 4))
    amounts[1, 2:] = 1.0
    page = HeatMap("Belief", amounts, Axis("t"), Axis("x"), np.arange(4.0), np.arange(5.0)).html("h")
    (path,) = re.findall(r'<path d="([^"]+)" class="heat" fill="currentColor" fill-opacity="1.00"', page)
    left, top, wide, tall = map(float, re.fullmatch(r"M([\d.]+),([\d.]+)h([\d.]+)v(-[\d.]+)h-[\d.]+z", path).groups())
    inner, height = 720 - 82, 380 - 56
    assert left == pytest.approx(70 + inner / 3, abs=0.1)
    assert wide == pytest.approx(inner / 3, abs=0.1)
    assert top == pytest.approx(10 + height / 2, abs=0.1)  # the upper half: rows count from below
    assert tall == pytest.approx(-height / 2, abs=0.1)


def test_small_amounts_are_lighter_and_nothing_is_not_drawn():
    page = HeatMap("Belief", [[1.0, 0.25, 0.0, np.nan]], Axis("t"), Axis("x"), [0, 1], np.arange(5.0)).html("h")
    shades = sorted(float(shade) for shade in re.findall(r'fill-opacity="([\d.]+)"', page))
    assert shades == [pytest.approx(round(0.5 * (LEVELS - 1)) / (LEVELS - 1), abs=0.01), 1.0]


def test_lines_and_bad_shapes():
    page = HeatMap("B", [[1.0]], Axis("t"), Axis("x"), [0, 1], [0, 1], {"truth": ([0, 1, 1], [0, np.nan, 1])}).html("h")
    assert "truth" in page
    assert page.count("M70.0,334.0" if "M70.0,334.0" in page else "M70,334") >= 1
    with pytest.raises(ValueError, match=r"amounts of shape \(1, 1\) for \(2, 1\) cells"):
        HeatMap("B", [[1.0]], Axis("t"), Axis("x"), [0, 1, 2], [0, 1])
