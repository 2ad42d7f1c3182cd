"""What a newcomer gets wrong in the first hour, and the sentence for it."""

import json

import numpy as np
import pytest
from cli_cases import FIT, TEST, fail, fit_model, read_csv, succeed, walk, write_csv, write_training

import kmcf


@pytest.fixture
def train(tmp_path):
    return write_csv(tmp_path / "train.csv", *walk(40, 0))


def test_no_header(train, tmp_path):
    lines = train.read_text().splitlines()[1:]
    (tmp_path / "bare.csv").write_text("\n".join(["0,0,1,1,2,3", *lines]))
    assert "bare.csv has no header: its first line (0, 0, 1, ...)" in fail("fit", tmp_path / "bare.csv", *FIT)
    (tmp_path / "bare.csv").write_text("\n".join(lines))
    assert "first line, which names the columns, holds numbers only." in fail("fit", tmp_path / "bare.csv", *FIT)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"PK\x03\x04\0\0", "is not a CSV, Parquet, NPZ or Excel file: it is an archive"),
        ("a.dat", b"\x89HDF\r\n\x1a\n", "it is HDF5"),
        ("a.csv", b"x,y\n\0\0\0", "it is binary"),
        ("a.csv", "x,y\n1,2\n".encode("utf-16"), "it is UTF-16 text; name its encoding: utf-16"),
        ("a.csv", b"PAR1....", "it is Parquet; its name must end in .parquet"),
        ("a.csv", b"x,y,d0\n", "holds no rows below its header"),
    ],
)
def test_files_that_are_no_tables(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert sentence in fail("fit", tmp_path / name, *FIT)


def test_excel_is_read_by_pandas_where_it_can(train, tmp_path, monkeypatch):
    import pandas

    path = tmp_path / "walk.xlsx"
    path.write_bytes(b"PK")
    table = pandas.read_csv(train)
    monkeypatch.setattr(pandas, "read_excel", lambda file: table if file == path else None)
    succeed("fit", path, *FIT, "-o", tmp_path / "m.kmcf")
    expected = kmcf.datasets.read_tables(train, state="x,y", observation="d*", time="t")[0]
    found = kmcf.datasets.read_tables(path, state="x,y", observation="d*", time="t")[0]
    np.testing.assert_allclose(found.observations, expected.observations, rtol=1e-12)

    def missing(file):
        raise ImportError("Missing optional dependency 'openpyxl'.")

    monkeypatch.setattr(pandas, "read_excel", missing)
    assert "'openpyxl'; or save the sheet as CSV." in fail("fit", path, *FIT)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-s", "X,y", "-y", "d*"), "no column 'X' for the state; did you mean 'x'? Upper and lower case differ."),
        (("-s", "x,y", "-y", "D*"), "did you mean 'd0', ...? Upper and lower case differ."),
        (("-s", "x,y", "-y", "d*", "-y", "d1x"), "no column 'd1x' for the observation; it has t, x, y, d0, d1, d2."),
        (("-s", "x,y", "-y", "d0,d1", "-y", "d3"), "did you mean 'd2'?"),
        (("-s", "x,y", "-y", "d*", "--not", "q7"), "no column 'q7' for the exclusion"),
    ],
)
def test_columns_that_are_not_there(words, sentence, train):
    assert sentence in fail("fit", train, *words)


def test_empty_cells_are_named(train, tmp_path):
    lines = train.read_text().splitlines()
    cells = lines[7].split(",")
    lines[7] = ",".join([*cells[:2], "", *cells[3:]])
    train.write_text("\n".join(lines))
    told = succeed("fit", train, *FIT, "-o", tmp_path / "m.kmcf").stderr
    assert "1 of 40 rows have no state or no observation" in told
    assert "train.csv, line 8, column 'y'" in told


def test_where_nothing_can_be_written_is_said_before_the_work(train, tmp_path, monkeypatch):
    monkeypatch.setattr(kmcf.KernelMonteCarloFilter, "fit", lambda *_: pytest.fail("the work began"))
    target = tmp_path / "train.csv" / "m.kmcf"
    assert fail("fit", train, *FIT, "-o", target).startswith(f"{target} cannot be written")
    assert fail("fit", train, *FIT, "-o", tmp_path) == f"{tmp_path} is a folder; give the name of a file."


def test_recordings_are_not_written_over(train, tmp_path, monkeypatch):
    model, whole = tmp_path / "m.kmcf", train.read_bytes()
    succeed("fit", train, *FIT, "-o", model)
    link = tmp_path / "link.csv"
    link.symlink_to(train)
    commands = {"fit": [*FIT], "filter": [], "calibrate": [], "adapt": [], "learn-transition": ["-p", "scale"]}
    for name in ("fit", "filter", "step"):
        monkeypatch.setattr(kmcf.KernelMonteCarloFilter, name, lambda *_, **__: pytest.fail("the work began"))
    for command, options in commands.items():
        known = [] if command == "fit" else [model]
        for out in (train, link):
            said = f"{out} is one of the files that are read, and would be lost; choose another name (--out)."
            assert fail(command, *known, train, *options, "-o", out) == said
    assert train.read_bytes() == whole


