"""Animations of beliefs."""

import json
import re

import numpy as np
import pytest
from markup_reader import HOSTILE, read
from sample_report import player

from kmcf.report import Frame, Player


def frames(animation):
    return json.loads(next(words for words in read(animation.html("p")).words if words.startswith('{"milli')))["frames"]


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
    animation = Player(hostile, [Frame(hostile, [[0, 0]], [1.0])], unit=hostile, caption=hostile)
    reader = read(animation.html("b"))
    assert reader.tags.count("script") == 1
    assert "img" not in reader.tags


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="a frame has 1 states and weights of shape"):
        Frame("f", [[1, 2]], [1, 2])
    with pytest.raises(ValueError, match="'p' has no frames"):
        Player("p", [])
