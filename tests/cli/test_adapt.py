"""``kmcf check-sensor`` and ``kmcf adapt``: what Python finds, and a file only where it is an improvement."""

import json

import numpy as np
import pytest
from cli_cases import TRAIN, fail, fit_model, succeed, walk, write_csv

import kmcf


def again():
    """Return where one of the training walks led, seen once more."""
    states, seen = TRAIN[1]
    return states[:40], seen[:40] + 0.05 * np.random.default_rng(0).normal(size=seen[:40].shape)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    model, _ = fit_model(folder, "--observation-kernel", "gaussian", "--n-particles", "40")
    states, seen = again()
    changed = seen + np.array([0.0, 4.0, 0.0])
    return model, write_csv(folder / "as_ever.csv", states, seen), write_csv(folder / "changed.csv", states, changed)


def test_adapt_saves_a_model_with_notes_only_where_it_is_an_improvement(given, tmp_path):
    model, _, changed = given
    out = tmp_path / "adapted.kmcf"
    told = json.loads(succeed("adapt", model, changed, "--labelled", "-o", out, "--json").stdout)
    assert told["adapted"]
    assert told["model"] == str(out)
    assert told["shift"][1] == pytest.approx(4.0, abs=1.0)
    assert json.loads(succeed("inspect", out, "--json").stdout)["notes"]["columns"]["state"] == ["x", "y"]
    states, seen = again()
    found = kmcf.adapt(kmcf.load(model), seen + np.array([0.0, 4.0, 0.0]), states)
    np.testing.assert_allclose(told["shift"], found.change.shift)


def test_check_sensor_tells_a_p_value(given):
    model, _, changed = given
    told = json.loads(succeed("check-sensor", model, changed, "--rate", "0.2", "--json").stdout)
    assert told["changed"]
    assert told["p_value"] <= 0.2
    assert "has changed since fit" in told["verdict"]


def test_the_scripts_say_what_runs(given):
    assert "kmcf.sensor_changed(" in succeed("check-sensor", *given[:2], "--python").stdout
    shown = succeed("adapt", *given[:2], "-o", "x.kmcf", "--python").stdout
    assert "if result.adapted:" in shown
    compile(shown, "script", "exec")


def test_bad_words_get_a_sentence(given, tmp_path):
    assert "there is no model file" in fail("adapt", tmp_path / "none.kmcf", given[1])
    short = write_csv(tmp_path / "short.csv", *walk(8, 9))
    assert "fewer than 20" in fail("adapt", given[0], short)
    assert "too short" in fail("check-sensor", given[0], short)