@pytest.mark.parametrize("gaps", ["fill", "error"])
def test_gaps_need_times(gaps, train, tmp_path):
    said = f"gaps = '{gaps}', but gaps show in times only: name the column of the time."
    assert fail("fit", train, "-s", "x,y", "-y", "d*", "--gaps", gaps, "-o", tmp_path / "m.kmcf") == said
    model = tmp_path / "timeless.kmcf"
    succeed("fit", train, "-s", "x,y", "-y", "d*", "-o", model)
    assert fail("filter", model, train, "--gaps", gaps) == said
    assert fail("filter", model, "-", "--gaps", gaps, input=train.read_text()) == said


def test_a_folder_that_is_made_is_told(train, tmp_path):
    told = succeed("fit", train, *FIT, "-o", tmp_path / "new" / "m.kmcf").stderr
    assert f"the folder {tmp_path / 'new'} does not exist; it will be made." in told
    assert (tmp_path / "new" / "m.kmcf").is_file()


def test_values_of_settings_have_types(train, tmp_path):
    """The kernel of the file normalises as it was told, whichever way true and false are written."""
    words = ("fit", train, "-s", "x,y", "-y", "d*", "-o", tmp_path / "m.kmcf", "--observation-kernel")
    for text, value in (("false", False), ("True", True), ("FALSE", False)):
        succeed(*words, f"hellinger:normalize={text}")
        assert kmcf.load(tmp_path / "m.kmcf").observation_kernel.get_params()["normalize"] is value
    assert "has normalize = 'no'; it must be True or False." in fail(*words, "hellinger:normalize=no")
    assert "has nu = 'smooth'; it must be a number." in fail(*words, "matern:nu=smooth")
    told = fail("fit", train, *FIT, "--transition-set", "scale=wide", "-o", tmp_path / "m.kmcf")
    assert "the transition 'random-walk' has scale = 'wide'; it must be a number or a list of numbers." in told


def test_constant_velocity_asks_for_velocities(tmp_path):
    """States (x, y) hold no velocities; derived ones are the differences of the positions over time."""
    files = write_training(tmp_path)
    words = ("fit", *files, *FIT, "--transition", "constant-velocity", "-o", tmp_path / "m.kmcf")
    told = fail(*words)
    assert "'y' is not the velocity of 'x'" in told
    assert "--velocities" in told
    about = json.loads(succeed(*words, "--velocities", "--json").stdout)
    assert about["state"] == ["x", "y", "x_velocity", "y_velocity"]
    truth = np.gradient(walk(70, 0)[0], 0.5, axis=0)
    learnt = kmcf.load(tmp_path / "m.kmcf").states_
    np.testing.assert_allclose(learnt[:70, 2:], truth, atol=1e-9)
    test = write_csv(tmp_path / "test.csv", *TEST)
    succeed("filter", tmp_path / "m.kmcf", test, "-o", tmp_path / "s.csv")
    assert {"mean_x", "mean_y_velocity"} <= set(read_csv(tmp_path / "s.csv")[0])
    scores = json.loads(succeed("evaluate", tmp_path / "m.kmcf", test, "--json").stdout)["all"]
    assert scores["steps"] == len(TEST[0])


def test_folders_and_patterns_in_place_of_files(tmp_path):
    assert fail("fit", tmp_path, *FIT) == f"{tmp_path} is a folder; name its files, as in {tmp_path}/*.csv."
    assert fail("fit", tmp_path / "day*.csv", *FIT) == f"no file matches {tmp_path}/day*.csv."


def test_a_pattern_for_everything_but_the_state(train, tmp_path):
    words = ("fit", train, "-s", "x,y", "-t", "t", "-y", "*", "-o", tmp_path / "m.kmcf", "--json")
    assert "named as state and as observation" in fail(*words)
    assert json.loads(succeed(*words, "--not", "t,x,y").stdout)["observation"] == ["d0", "d1", "d2"]


def test_excluded_columns(tmp_path):
    model, about = fit_model(tmp_path, "--not", "d1")
    assert about["observation"] == ["d0", "d2"]
    test = write_csv(tmp_path / "test.csv", *TEST)
    whole = succeed("filter", model, test).stdout
    assert succeed("filter", model, test, "-y", "d*", "--not", "d1").stdout == whole
    streamed = succeed("filter", model, "-", "-y", "d*", "--not", "d1", input=test.read_bytes()).stdout
    assert [row["mean_x"] for row in read_csv(streamed)] == [row["mean_x"] for row in read_csv(whole)]


def test_gaps_and_sequences_are_counted_alike(train, tmp_path):
    lines = train.read_text().splitlines()
    (tmp_path / "gap.csv").write_text("\n".join([*lines[:15], *lines[20:]]))
    result = succeed("fit", tmp_path / "gap.csv", *FIT, "-o", tmp_path / "m.kmcf", "--json")
    assert "1 gap in time ('gap'): sequences are split there, into 2 parts" in result.stderr
    about = json.loads(result.stdout)
    assert (about["sequences"], about["parts"]) == (1, 2)


def test_tune_names_the_row_without_a_state(train, tmp_path):
    lines = train.read_text().splitlines()
    lines[7] = ",".join([lines[7].split(",")[0], "", *lines[7].split(",")[2:]])
    train.write_text("\n".join(lines))
    told = fail("tune", train, *FIT, "--trials", "2", "-o", tmp_path / "out")
    assert told.startswith("train.csv, line 8, column 'x': states contain NaN")
