"""Animations of beliefs."""

import json

import numpy as np
import pytest
from drawn import data, glyphs, plot
from markup_reader import HOSTILE, read
from sample_report import player

from kmcf.report import Frame, Player


def played(animation):
    return data(animation.html("p"))["player"]


def test_areas_are_proportional_to_weights():
    frame = Frame("f", [[0, 0], [1, 0], [2, 1]], [0.8, 0.4, -0.2])
    layers = played(Player("p", [frame]))["frames"][0]["layers"]
    areas = np.array([*layers["positive"]["size"], *layers["negative"]["size"]], dtype=float) ** 2
    assert areas / areas[0] == pytest.approx([1, 0.5, 0.25], rel=0.02)


def test_marks_lie_where_the_frame_says():
    frame = Frame("f", [[0, 0], [1, 0]], [0.8, -0.2], [[2, 5]], [[1, 4]], [3, 1], [2, 2])
    told = played(Player("p", [frame]))
    for name, place in {"positive": [0, 0], "negative": [1, 0], "particles": [2, 5], "herded": [1, 4],
                        "truth": [3, 1], "estimate": [2, 2]}.items():  # fmt: skip
        layer = told["frames"][0]["layers"][name]
        found = [told["origin"][j] + told["step"][j] * layer[axis][0] for j, axis in enumerate("xy")]
        assert found == pytest.approx(place, abs=1e-3)


def test_the_sources_are_those_of_the_live_page():
    markup = player().html("p")
    names = {one.data_source.id: one.data_source.name for one in plot(markup).renderers}
    assert {names[number]: name for name, number in data(markup)["player"]["sources"].items()} == {
        name: name for name in ("positive", "negative", "particles", "herded", "truth", "estimate")
    }
    trail = next(one for one in glyphs(plot(markup), "Line") if one.data_source.name == "truth_path")
    assert len(trail.data_source.data["x"]) == 12


def test_frames_are_compact():
    assert len(json.dumps(played(player(12))["frames"])) < 12 * 4000


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [0.0, 0.0], [-1.0, -2.0]])
def test_odd_weights_do_no_harm(weights):
    read(Player("p", [Frame("f", [[0, 0], [1, 1]], weights)]).html("p"))


def test_frames_may_lack_everything():
    layers = played(Player("p", [Frame("nothing")]))["frames"][0]["layers"]
    assert len(layers) == 6
    assert not any(values for layer in layers.values() for values in layer.values())


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
