"""``--window``: what a model was fitted with is noted in its file, and used without being told."""

import json

import numpy as np
import pytest
from cli_cases import FIT, TEST, TRAIN, fail, numbers, read_csv, succeed, write_csv, write_training

import kmcf
from kmcf.cli.windows import read_windows

CHEAP = ("--observation-kernel", "gaussian", "--engine", "exact", "--n-particles", "60")
MEANS = ("mean_x", "mean_y")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    seen = TEST[1].copy()
    seen[8] = np.nan
    test = write_csv(folder / "test.csv", TEST[0], np.where(np.isnan(seen), np.nan, seen))
    test.write_text(test.read_text().replace("nan", ""))
    return write_training(folder), test, seen


def stacked(observations, k, fill="nan"):
    """Stack rows by hand; where there is none, the one after it is repeated, or NaN."""
    rows = []
    for t, y in enumerate(observations):
        parts = [y]
        for age in range(1, k):
            older = observations[t - age] if t >= age else None
            otherwise = parts[-1] if fill == "repeat" else np.full(len(y), np.nan)
            parts.append(otherwise if older is None or np.isnan(older).all() else older)
        rows.append(np.full(k * len(y), np.nan) if np.isnan(y).all() else np.concatenate(parts))
    return np.array(rows)


def by_hand(k, fill="nan"):
    states = np.concatenate([one[0] for one in TRAIN])
    observations = np.concatenate([stacked(one[1], k, fill) for one in TRAIN])
    times = [0.5 * np.arange(len(one[0])) for one in TRAIN]
    walk = kmcf.transitions.GaussianRandomWalk().fit([one[0] for one in TRAIN], times=times)
    kernel = kmcf.kernels.named("gaussian")
    flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kernel, engine="exact", n_particles=60, random_state=0)
    return flt.fit(states, observations)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "fill"), [("3:repeat", "repeat"), ("1.5s", "nan")])
def test_fit_notes_the_window_and_every_command_uses_it(files, tmp_path, words, fill):
    train, test, seen = files
    model = tmp_path / "model.kmcf"
    told = json.loads(succeed("fit", *train, *FIT, *CHEAP, "--window", words, "-o", model, "--json").stdout)
    assert told["window"]["length"] == 3
    run = by_hand(3, fill).filter(stacked(seen, 3, fill), times=0.5 * np.arange(25))
    rows = read_csv(succeed("filter", model, test).stdout)
    np.testing.assert_allclose(numbers(rows, *MEANS), run.mean, rtol=1e-9)
    assert [row["missing"] for row in rows].count("true") == 1
    streamed = read_csv(succeed("filter", model, "-", input=test.read_bytes()).stdout)
    np.testing.assert_array_equal(numbers(streamed, *MEANS), numbers(rows, *MEANS))
    scores = json.loads(succeed("evaluate", model, test, "--json").stdout)["all"]
    rmse = np.sqrt(np.mean(np.sum((run.mean - TEST[0]) ** 2, axis=1)))
    assert scores["rmse"] == pytest.approx(rmse, rel=1e-9)


@pytest.mark.slow
def test_calibrate_keeps_the_window(files, tmp_path):
    train, test, _ = files
    model = tmp_path / "model.kmcf"
    succeed("fit", *train, *FIT, *CHEAP, "--window", 2, "-o", model)
    succeed("calibrate", model, *train)
    assert kmcf.load(model).calibration_.left_out
    assert "Window" in succeed("inspect", model).stdout
    streamed = read_csv(succeed("filter", model, "-", input=test.read_bytes()).stdout)
    expected = read_csv(succeed("filter", model, test).stdout)
    np.testing.assert_array_equal(numbers(streamed, "lower_x"), numbers(expected, "lower_x"))


def test_gaps_are_filled_alike_in_files_and_pipes(files, tmp_path):
    train, test, _ = files
    model, late = tmp_path / "model.kmcf", tmp_path / "late.csv"
    succeed("fit", *train, *FIT, *CHEAP, "--window", "1.5s", "-o", model)
    lines = test.read_text().splitlines()
    late.write_text("\n".join([*lines[:5], *lines[8:]]) + "\n")
    for gaps in ("fill", "split", "keep"):
        whole = read_csv(succeed("filter", model, late, "--gaps", gaps).stdout)
        piped = read_csv(succeed("filter", model, "-", "--gaps", gaps, input=late.read_bytes()).stdout)
        np.testing.assert_array_equal(numbers(whole, *MEANS), numbers(piped, *MEANS))


