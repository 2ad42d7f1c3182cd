"""Charts: marks are where the values say, and nothing breaks them."""

import json
import re

import numpy as np
import pytest
from markup_reader import HOSTILE, read

from kmcf.report import Axis, Chart, Series

NUMBER = r"-?\d+\.?\d*"


def drawn(chart):
    """The wide drawing."""
    return re.search(r'<svg[^>]*class="drawing wide".*?</svg></svg>', chart.html("f"), flags=re.DOTALL)[0]


def markers(svg, place=0):
    group = re.search(rf'<g class="series c\d" data-series="{place}">(.*?)</g>', svg, flags=re.DOTALL)[1]
    marks = re.search(r'<path d="([^"]*)" class="mark"/>', group)
    return np.array(re.findall(rf"M({NUMBER}),({NUMBER})m", marks[1]), dtype=float).reshape(-1, 2) if marks else None


def data(chart):
    reader = read(chart.html("f"))
    return json.loads(next(words for words in reader.words if words.startswith('{"x"')))


def test_markers_lie_where_the_values_say():
    svg = drawn(Chart("c", Axis("x", limits=(0, 10)), Axis("y", limits=(0, 1)), [Series("s", [0, 5, 10], [0, 1, 0.5])]))
    (x0, y0), (x1, y1), (x2, y2) = markers(svg)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 > y2 > y1
    assert y0 - y2 == pytest.approx(y2 - y1, abs=0.11)


def test_equal_ratios_are_equal_distances_on_logarithmic_axes():
    svg = drawn(Chart("c", Axis("x", log=True), Axis("y", log=True), [Series("s", [1, 10, 100], [5, 50, 500])]))
    assert np.diff(markers(svg), axis=0)[0] == pytest.approx(np.diff(markers(svg), axis=0)[1], abs=0.11)


@pytest.mark.parametrize("kind", ["line", "points", "stems", "bars"])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "values", [[], [np.nan, np.nan], [1.0], [1.0, 1.0], [0.0, 0.0], [1e300, 1e-300], [np.inf, 1.0, -np.inf]]
)
def test_nothing_breaks_a_chart(kind, log, values):
    series = Series("s", range(len(values)), values, values, values, kind=kind)
    markup = Chart("c", Axis("x"), Axis("y", log=log), [series]).html("f")
    assert not re.search(r"\b(nan|inf|Infinity)\b", re.sub(r"infinite: not drawn", "", markup))
    read(markup)


def test_missing_values_interrupt_the_line_and_are_counted():
    chart = Chart("c", Axis("x"), Axis("y"), [Series("s", range(5), [1, 2, np.nan, 3, np.inf])])
    line = re.search(r'<path d="([^"]*)" class="line"/>', drawn(chart))[1]
    assert (line.count("M"), line.count("L")) == (2, 1)
    assert "2 of the values on the axis “y” are missing or infinite" in chart.html("f")


def test_zeros_on_a_logarithmic_axis_are_left_out_and_counted():
    chart = Chart("c", Axis("x", log=True), Axis("y", log=True), [Series("s", [0, 1, 2, 3], [1, 0, -1, 5])])
    assert len(markers(drawn(chart))) == 1
    assert "1 of the places on the axis “x” are zero or negative" in chart.html("f")
    assert "2 of the values on the axis “y” are zero or negative" in chart.html("f")


def test_whiskers_below_zero_run_out_of_a_logarithmic_picture():
    svg = drawn(Chart("c", Axis("x"), Axis("y", log=True), [Series("s", [1, 2], [1, 2], [-1, 1], [2, 3])]))
    whiskers = re.search(r'<path d="([^"]*)" class="line thin"/>', svg)[1]
    scales = [float(number) for number in re.search(r'data-scales="([^"]*)"', svg)[1].split()]
    assert float(re.match(rf"M{NUMBER},({NUMBER})V", whiskers)[1]) == pytest.approx(scales[7], abs=0.1)


@pytest.mark.parametrize("values", [[], [np.nan], [0.0]])
def test_an_empty_chart_says_so(values):
    assert "no values to show" in Chart("c", Axis("x"), Axis("y", log=True), [Series("s", values, values)]).html("f")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_names(hostile):
    x, y = Axis(hostile, hostile, categories=[hostile]), Axis(hostile, hostile)
    chart = Chart(hostile, x, y, [Series(hostile, [0], [1]), Series("s", [0], [1])], caption=hostile)
    reader = read(chart.html("f"))
    assert reader.tags.count("script") == 1
    assert not {"img"} & set(reader.tags)
    assert data(chart)["series"][0]["name"] == hostile


def test_the_script_gets_the_values_rounded():
    values = data(Chart("c", Axis("x"), Axis("y"), [Series("s", [0.1], [1 / 3], [0.2], [np.nan])]))
    assert values["series"] == [{"name": "s", "x": [0.1], "y": [0.3333], "lower": [0.2], "upper": [None]}]


def test_bars_of_several_series_stand_side_by_side():
    names = ["a", "b", "c"]
    series = [Series(str(k), range(3), [1, 2, 3], kind="bars") for k in range(2)]
    svg = drawn(Chart("c", Axis("m", categories=names), Axis("y"), series))
    bars = [
        np.array(re.findall(rf"M({NUMBER}),{NUMBER}V{NUMBER}h({NUMBER})", d), dtype=float)
        for d in re.findall(r'<path d="([^"]*)" class="bar"', svg)
    ]
    second, first = bars
    assert (first[:, 0] + first[:, 1] <= second[:, 0] + 0.2).all()
    assert (second[:-1, 0] + second[:-1, 1] < first[1:, 0]).all()


def test_numbers_are_there_as_text_unless_they_are_too_many():
    few, many = (Chart("c", Axis("x"), Axis("y"), [Series("s", range(n), range(n))]).html("f") for n in (5, 500))
    assert "<details>" in few
    assert "<details>" not in many
