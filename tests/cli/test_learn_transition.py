"""``kmcf learn-transition``: what Python would learn, saved with the model's notes."""

import json

import numpy as np
import pytest
from cli_cases import fail, fit_model, succeed, walk, write_csv

import kmcf


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    model, _ = fit_model(folder, "--observation-kernel", "gaussian", "--n-particles", "50")
    return model, write_csv(folder / "later.csv", *walk(30, 7))


@pytest.mark.slow
def test_learns_what_python_learns_and_keeps_the_notes(given, tmp_path):
    model, later = given
    out = tmp_path / "better.kmcf"
    words = ("-p", "scale[0]=0.05:5", "-o", out, "--json")
    told = json.loads(succeed("learn-transition", model, later, *words).stdout)
    flt, (_, seen) = kmcf.load(model), walk(30, 7)
    found = kmcf.learn_transition(flt, [seen], {"scale[0]": (0.05, 5.0)}, times=[0.5 * np.arange(30)])
    assert told["parameters"]["scale[0]"]["estimate"] == pytest.approx(found.estimates["scale[0]"], rel=1e-6)
    assert told["parameters"]["scale[0]"]["lower"] < told["parameters"]["scale[0]"]["upper"]
    learnt = kmcf.load(out).transition.parameters()["scale"]
    np.testing.assert_allclose(
        learnt, [found.estimates["scale[0]"], flt.transition.parameters()["scale"][1]], rtol=1e-6
    )
    assert json.loads(succeed("inspect", out, "--json").stdout)["notes"]["columns"]["state"] == ["x", "y"]


def test_the_script_says_what_runs(given):
    shown = succeed("learn-transition", *given, "-p", "scale", "--python").stdout
    assert "kmcf.learn_transition(" in shown
    assert "times=" in shown


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kmcf.LearningWarning")  # thirty steps do not tell much
def test_em_is_what_python_does(given):
    model, later = given
    told = json.loads(
        succeed("learn-transition", model, later, "-p", "scale[0]=0.05:5", "--method", "em", "--json").stdout
    )
    seen, times = [walk(30, 7)[1]], [0.5 * np.arange(30)]
    found = kmcf.learn_transition(kmcf.load(model), seen, {"scale[0]": (0.05, 5.0)}, times=times, method="em")
    assert told["method"] == "em"
    assert told["parameters"]["scale[0]"]["estimate"] == pytest.approx(found.estimates["scale[0]"], rel=1e-6)
    assert "method='em'" in succeed("learn-transition", *given, "-p", "scale", "--method", "em", "--python").stdout


def test_bad_words_get_a_sentence(given):
    assert "has no parameter 'speed'" in fail("learn-transition", *given, "-p", "speed")
    assert "not two numbers" in fail("learn-transition", *given, "-p", "scale=a:b")
    assert "name a parameter" in fail("learn-transition", *given, "-p", "scale=3")
    assert "there is no model file" in fail("learn-transition", "none.kmcf", given[1], "-p", "scale")
