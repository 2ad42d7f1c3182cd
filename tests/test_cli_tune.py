"""``kmcf tune``: files in, files out."""

import csv
import json

import numpy as np
import pytest

import kmcf
from kmcf.cli.motion import fit_random_walk
from kmcf.cli.tables import read_columns

testing = pytest.importorskip("typer.testing")
MODEL = kmcf.datasets.paper_model("1b")
DATA = MODEL.simulate(40, random_state=0)


def invoke(*words):
    from kmcf.cli.app import app

    return testing.CliRunner().invoke(app, ["tune", *map(str, words)])


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "walk.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "u", "part"])
        rows = zip(DATA.states[:, 0], DATA.observations[:, 0], DATA.controls, strict=True)
        writer.writerows([x, "" if t == 3 else y, u, "ab"[t // 20]] for t, (x, y, u) in enumerate(rows))
    return path


def test_settings_and_trials_are_saved(examples, tmp_path):
    words = (examples, "--state", "x", "--observation", "y", "--control", "u", "--group", "part", "--trials", 3)
    result = invoke(*words, "--out", tmp_path / "out", "--study", tmp_path / "study.jsonl", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "out" / "settings.json").read_text())
    with (tmp_path / "out" / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == printed["trials"] == 3
    assert min(float(row["value"]) for row in rows) == printed["value"]
    assert len((tmp_path / "study.jsonl").read_text().splitlines()) == 4
    table = invoke(*words, "--out", tmp_path / "out")
    assert f"{printed['settings']['epsilon']:.4g}" in table.output


def test_archives_and_unordered_rows(tmp_path):
    np.savez(tmp_path / "walk.npz", states=DATA.states, seen=np.hstack([DATA.observations] * 2))
    words = ("--state", "states", "--observation", "seen", "--independent", "--trials", 2, "--json")
    result = invoke(tmp_path / "walk.npz", *words, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["metric"] == "embedding"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--state", "xx", "--observation", "y"), "has no column 'xx' (nearest: 'x')"),
        (("--state", "x", "--observation", "part"), "column 'part' of walk.csv does not hold numbers"),
        (("--state", "x", "--observation", "y", "--angle", "u"), "--angle u is none of the state columns"),
        (("--state", "x", "--observation", "y", "--metric", "rms"), "did you mean 'rmse'"),
    ],
)
def test_bad_words(examples, tmp_path, words, message):
    result = invoke(examples, *words, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert message in result.output
    assert not (tmp_path / "out").exists()


def test_bad_files(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (tmp_path / "bad.npz").write_text("no archive")
    np.savez(tmp_path / "uneven.npz", a=np.zeros(3), b=np.zeros(4))
    for name, message in {
        "none.csv": "no file",
        "empty.csv": "no rows",
        "ragged.csv": "row 3 of .* has 1 cells",
        "bad.npz": "cannot be read",
        "uneven.npz": "different lengths",
    }.items():
        with pytest.raises(ValueError, match=message):
            read_columns(tmp_path / name)


def test_the_random_walk_is_fitted_by_least_squares():
    rng = np.random.default_rng(0)
    controls = rng.normal(size=(5000, 1))
    steps = controls @ [[0.5, 3.0]] + rng.normal(size=(5000, 2)) @ np.array([[0.2, 0.0], [0.1, 0.3]]).T
    states = np.cumsum(steps, axis=0)
    states[2500:] += 1e4  # another sequence begins elsewhere
    states[:, 1] = np.angle(np.exp(1j * states[:, 1]))
    groups = ["a"] * 2500 + ["b"] * 2500
    inside = np.abs(steps[:, 1]) < 3.0
    walk = fit_random_walk(states, controls, groups, (1,))
    assert walk.gain[0, 0] == pytest.approx(0.5, abs=0.02)
    assert inside.mean() > 0.6
    assert (walk.root @ walk.root.T)[0, 0] == pytest.approx(0.04, rel=0.1)
    moved = walk(np.zeros((20000, 2)), np.array([2.0]), rng)
    assert moved[:, 0].mean() == pytest.approx(1.0, abs=0.05)
    with pytest.raises(ValueError, match="three consecutive examples"):
        fit_random_walk(states[:2], None, None, ())
