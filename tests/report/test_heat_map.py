"""Heat maps hold the mass that there is, where it is."""

import numpy as np
import pytest
from drawn import columns, glyphs, plot

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


def cells(heat):
    (found,) = [one for one in glyphs(plot(heat.html("h")), "Quad") if "shade" in one.data_source.data]
    return np.column_stack(columns(found, "left", "right", "bottom", "top", "shade"))


@pytest.mark.parametrize("equal", [False, True])
def test_dark_cells_are_where_the_amounts_are(equal):
    amounts = np.zeros((3, 4))
    amounts[1, 2:] = 1.0
    heat = HeatMap("Belief", amounts, Axis("t"), Axis("x"), [0, 1, 2.5, 3], np.arange(5.0), equal=equal)
    np.testing.assert_array_equal(cells(heat), [[1, 2.5, 2, 4, 1]])


def test_small_amounts_are_lighter_and_nothing_is_not_drawn():
    heat = HeatMap("Belief", [[1.0, 0.25, 0.0, np.nan]], Axis("t"), Axis("x"), [0, 1], np.arange(5.0))
    shades = cells(heat)[np.argsort(cells(heat)[:, 2]), 4]
    np.testing.assert_allclose(shades, [1.0, round(0.5 * (LEVELS - 1)) / (LEVELS - 1)])


def test_lines_and_bad_shapes():
    heat = HeatMap("B", [[1.0]], Axis("t"), Axis("x"), [0, 1], [0, 1], {"truth": ([0, 1, 1], [0, np.nan, 1])})
    page = heat.html("h")
    assert "truth" in page
    (line,) = glyphs(plot(page), "Line")
    np.testing.assert_array_equal(columns(line, "x", "y"), [[0, np.nan, 1], [0, np.nan, 1]])
    with pytest.raises(ValueError, match=r"amounts of shape \(1, 1\) for \(2, 1\) cells"):
        HeatMap("B", [[1.0]], Axis("t"), Axis("x"), [0, 1, 2], [0, 1])


def test_without_any_amount_there_is_an_empty_map():
    assert len(cells(HeatMap("B", [[0.0]], Axis("t"), Axis("x"), [0, 1], [0, 1]))) == 0
