"""Charts: marks are where the values say, and nothing breaks them."""

import numpy as np
import pytest
from bokeh.models import LogScale, Whisker
from drawn import columns, glyphs, hovers, plot, setting
from markup_reader import HOSTILE, read

from kmcf.report import Axis, Chart, Series


def drawn(chart):
    return plot(chart.html("f"))


def test_lines_and_markers_lie_where_the_values_say():
    figure = drawn(Chart("c", Axis("x", limits=(0, 10)), Axis("y", limits=(0, 1)), [Series("s", [0, 5], [0, 1])]))
    for kind in ("Line", "Scatter"):
        (one,) = glyphs(figure, kind)
        np.testing.assert_array_equal(columns(one, "x", "y"), [[0, 5], [0, 1]])
        assert (one.glyph.x.field, one.glyph.y.field) == ("x", "y")
    assert (figure.x_range.start, figure.x_range.end, figure.y_range.start, figure.y_range.end) == (0, 10, 0, 1)


def test_logarithmic_axes_are_logarithmic():
    figure = drawn(Chart("c", Axis("x", log=True), Axis("y"), [Series("s", [1, 10, 100], [5, 50, 500])]))
    assert isinstance(figure.x_scale, LogScale)
    assert not isinstance(figure.y_scale, LogScale)
    assert 0.5 < figure.x_range.start < 1


def test_everything_lies_inside_the_axes():
    y = np.array([3.0, -7.0, 11.0])
    figure = drawn(Chart("c", Axis("x"), Axis("y"), [Series("s", [2, 4, 9], y, y - 2, y + 5)]))
    assert figure.x_range.start < 2 < 9 < figure.x_range.end
    assert figure.y_range.start < -9 < 16 < figure.y_range.end


@pytest.mark.parametrize("kind", ["line", "points", "stems", "bars"])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "values", [[], [np.nan, np.nan], [1.0], [1.0, 1.0], [0.0, 0.0], [1e300, 1e-300], [np.inf, 1.0, -np.inf]]
)
def test_nothing_breaks_a_chart(kind, log, values):
    series = Series("s", range(len(values)), values, values, values, kind=kind)
    figure = drawn(Chart("c", Axis("x"), Axis("y", log=log), [series]))
    ends = [figure.x_range.start, figure.x_range.end, figure.y_range.start, figure.y_range.end]
    assert np.isfinite(ends).all()


def test_missing_values_interrupt_the_line_and_are_counted():
    chart = Chart("c", Axis("x"), Axis("y"), [Series("s", range(5), [1, 2, np.nan, 3, np.inf])])
    (line,) = glyphs(drawn(chart), "Line")
    np.testing.assert_array_equal(columns(line, "y")[0], [1, 2, np.nan, 3, np.nan])
    assert "2 of the values on the axis “y” are missing or infinite" in chart.html("f")


def test_zeros_on_a_logarithmic_axis_are_left_out_and_counted():
    chart = Chart("c", Axis("x", log=True), Axis("y", log=True), [Series("s", [0, 1, 2, 3], [1, 0, -1, 5])])
    (marks,) = glyphs(drawn(chart), "Scatter")
    x, y = columns(marks, "x", "y")
    assert np.isfinite(x).tolist() == np.isfinite(y).tolist() == [False, False, False, True]
    assert "1 of the places on the axis “x” are zero or negative" in chart.html("f")
    assert "2 of the values on the axis “y” are zero or negative" in chart.html("f")


def test_whiskers_reach_from_end_to_end_and_out_of_a_logarithmic_picture():
    figure = drawn(Chart("c", Axis("x"), Axis("y", log=True), [Series("s", [1, 2], [1, 2], [-1, 1], [2, 3])]))
    (whisker,) = figure.select(Whisker)
    np.testing.assert_array_equal(whisker.source.data["upper"], [2, 3])
    np.testing.assert_array_equal(whisker.source.data["lower"], [figure.y_range.start, 1])


def test_bands_stop_where_an_end_is_unknown():
    series = Series("s", range(5), np.ones(5), [0, 0, np.nan, 0, 0], [2, 2, 2, 3, 2], spread="band")
    (band,) = glyphs(drawn(Chart("c", Axis("x"), Axis("y"), [series])), "Patches")
    outlines = [np.asarray(one).tolist() for one in band.data_source.data["xs"]]
    assert outlines == [[0, 1, 1, 0], [3, 4, 4, 3]]
    assert np.asarray(band.data_source.data["ys"][1]).tolist() == [3, 2, 0, 0]


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
    figure = drawn(chart)
    assert figure.xaxis[0].axis_label.text == f"{hostile} ({hostile})"
    assert figure.xaxis[0].major_label_overrides[0].text == hostile
    assert [name for name, _ in hovers(figure)] == ["s", hostile]


def test_bars_of_several_series_stand_side_by_side():
    series = [Series(str(k), range(3), [1, 2, 3], kind="bars") for k in range(2)]
    second, first = glyphs(drawn(Chart("c", Axis("m", categories=["a", "b", "c"]), Axis("y"), series)), "Quad")
    (left, right), (other_left, other_right) = columns(first, "left", "right"), columns(second, "left", "right")
    assert (right <= other_left).all()
    assert (other_right[:-1] < left[1:]).all()
    np.testing.assert_array_equal(columns(first, "base", "y"), [[0, 0, 0], [1, 2, 3]])
    assert setting(first, "hatch_pattern") != setting(second, "hatch_pattern")


@pytest.mark.parametrize("length", [10, 500])
def test_lines_differ_without_colours(length):
    x = np.arange(length)
    series = [Series(str(k), x, x, dashed=k == 3) for k in range(4)]
    figure = drawn(Chart("c", Axis("x"), Axis("y"), series))
    markers = glyphs(figure, "Scatter")
    assert len({setting(one, "marker") for one in markers}) == 3
    assert [setting(one, "line_dash") == [] for one in glyphs(figure, "Line")] == [False, True, True, True]
    if length > 80:
        assert all(5 < len(one.view.filter.indices) < 20 for one in markers)


def test_the_first_of_the_legend_is_drawn_on_top():
    figure = drawn(Chart("c", Axis("x"), Axis("y"), [Series("a", [0], [1]), Series("b", [0], [2])]))
    assert [columns(one, "y")[0].tolist() for one in glyphs(figure, "Line")] == [[2], [1]]


def test_numbers_are_there_as_text_unless_they_are_too_many():
    few, many = (Chart("c", Axis("x"), Axis("y"), [Series("s", range(n), range(n))]).html("f") for n in (5, 500))
    assert "<details>" in few
    assert "<details>" not in many
