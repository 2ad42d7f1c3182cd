"""``kmcf tune``: files in, files out."""

import csv
import json

import numpy as np
import pytest
from cli_cases import fail, succeed

import kmcf

MODEL = kmcf.datasets.paper_model("1b")
DATA = MODEL.simulate(40, random_state=0)
COLUMNS = ("--state", "x", "--observation", "y", "--control", "u", "--sequence", "part")


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "walk.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "u", "part"])
        rows = zip(DATA.states[:, 0], DATA.observations[:, 0], DATA.controls, strict=True)
        writer.writerows([x, "" if t == 3 else y, u, "ab"[t // 20]] for t, (x, y, u) in enumerate(rows))
    return path


def test_settings_trials_and_model_are_saved(examples, tmp_path):
    words = ("tune", examples, *COLUMNS, "--trials", 3, "--transition", "linear-gaussian")
    result = succeed(*words, "--out", tmp_path / "out", "--study", tmp_path / "study.jsonl", "--json")
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "out" / "settings.json").read_text())
    with (tmp_path / "out" / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == printed["trials"] == 3
    assert min(float(row["value"]) for row in rows) == printed["best_trial_value"]
    assert len((tmp_path / "study.jsonl").read_text().splitlines()) == 4
    table = succeed(*words, "--out", tmp_path / "out")
    assert f"{printed['settings']['epsilon']:.4g}" in table.output
    model = kmcf.load(tmp_path / "out" / "model.kmcf")
    assert model.epsilon == printed["settings"]["epsilon"]
    assert model.transition.control_matrix_.shape == (1, 1)
    evaluated = json.loads(succeed("evaluate", tmp_path / "out" / "model.kmcf", examples, "--json").stdout)
    assert [part["sequence"] for part in evaluated["sequences"]] == ["a", "b"]


def test_the_settings_are_those_of_the_python_api(examples, tmp_path):
    words = ("--state", "x", "--observation", "y", "--trials", 4, "--seed", 3, "--out", tmp_path / "out", "--json")
    printed = json.loads(succeed("tune", examples, *words).stdout)
    walk = kmcf.transitions.GaussianRandomWalk().fit(DATA.states)
    flt = kmcf.KernelMonteCarloFilter(walk, random_state=3)
    observations = DATA.observations.copy()
    observations[3] = np.nan
    result = kmcf.tune(flt, DATA.states, observations, n_trials=4, random_state=3)
    assert printed["settings"] == result.best_params
    assert printed["best_trial_value"] == result.best_value


def test_archives_and_unordered_rows(tmp_path):
    np.savez(tmp_path / "walk.npz", states=DATA.states, seen=np.hstack([DATA.observations] * 2))
    words = ("--state", "states", "--observation", "seen", "--independent", "--trials", 2, "--json")
    result = succeed("tune", tmp_path / "walk.npz", *words, "--out", tmp_path)
    assert json.loads(result.stdout)["metric"] == "embedding"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--state", "xx", "--observation", "y"), "has no column 'xx' for the state; did you mean 'x'?"),
        (("--state", "x", "--observation", "part"), "walk.csv, line 2, column 'part': 'a' is not a number."),
        (("--state", "x", "--observation", "y", "--angle", "u"), "the angle 'u' is not one of the state columns"),
        (("--state", "x", "--observation", "y", "--metric", "rms"), "did you mean 'rmse'"),
    ],
)
def test_bad_words(examples, tmp_path, words, message):
    assert message in fail("tune", examples, *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_cluster_at_a_time(examples):
    words = ("tune", examples, *COLUMNS, "--trials", 1, "--scheduler", "tcp://127.0.0.1:1", "--workers", 2)
    assert "not both" in fail(*words)
