"""Maps with paths."""

import json
import re

import numpy as np
import pytest
from markup_reader import HOSTILE, read
from sample_report import WALLS, map_chart, walk

from kmcf.report import MapChart, MapPath
from kmcf.report.plane import Plane


def test_a_stray_does_not_shrink_the_map_and_is_counted():
    path = walk()
    strayed = path.copy()
    strayed[7] = [1e6, -1e6]
    markup = MapChart("m", [MapPath("p", strayed)], walls=WALLS).html("m")
    assert "1 positions lie far outside" in markup
    assert Plane.around([strayed]).per_unit > 0.5 * Plane.around([path]).per_unit


def test_ellipses_hold_95_percent():
    """The drawn ellipse, read back from the markup, contains 95 % of samples of the normal distribution."""
    covariance = np.array([[2.0, 1.2], [1.2, 1.0]])
    places = np.array([[0.0, 0.0], [20.0, 10.0]])
    markup = MapChart("m", [MapPath("p", places, covariances=[covariance, covariance])]).html("m")
    rx, ry, left, top, angle = (
        float(number)
        for number in re.search(
            r'<ellipse rx="([^"]*)" ry="([^"]*)" transform="translate\((\S+) (\S+)\) rotate\((\S+)\)"', markup
        ).groups()
    )
    plane = Plane.around([places])
    samples = plane(np.random.default_rng(0).multivariate_normal(places[0], covariance, size=20_000)) - [left, top]
    turn = np.radians(angle)
    along, across = samples @ [np.cos(turn), np.sin(turn)], samples @ [-np.sin(turn), np.cos(turn)]
    assert np.mean((along / rx) ** 2 + (across / ry) ** 2 <= 1) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("covariance", [np.full((2, 2), np.nan), -np.eye(2), np.zeros((2, 2))])
def test_bad_covariances_do_no_harm(covariance):
    markup = MapChart("m", [MapPath("p", [[0, 0], [1, 1]], covariances=[covariance] * 2)]).html("m")
    assert "nan" not in markup


@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_paths(length):
    track = np.arange(2.0 * length).reshape(length, 2)
    read(MapChart("m", [MapPath("p", track, np.arange(length), np.arange(length), np.ones((length, 2, 2)))]).html("m"))


def test_gaps_interrupt_a_path():
    line = re.search(
        r'<path d="([^"]*)" class="line"',
        MapChart("m", [MapPath("p", [[0, 0], [1, 1], [np.nan, 0], [2, 2]])]).html("m"),
    )
    assert line[1].count("M") == 2


def test_the_map_knows_times_and_errors():
    words = next(words for words in read(map_chart().html("m")).words if words.startswith('{"x"'))
    names = [[extra[0] for extra in series["extra"]] for series in json.loads(words)["series"]]
    assert names == [["time", "error"], ["time"]]


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
