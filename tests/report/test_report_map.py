"""Maps and animations."""

import json
import re

import numpy as np
import pytest
from markup_reader import HOSTILE, read
from sample_report import WALLS, map_chart, player, walk

from kmcf.report import Frame, MapChart, MapPath, Player
from kmcf.report.plane import Plane


def frames(animation):
    return json.loads(next(words for words in read(animation.html("p")).words if words.startswith('{"milli')))["frames"]


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


def test_areas_are_proportional_to_weights():
    frame = Frame("f", [[0, 0], [1, 0], [2, 1]], [0.8, 0.4, -0.2])
    above, below = frames(Player("p", [frame]))[0]["layers"][:2]
    areas = np.array([*above[2::3], *below[2::3]], dtype=float) ** 2
    assert areas / areas[0] == pytest.approx([1, 0.5, 0.25], rel=0.02)


def test_frames_are_compact():
    assert len(json.dumps(frames(player(12)))) < 12 * 4000


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [0.0, 0.0], [-1.0, -2.0]])
def test_odd_weights_do_no_harm(weights):
    read(Player("p", [Frame("f", [[0, 0], [1, 1]], weights)]).html("p"))


def test_frames_may_lack_everything():
    assert frames(Player("p", [Frame("nothing")]))[0]["layers"] == [[], [], [], [], [], []]


def test_the_static_picture_is_the_first_frame():
    markup = player().html("p")
    first = frames(player())[0]["layers"]
    group = re.search(r'<g class="series layer0" data-series="0">(.*?)</g>', markup)[1]
    static = [round(10 * float(number)) for number in re.findall(r'(?:cx|cy|r)="([^"]*)"', group)]
    assert static == first[0]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_names(hostile):
    chart = MapChart(hostile, [MapPath(hostile, [[0, 0]])], points={hostile: [[1, 1]]}, unit=hostile, caption=hostile)
    animation = Player(hostile, [Frame(hostile, [[0, 0]], [1.0])], unit=hostile, caption=hostile)
    for block in (chart, animation):
        reader = read(block.html("b"))
        assert reader.tags.count("script") == 1
        assert "img" not in reader.tags


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MapPath("p", [[1, 2, 3]]), r"the path 'p' has shape \(1, 3\)"),
        (lambda: MapPath("p", [[1, 2]], times=[1, 2]), r"times of the path 'p' have shape \(2,\), not \(1,\)"),
        (lambda: MapChart("m", [], walls=[[1, 2]]).html("m"), r"walls have shape \(1, 2\)"),
        (lambda: Frame("f", [[1, 2]], [1, 2]), "a frame has 1 states and weights of shape"),
        (lambda: Player("p", []), "'p' has no frames"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
