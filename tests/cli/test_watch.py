"""``kmcf watch``: what it refuses. The page itself is tested in ``tests/live/test_page.py``."""

from pathlib import Path

import numpy as np
import pytest
from cli_cases import TEST, fail, fit_model, write_csv

from kmcf.cli import options
from kmcf.cli.models import load_model
from kmcf.cli.script import Script
from kmcf.cli.serving import live_model
from kmcf.cli.watch import read_extent, recordings_for


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--n-particles", 60)[0]


@pytest.fixture
def walk(tmp_path):
    return write_csv(tmp_path / "walk.csv", *TEST)


def test_what_cannot_be_shown_is_told(model, walk, tmp_path):
    plan = tmp_path / "plan.txt"
    plan.write_text("no image")
    for words, sentence in {
        ("none.csv",): "there is no file none.csv.",
        (walk, "--axes", "x,z"): "name one or two different states of x, y.",
        (walk, "--map", tmp_path / "none.png"): f"there is no image {tmp_path / 'none.png'}.",
        (walk, "--map", plan): f"{plan}: a map is a PNG, JPEG, GIF or WebP image.",
        (walk, "--extent", "0,0,1,1"): "--extent says where a map is; give one with --map.",
        (walk, "--observation", "d0,d1"): "was fitted to 3 observation columns, but walk.csv gives 2",
        ("--mqtt", "http://a"): "it must be like mqtt://HOST:1883",
    }.items():
        assert sentence in fail("watch", model, *words, "--port", 0)


@pytest.mark.parametrize("words", ["0,0,1", "a,b,c,d", "1,0,0,1"])
def test_corners_are_checked(words):
    with pytest.raises(ValueError, match="--extent"):
        read_extent(words, Path("plan.png"))


def test_recordings_have_their_true_states_where_the_file_has_them(model, walk, tmp_path):
    loaded = load_model(Script("kmcf watch"), model)
    assert live_model(loaded).describe()["state"]["names"] == ["x", "y"]
    (with_truth,) = recordings_for(loaded, walk, options.ColumnOptions(), None)
    np.testing.assert_allclose(with_truth.states, TEST[0])
    blind = tmp_path / "blind.csv"
    rows = [line.split(",") for line in walk.read_text().splitlines()]
    blind.write_text("\n".join(",".join([row[0], *row[3:]]) for row in rows) + "\n")
    (without,) = recordings_for(loaded, blind, options.ColumnOptions(), None)
    assert without.states.shape == (len(TEST[0]), 0)
