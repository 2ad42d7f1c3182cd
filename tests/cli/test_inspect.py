"""``kmcf inspect`` shows what is in a file, and runs nothing of it."""

import json

from cli_cases import TEST, TRAIN, fail, fit_model, succeed
from file_surgery import rebuilt

import kmcf


def test_what_is_in_a_model(tmp_path):
    model, _ = fit_model(tmp_path)
    told = json.loads(succeed("inspect", model, "--json").stdout)
    assert told["class"] == "KernelMonteCarloFilter"
    assert told["notes"]["columns"]["observation"] == ["d0", "d1", "d2"]
    assert told["notes"]["columns"]["step"] == 0.5
    assert told["fitted"]["states_"] == "float64 array 120 × 2"
    assert told["passed_again"] == {}
    shown = succeed("inspect", model).stdout
    scale = kmcf.load(model).transition.scale_
    assert f"{scale[0]:.12f}"[:10] in shown
    for words in ("GaussianRandomWalk", "d0, d1, d2", "120 × 2", "to be passed again   nothing"):
        assert words in shown


def test_floors_are_shown_and_what_only_loading_needs_is_not(tmp_path):
    states, observations = TRAIN[0]
    walk = kmcf.transitions.GaussianRandomWalk(1.0)
    flt = kmcf.KernelMonteCarloFilter(walk, floor=[-1.0, None, -2.5], engine="lowrank", random_state=0)
    flt.fit(states, observations - observations.min(axis=0)).save(tmp_path / "model.kmcf")
    shown = succeed("inspect", tmp_path / "model.kmcf").stdout.partition("Learnt")[2]
    assert "-1, –, -2.5" in shown
    for name in ("filling", "cache", "probes"):
        assert f"  {name}  " not in shown
    assert json.loads(succeed("inspect", tmp_path / "model.kmcf", "--json").stdout)["fitted"]["cache_"]


def test_nothing_is_run(tmp_path):
    """A model with a function of the user's cannot be loaded, but looked at."""
    own = kmcf.KernelMonteCarloFilter(own_transition, random_state=0).fit(*TRAIN[0])
    own.save(tmp_path / "own.kmcf")
    assert "own_transition" in succeed("inspect", tmp_path / "own.kmcf").stdout.replace("\n", "")
    own.filter(TEST[1]).save(tmp_path / "run.npz")
    assert "FilterRun" in succeed("inspect", tmp_path / "run.npz").stdout
    (tmp_path / "text").write_text("hello")
    assert "not a file written by kmcf" in fail("inspect", tmp_path / "text")
    assert "there is no file" in fail("inspect", tmp_path / "none")
    assert "it is not a regular file" in fail("inspect", "/dev/zero")
    assert "it is not a regular file" in fail("filter", tmp_path, tmp_path / "walk.csv")


def own_transition(states, control, rng):
    return states


def test_texts_of_a_file_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "k.kmcf"
    kmcf.store.save(kmcf.kernels.Gaussian(1.0), path)

    def change(manifest, _):
        manifest["notes"] = {"columns": {"state\x1b[31m": ["x\x1b[2J", "[red]y"]}}
        manifest["passed_again"] = {"f\x07": "g\x9b2J"}
        manifest["versions"] = {"kmcf": "\x1b]0;title\x07"}
        manifest["root"]["state"]["bandwidth"] = "\u202ewide"

    path.write_bytes(rebuilt(path.read_bytes(), change))
    for words in (["inspect", path], ["inspect", path, "--json"]):
        shown = succeed(*words).stdout
        assert not [character for character in shown if not (character.isprintable() or character == "\n")]
    assert "\\x1b[2J, [red]y" in succeed("inspect", path).stdout


def test_names_of_columns_do_not_reach_the_terminal(tmp_path):
    (tmp_path / "walk.csv").write_text("x\x1b[2J,y\n1,2\n2,3\n")
    told = fail("fit", tmp_path / "walk.csv", "-s", "none", "-y", "y", "-o", tmp_path / "m.kmcf")
    assert "\x1b" not in told
    assert "\\x1b[2J" in told
