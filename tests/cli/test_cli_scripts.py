"""The scripts that ``--python`` prints run, and give the numbers of the commands."""

import json
import os
import re

import numpy as np
import pandas
import pytest
from cli_cases import FIT, TEST, TRAIN, fail, fit_model, numbers, read_csv, succeed, walk, write_csv, write_training

import kmcf


def run_script(text, folder, monkeypatch):
    monkeypatch.chdir(folder)
    exec(compile(text, "script", "exec"), {})


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--transition-set", "scale=[0.2, 0.4]", "--trim", "0.1", "--recovery", "0.02"),
        ("--observation-kernel", "learnt:folds=3", "--state-kernel", "gaussian:multiplier=0.4", "--seed", "3"),
        ("--angle", "y", "--engine", "lowrank", "--tolerance", "auto", "--rank", "20", "--gaps", "keep"),
        ("--transition", "constant-velocity", "--resampling", "multinomial", "--resample-threshold", "1.5"),
    ],
    ids=["plain", "motion", "kernels", "angles", "velocity"],
)
def test_fit(words, tmp_path, monkeypatch):
    files = write_training(tmp_path)
    succeed("fit", *files, *FIT, *words, "-o", tmp_path / "command.kmcf")
    text = succeed("fit", *files, *FIT, *words, "-o", tmp_path / "script.kmcf", "--python").stdout
    assert not (tmp_path / "script.kmcf").exists()
    run_script(text, tmp_path, monkeypatch)
    one, two = (kmcf.load(tmp_path / f"{name}.kmcf") for name in ("command", "script"))
    assert repr(one) == repr(two)
    np.testing.assert_array_equal(one.filter(TEST[1]).mean, two.filter(TEST[1]).mean)
    one, two = (kmcf.store.describe_file(tmp_path / f"{name}.kmcf") for name in ("command", "script"))
    assert one == two


def test_filter(tmp_path, monkeypatch):
    model, _ = fit_model(tmp_path)
    files = [write_csv(tmp_path / f"{name}.csv", *walk(9, name)) for name in (1, 2)]
    rows = read_csv(succeed("filter", model, *files).stdout)
    text = succeed("filter", model, *files, "-o", tmp_path / "states.csv", "--python").stdout
    assert not (tmp_path / "states.csv").exists()
    run_script(text, tmp_path, monkeypatch)
    table = pandas.read_csv(tmp_path / "states.csv")
    np.testing.assert_array_equal(table[["mean_0", "mean_1"]], numbers(rows, "mean_x", "mean_y"))
    text = succeed("filter", model, *files, "-o", tmp_path / "states.parquet", "--python").stdout
    run_script(text, tmp_path, monkeypatch)
    parquet = pandas.read_parquet(tmp_path / "states.parquet")
    np.testing.assert_array_equal(parquet[["mean_0", "mean_1"]], numbers(rows, "mean_x", "mean_y"))
    assert "no --python" in fail("filter", model, "-", "--python")


def test_evaluate(tmp_path, monkeypatch, capsys):
    model, _ = fit_model(tmp_path)
    path = write_csv(tmp_path / "test.csv", *TEST)
    told = json.loads(succeed("evaluate", model, path, "--json").stdout)
    text = succeed("evaluate", model, path, "--python").stdout
    run_script(text, tmp_path, monkeypatch)
    printed = re.findall(r"rmse=([0-9.e-]+), median", capsys.readouterr().out)
    assert [float(number) for number in printed] == [told["sequences"][0]["rmse"], told["all"]["rmse"]]


def test_tune(tmp_path, monkeypatch, capsys):
    words = ("tune", *write_training(tmp_path), *FIT, "--trials", 3, "--observation-kernel", "gaussian")
    told = json.loads(succeed(*words, "-o", tmp_path / "one", "--json").stdout)
    run_script(succeed(*words, "-o", tmp_path / "two", "--python").stdout, tmp_path, monkeypatch)
    assert capsys.readouterr().out.startswith(f"{told['best_trial_value']!r} ")
    one, two = (kmcf.load(tmp_path / name / "model.kmcf") for name in ("one", "two"))
    np.testing.assert_array_equal(one.filter(TEST[1]).mean, two.filter(TEST[1]).mean)


def test_names_with_quotes_are_harmless(tmp_path, monkeypatch):
    path = tmp_path / "it's; import os.csv"
    write_csv(path, *TRAIN[0])
    path.write_text(path.read_text().replace("d0", 'd0")'))
    text = succeed("fit", path, *FIT, "-o", tmp_path / "m'.kmcf", "--python").stdout
    run_script(text, tmp_path, monkeypatch)
    assert kmcf.store.describe_file(tmp_path / "m'.kmcf")["notes"]["columns"]["observation"][0] == 'd0")'
    assert os.path.exists(path)
