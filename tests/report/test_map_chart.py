"""Maps with paths."""

import numpy as np
import pytest
from drawn import columns, glyphs, hovers, plot, setting
from markup_reader import HOSTILE, read
from sample_report import WALLS, map_chart, walk

from kmcf.report import MapChart, MapPath


def test_a_stray_does_not_shrink_the_map_and_is_counted():
    path = walk()
    strayed = path.copy()
    strayed[7] = [1e6, -1e6]
    markup = MapChart("m", [MapPath("p", strayed)], walls=WALLS).html("m")
    assert "1 positions lie far outside" in markup
    (edge,) = glyphs(plot(markup), "Quad")
    (left,), (right,) = columns(edge, "left", "right")
    assert right - left < 14


def test_ellipses_hold_95_percent():
    """The drawn ellipse, read back from the markup, contains 95 % of samples of the normal distribution."""
    covariance = np.array([[2.0, 1.2], [1.2, 1.0]])
    places = np.array([[0.0, 0.0], [20.0, 10.0]])
    markup = MapChart("m", [MapPath("p", places, covariances=[covariance, covariance])]).html("m")
    (ellipses,) = glyphs(plot(markup), "Ellipse")
    (x, y, width, height, angle) = (v[0] for v in columns(ellipses, "x", "y", "width", "height", "angle"))
    samples = np.random.default_rng(0).multivariate_normal(places[0], covariance, size=20_000) - [x, y]
    along, across = samples @ [np.cos(angle), np.sin(angle)], samples @ [-np.sin(angle), np.cos(angle)]
    assert np.mean((2 * along / width) ** 2 + (2 * across / height) ** 2 <= 1) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("covariance", [np.full((2, 2), np.nan), -np.eye(2), np.zeros((2, 2))])
def test_bad_covariances_do_no_harm(covariance):
    markup = MapChart("m", [MapPath("p", [[0, 0], [1, 1]], covariances=[covariance] * 2)]).html("m")
    (ellipses,) = glyphs(plot(markup), "Ellipse")
    assert all(np.isfinite(values).all() for values in columns(ellipses, "x", "y", "width", "height", "angle"))


@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_paths(length):
    track = np.arange(2.0 * length).reshape(length, 2)
    read(MapChart("m", [MapPath("p", track, np.arange(length), np.arange(length), np.ones((length, 2, 2)))]).html("m"))


def test_paths_lie_where_they_were_with_gaps_and_ends():
    figure = plot(MapChart("m", [MapPath("p", [[0, 0], [1, 1], [np.nan, 0], [2, 3]])], walls=[[5, 6, 7, 8]]).html("m"))
    (line,) = glyphs(figure, "Line")
    np.testing.assert_array_equal(columns(line, "x", "y"), [[0, 1, np.nan, 2], [0, 1, np.nan, 3]])
    ring, disc = glyphs(figure, "Scatter")
    assert [float(v[0]) for v in (*columns(ring, "x", "y"), *columns(disc, "x", "y"))] == [0, 0, 2, 3]
    assert (setting(ring, "fill_color"), setting(disc, "fill_color")) == ("white", setting(line, "line_color"))
    (walls,) = glyphs(figure, "Segment")
    assert [float(v[0]) for v in columns(walls, "x0", "y0", "x1", "y1")] == [5, 6, 7, 8]


def test_the_map_tells_times_and_errors():
    assert [[label for label, _ in told] for _, told in hovers(plot(map_chart().html("m")))] == [
        ["", "x", "y", "time"],
        ["", "x", "y", "time", "error"],
    ]


def test_paths_and_clouds_differ_without_colours():
    markup = map_chart().html("m")
    figure = plot(markup)
    assert [setting(one, "line_dash") == [] for one in glyphs(figure, "Line")] == [False, True]
    signs = [words for words in read(markup).words if words in ("━", "╍╍", "•••", "▲", "■")]
    assert len(set(signs)) == len(signs) == 3


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_names(hostile):
    chart = MapChart(hostile, [MapPath(hostile, [[0, 0]])], points={hostile: [[1, 1]]}, unit=hostile, caption=hostile)
    reader = read(chart.html("b"))
    assert reader.tags.count("script") == 1
    assert "img" not in reader.tags


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MapPath("p", [[1, 2, 3]]), r"the path 'p' has shape \(1, 3\)"),
        (lambda: MapPath("p", [[1, 2]], times=[1, 2]), r"times of the path 'p' have shape \(2,\), not \(1,\)"),
        (lambda: MapChart("m", [], walls=[[1, 2]]).html("m"), r"walls have shape \(1, 2\)"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
