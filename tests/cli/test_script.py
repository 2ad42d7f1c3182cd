"""``--python`` prints what the command runs: both leave the same files, byte for byte."""

import ast
import csv
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pandas
import pytest
from cli_cases import FIT, TEST, TRAIN, environment, fail, fit_model, invoke, succeed, walk, write_csv, write_training
from hypothesis import given
from hypothesis import strategies as st

from kmcf.cli.script import Code, Script, as_code, call


def run_script(text):
    """Run a program, and return its names."""
    names = {}
    exec(compile(text, "script", "exec"), names)
    return names


def files_below(folder):
    """Return the contents of all files, without the times that trials took."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    if "tuned/trials.csv" in found:
        rows = list(csv.reader(found["tuned/trials.csv"].decode().splitlines()))
        place = rows[0].index("seconds")
        found["tuned/trials.csv"] = [row[:place] + row[place + 1 :] for row in rows]
    if "study.jsonl" in found:
        found["study.jsonl"] = re.sub(rb'"seconds": [^,]+', b"", found["study.jsonl"])
    return found


def assert_same(words, folder, monkeypatch, capsys):
    """Run a command in one folder and its script in another; compare what they leave and what they print."""
    made = {}
    for name in ("command", "script"):
        (folder / name).mkdir()
        monkeypatch.chdir(folder / name)
        if name == "command":
            printed = succeed(*words).stdout
        else:
            text = succeed(*words, "--python").stdout
            assert not any(Path().iterdir())  # nothing was run
            capsys.readouterr()
            names = run_script(text)
        made[name] = files_below(folder / name)
    assert made["command"] == made["script"]
    return list(made["command"]), printed, capsys.readouterr().out, names


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--transition-set", "scale=[0.2, 0.4]", "--trim", "0.1", "--recovery", "0.02"),
        ("--observation-kernel", "learnt:folds=3", "--state-kernel", "gaussian:multiplier=0.4", "--seed", "3"),
        ("--angle", "y", "--engine", "lowrank", "--tolerance", "auto", "--rank", "20", "--gaps", "keep"),
        ("--angle", "x", "--angle", "y", "--transition", "jump", "--transition-set", "scale=0.1"),
        (
            "--transition",
            "constant-velocity",
            "--velocities",
            "--resampling",
            "multinomial",
            "--resample-threshold",
            "1.5",
        ),
        ("--transition", "recorded-moves", "--velocities", "--angle", "y", "--transition-set", "neighbours=4"),
        ("--transition", "linear-gaussian", "--rule", "importance", "--epsilon", "0.01", "--delta", "1e-3"),
        ("--support", "particles", "--delta", "inf", "--background", "0.2", "--n-particles", "50"),
        ("--engine", "exact", "--resample-threshold", "inf", "--n-examples", "40", "--n-resample", "30"),
        ("-u", "t", "--transition", "linear-gaussian", "--gaps", "error", "--tolerance", "1e-6"),
    ],
    ids=[
        "plain",
        "motion",
        "kernels",
        "angles",
        "jump",
        "velocity",
        "moves",
        "rule",
        "particles",
        "examples",
        "controls",
    ],
)
def test_fit(words, tmp_path, monkeypatch, capsys):
    files = write_training(tmp_path)
    out = ("-o", "new/folder/m.kmcf")
    made, _, printed, names = assert_same(("fit", *files, *FIT, *words, *out), tmp_path, monkeypatch, capsys)
    assert made == ["new/folder/m.kmcf"]
    assert printed == ""
    width = 4 if "--velocities" in words else 2
    assert names["flt"].filter(TEST[1][:3], TEST[1][:3, :1] if "-u" in words else None).mean.shape == (3, width)


@pytest.mark.slow
def test_fit_without_time_from_other_files(tmp_path, monkeypatch, capsys):
    walks = np.repeat(["a", "b"], [70, 50])
    states, observations = (np.concatenate(part) for part in zip(*TRAIN, strict=True))
    np.savez(tmp_path / "train.npz", place=states, d=observations, walk=walks)
    table = {"x": states[:, 0], "y": states[:, 1], "walk": walks} | {f"d{j}": observations[:, j] for j in range(3)}
    pandas.DataFrame(table).to_parquet(tmp_path / "train.parquet")
    write_csv(tmp_path / "train.csv", states, observations, walk=walks)
    path = tmp_path / "train.csv"
    path.write_text(path.read_text(), encoding="utf-16")
    for name, *words in (
        ("npz", "-s", "place", "-y", "d"),
        ("parquet", "-s", "x", "-s", "y", "-y", "d*"),
        ("csv", "-s", "x,y", "-y", "d0,d1", "-y", "d2", "--encoding", "utf-16"),
    ):
        (tmp_path / name).mkdir()
        words = ("fit", tmp_path / f"train.{name}", *words, "--sequence", "walk")
        made, *_ = assert_same(words, tmp_path / name, monkeypatch, capsys)
        assert made == ["model.kmcf"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--engine", "exact", "--n-particles", 60)[0]


GAPPY = np.array([0.0, 0.5, 1.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5])
DATES = [f"2026-03-01T12:00:{k:02d}" for k in range(10)]
INPUTS = {
    "plain": {},
    "gaps": {"t": GAPPY},
    "dates": {"t": DATES},
    "two": {"who": ["a", "b"] * 5},
    "missing": {"d0": [""] * 10, "d1": [""] * 10, "d2": [""] * 10},
}


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (["plain"], ("-o", "s.csv")),
        (["plain"], ()),
        (["plain"], ("--json",)),
        (["plain"], ("--json", "-o", "new/s.jsonl")),
        (["plain"], ("--json", "-o", "s.out")),
        (["plain"], ("-o", "s.txt")),
        (["plain"], ("-o", "s.parquet")),
        (["plain", "missing"], ("-o", "s.csv")),
        (["two"], ("-o", "s.csv", "--sequence", "who")),
        (["two", "two"], ("-o", "s.csv", "--sequence", "who")),
        (["gaps"], ("-o", "s.csv")),
        (["gaps"], ("-o", "s.csv", "--gaps", "fill")),
        (["gaps", "plain"], ("-o", "s.csv", "--gaps", "split", "--json")),
        (["dates"], ("-o", "s.csv", "-y", "d1,d0,d2", "-t", "t")),
    ],
    ids=lambda value: "-".join(value) or "stdout",
)
def test_filter(inputs, words, model, tmp_path, monkeypatch, capsys):
    for name in inputs:
        write_csv(tmp_path / f"{name}.csv", *walk(10, 3), **INPUTS[name])
    files = [tmp_path / f"{name}.csv" for name in inputs]
    made, told, printed, _ = assert_same(("filter", model, *files, *words), tmp_path, monkeypatch, capsys)
    assert len(made) == ("-o" in words)
    assert printed == told
    assert bool(printed) == (not made)


def test_filter_with_names_of_the_command_or_without_any(model, tmp_path, monkeypatch, capsys):
    (tmp_path / "bare.csv").write_text("d0,d1,d2\n1,2,3\n,,\n")
    words = ("filter", model, tmp_path / "bare.csv", "-o", "s.csv")
    assert_same(words, tmp_path, monkeypatch, capsys)
    assert (tmp_path / "script" / "s.csv").read_text().startswith("step,mean_x,mean_y,")


@pytest.mark.parametrize("words", [(), ("--gaps", "split"), ("--gaps", "fill"), ("-s", "y,x")], ids="_".join)
def test_evaluate(words, model, tmp_path, monkeypatch, capsys):
    files = [write_csv(tmp_path / "a.csv", *walk(10, 3), t=GAPPY), write_csv(tmp_path / "all.csv", *walk(8, 4))]
    words = ("evaluate", model, *files, *words, "--json")
    _, told, printed, names = assert_same(words, tmp_path, monkeypatch, capsys)
    sequences = [{"sequence": name, **score._asdict()} for name, score in names["scores"].items()]
    overall = {"sequence": "all", **names["overall"]._asdict()}
    assert json.loads(told) == {"model": str(model), "sequences": sequences, "all": overall}
    assert [line.split()[0] for line in printed.splitlines()] == ["a", "all", "all"]
    assert f"rmse={overall['rmse']!r}, median" in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--observation-kernel", "gaussian"),
        ("--rank", "20", "--tolerance", "1e-4", "--n-examples", "50", "--engine", "lowrank", "--recovery", "0.1"),
        ("--support", "particles", "--background", "0.1", "--metric", "mode", "--seed", "3"),
        ("-u", "t", "--transition", "linear-gaussian", "--independent", "--study", "study.jsonl"),
    ],
    ids=["kernel", "lowrank", "particles", "controls"],
)
def test_tune(words, tmp_path, monkeypatch, capsys):
    files = write_training(tmp_path)
    words = ("tune", *files, *FIT, "--trials", 3, "-o", "tuned", *words)
    made, told, printed, names = assert_same((*words, "--json"), tmp_path, monkeypatch, capsys)
    assert {"tuned/model.kmcf", "tuned/settings.json", "tuned/trials.csv"} <= set(made)
    assert json.loads(told) == names["summary"]
    assert printed.startswith(f"{names['result'].best_value!r} ")


@pytest.mark.slow
def test_in_another_process(model, tmp_path):
    path = write_csv(tmp_path / "test.csv", *TEST)
    scoring = succeed("evaluate", model, path, "--python").stdout
    writing = succeed("filter", model, path, "-o", tmp_path / "states.csv", "--python").stdout
    (tmp_path / "both.py").write_text(f"{scoring}\n{writing}")
    done = subprocess.run([sys.executable, tmp_path / "both.py"], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"test Scores(steps={len(TEST[0])}")
    assert (tmp_path / "states.csv").read_text() == succeed("filter", model, path).stdout


def test_progress_is_part_of_the_program(model, tmp_path, monkeypatch):
    path = write_csv(tmp_path / "test.csv", *TEST)
    for name in ("evaluate", "filter", "tune"):
        monkeypatch.setattr(f"kmcf.cli.{name}.can_show_progress", lambda: True)
    tuning = ("tune", path, *FIT, "--python")
    filtering = ("filter", model, path, "--python")
    shown = [tuning, ("evaluate", model, path, "--python"), (*filtering, "-o", "s.csv")]
    assert all("progress=True" in succeed(*words).stdout for words in shown)
    assert not any("progress=" in succeed(*words).stdout for words in [(*tuning, "--json"), filtering])


def test_words_that_are_wrong_are_told_instead_of_printed(model, tmp_path):
    files = write_training(tmp_path)
    for words, message in (
        (("--transition", "randomwalk"), "unknown transition 'randomwalk'"),
        (("--transition-set", "scal=1"), "the transition 'random-walk' has no parameter 'scal'"),
        (("--transition-set", "scale={1, 2}"), "neither a number nor a text"),
        (("--observation-kernel", "mattern"), "unknown kernel 'mattern'"),
        (("--observation-kernel", "gaussian:lambda=1"), "'gaussian' has no parameter 'lambda'"),
        (("--tolerance", "small"), "it must be a number or auto."),
    ):
        assert message in fail("fit", *files, *FIT, *words, "--python")
        assert message in fail("tune", *files, *FIT, *words)
    assert "no --python" in fail("filter", model, "-", "--python")


HOSTILE = "it's\"; import os; os.remove('x')\n#\\"


def test_names_are_values_and_never_code(tmp_path, monkeypatch):
    path = tmp_path / "it's; import os.csv"
    write_csv(path, *TRAIN[0])
    path.write_text(path.read_text().replace("d0", 'd0")'))
    monkeypatch.chdir(tmp_path)
    words = ("fit", path, *FIT, "-o", tmp_path / "m'.kmcf")
    text = succeed(*words, "--python").stdout
    run_script(text)
    written = (tmp_path / "m'.kmcf").read_bytes()
    succeed(*words)
    assert (tmp_path / "m'.kmcf").read_bytes() == written
    assert os.path.exists(path)
    text = succeed("fit", HOSTILE, "-s", HOSTILE, "-y", HOSTILE, "--sequence", HOSTILE, "--python").stdout
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert [name.name for node in imports for name in node.names] == ["kmcf"]
    constants = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    assert constants.count(HOSTILE) == 4


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part) | st.lists(part).map(tuple) | st.dictionaries(st.text(), part),
)


@given(VALUES)
def test_literals_mean_what_they_were(value):
    assert eval(as_code(value), {"__builtins__": {"float": float}}) == value
    assert repr(eval(as_code(value))) == repr(value)


@pytest.mark.slow
@given(st.lists(VALUES), st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES))
def test_calls_pass_what_they_were_given(arguments, named):
    got = eval(call("both", *arguments, **named), {"both": lambda *some, **more: (some, more), "float": float})
    assert repr(got) == repr((tuple(arguments), named))


@pytest.mark.parametrize("value", [{1}, b"a", 1j, print, np.int64(1), ...], ids=repr)
def test_what_is_no_plain_value(value):
    with pytest.raises(ValueError, match="neither a number nor a text"):
        as_code([value])
    assert as_code(np.float64(0.5)) == "0.5"


def test_a_script_runs_each_statement_once():
    seen = []
    script = Script("kmcf test")
    script.add(call("print", Code("1")), check=lambda names: seen.append("first"))
    script.run()
    script.add("value = numpy.sqrt(4.0)", needs=("numpy",), check=lambda names: seen.append(names["value"]))
    assert script.run()["value"] == 2.0
    script.run()
    assert seen == ["first", 2.0]
    assert script.text("print(value)").splitlines() == [
        "import numpy", "", "import kmcf", "", "print(1)", "value = numpy.sqrt(4.0)", "print(value)",
    ]  # fmt: skip


def test_tracebacks_show_the_statement(tmp_path):
    error = invoke("fit", tmp_path / "none.csv", *FIT, "--debug").exception
    shown = "".join(traceback.format_exception(error))
    assert "<kmcf fit, statement 1>" in shown
    assert "recordings = kmcf.datasets.read_tables(" in shown