def test_the_script_does_the_same(files, tmp_path):
    train, _, _ = files
    model = tmp_path / "model.kmcf"
    words = ("fit", *train, *FIT, *CHEAP, "--window", "2:repeat", "--floor", "-9,none,auto", "-o", model)
    text = succeed(*words, "--python").stdout
    assert "kmcf.Window(2, fill='repeat')" in text
    assert "[-9.0, None, 'auto'] * window.length" in text
    exec(compile(text, "script", "exec"), {})
    assert kmcf.store.describe_file(model)["notes"]["window"] == {"length": 2, "seconds": None, "fill": "repeat"}


def test_tune_keeps_the_best_of_several(files, tmp_path):
    train, test, _ = files
    words = ("tune", *train, *FIT, *CHEAP, "--window", "1,2", "--trials", 2, "-o", tmp_path / "out", "--json")
    told = json.loads(succeed(*words).stdout)
    tried = told["windows_tried"]
    assert set(tried) == {"1", "2"}
    assert str(told["window"]["length"]) == min(tried, key=tried.get)
    assert told["untuned_value"] == pytest.approx(min(tried.values()))
    assert len(read_csv(succeed("filter", tmp_path / "out" / "model.kmcf", test).stdout)) == 25


def test_a_model_saved_from_python_is_told(files, tmp_path):
    _, test, seen = files
    model = tmp_path / "model.kmcf"
    by_hand(2).save(model)
    columns = ("-y", "d*", "--window")
    rows = read_csv(succeed("filter", model, test, *columns, 2).stdout)
    np.testing.assert_allclose(numbers(rows, "mean_state_0", "mean_state_1"), by_hand(2).filter(stacked(seen, 2)).mean)
    assert "was fitted to observations of 6 numbers" in fail("filter", model, test, *columns, 4)
    assert "say how many observations" in fail("filter", model, test, *columns, "5s")
    assert "1 observation columns (times 6, the length of the window)" in fail("filter", model, test, *columns, 6)


def test_bad_words(files, tmp_path):
    train, _, _ = files
    model = tmp_path / "model.kmcf"
    for word in ("0", "-2", "three", "2.5", "infs", "s", "", "1,,2", "3:zero"):
        with pytest.raises(ValueError, match="it must be a positive number of observations, as in 3, or of seconds"):
            read_windows(word)
    assert "only kmcf tune chooses" in fail("fit", *train, *FIT, "--window", "1,3", "-o", model)
    assert "seconds need times" in fail("fit", *train, *FIT[:4], "--window", "3s", "-o", model)
    assert "longer than the longest sequence, which has 70" in fail("fit", *train, *FIT, "--window", 10**9, "-o", model)
    assert "no --window" in fail("tune", *train, *FIT, "--window", 2, "--independent")
    several = ("--window", "1:repeat,2:repeat", "--floor", "-9,none,auto")
    assert "several lengths" in fail("tune", *train, *FIT, *several)
    assert "for silence" in fail("fit", *train, *FIT, "--window", 2, "--floor", "-9", "-o", model)
    assert not model.exists()


def test_files_and_models_that_do_not_fit(files, tmp_path):
    train, test, _ = files
    model = tmp_path / "model.kmcf"
    succeed("fit", *train, *FIT, *CHEAP, "--window", "1s", "-o", model)
    assert "which is used without being told" in fail("filter", model, test, "--window", 5)
    assert read_csv(succeed("filter", model, test, "--window", "1s").stdout)
    untimed = write_csv(tmp_path / "untimed.csv", *TEST)
    untimed.write_text(untimed.read_text().replace("t,", "when,", 1))
    assert "takes the observations of the last 1 s as one" in fail("filter", model, untimed)
    assert "was fitted to 3 observation columns" in fail("filter", model, test, "-y", "d0")
    kmcf.store.save(kmcf.load(model), model, notes={"window": {"length": 4}})
    assert "says about windows makes no sense" in fail("filter", model, test, "-y", "d*")
