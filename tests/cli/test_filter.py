"""``kmcf filter`` writes the numbers of the Python API, whether it reads files or lines from stdin."""

import json

import numpy as np
import pandas
import pytest
from cli_cases import TEST, TRAIN, fail, fit_model, invoke, numbers, read_csv, succeed, walk, write_csv

import kmcf

MEANS = ("mean_x", "mean_y")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--engine", "exact", "--n-particles", 60)[0]


@pytest.fixture
def test_file(tmp_path):
    observations = TEST[1].copy()
    observations[7] = np.nan
    observations[12] = 1e6  # like nothing ever seen
    return write_csv(tmp_path / "test.csv", TEST[0], observations)


def expected_run(model, path):
    table = pandas.read_csv(path)
    with pytest.warns(kmcf.RejectedStepWarning):
        return kmcf.load(model).filter(table[["d0", "d1", "d2"]].to_numpy(), times=table["t"])


def assert_rows(rows, run, rtol=0.0):
    """Compare everything that was written with a run."""
    close = {"rtol": rtol, "atol": rtol}
    np.testing.assert_allclose(numbers(rows, *MEANS), run.mean, **close)
    np.testing.assert_allclose(numbers(rows, "mode_x", "mode_y"), run.mode, **close)
    np.testing.assert_allclose(numbers(rows, "lower_x", "lower_y"), run.interval[:, 0], **close)
    np.testing.assert_allclose(numbers(rows, "upper_x", "upper_y"), run.interval[:, 1], **close)
    covariances = numbers(rows, "covariance_x_x", "covariance_x_y", "covariance_y_y")
    np.testing.assert_allclose(covariances, run.covariance.reshape(-1, 4)[:, [0, 1, 3]], **close)
    np.testing.assert_allclose(numbers(rows, "ess", "coverage"), np.stack([run.ess, run.coverage], axis=1), **close)
    assert [row["alarm_reason"] for row in rows] == run.alarm_reason.tolist()
    for name in ("rejected", "missing", "alarm"):
        assert [row[name] == "true" for row in rows] == getattr(run, name).tolist()
    assert [row["low_coverage"] == "true" for row in rows] == (run.coverage < 0.1).tolist()


def test_a_file_gives_the_numbers_of_the_python_api(model, test_file, tmp_path):
    result = succeed("filter", model, test_file, "-o", tmp_path / "states.csv")
    assert "25 estimates of 1 sequence, 1 observation rejected." in result.stderr
    assert "of 25 estimates should not be believed (alarm): " in result.stderr
    rows = read_csv(tmp_path / "states.csv")
    run = expected_run(model, test_file)
    assert run.missing[7]
    assert run.rejected[12]
    assert run.alarm[12]
    assert_rows(rows, run)
    assert [row["t"] for row in rows] == [str(0.5 * k) for k in range(25)]
    assert read_csv(succeed("filter", model, test_file).stdout) == rows
    succeed("filter", model, test_file, "-o", tmp_path / "states.parquet")
    table = pandas.read_parquet(tmp_path / "states.parquet")
    np.testing.assert_array_equal(table[list(MEANS)].to_numpy(), run.mean)


def test_a_stream_gives_the_same_numbers(model, test_file):
    result = succeed("filter", model, "-", input=test_file.read_bytes())
    assert_rows(read_csv(result.stdout), expected_run(model, test_file), rtol=1e-12)
    assert "1 observation" in result.stderr or "an observation was" in result.stderr
    assert "of 25 estimates should not be believed (alarm): " in result.stderr


def test_json_lines(model, test_file):
    run = expected_run(model, test_file)
    for words in ((test_file,), ("-",)):
        result = succeed("filter", model, *words, "--json", input=test_file.read_bytes())
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        np.testing.assert_allclose([[row["mean_x"], row["mean_y"]] for row in rows], run.mean, rtol=1e-12)
        assert [row["missing"] for row in rows] == run.missing.tolist()
        assert rows[7]["coverage"] is None or rows[7]["coverage"] >= 0


def interleaved(path):
    """Write two sequences whose rows alternate."""
    (one, seen), (two, seen_too) = walk(12, 7), walk(8, 8)
    states = np.concatenate([np.stack([one[:8], two], axis=1).reshape(-1, 2), one[8:]])
    observations = np.concatenate([np.stack([seen[:8], seen_too], axis=1).reshape(-1, 3), seen[8:]])
    labels = ["a", "b"] * 8 + ["a"] * 4
    times = [*np.repeat(np.arange(8), 2), *range(8, 12)]
    return write_csv(path, states, observations, t=times, who=labels), [seen, seen_too]


def test_sequences_of_different_lengths_and_mixed_rows(model, tmp_path):
    path, sequences = interleaved(tmp_path / "two.csv")
    runs = kmcf.load(model).filter_many(sequences, times=[np.arange(12.0), np.arange(8.0)])
    for words in ((path,), ("-",)):
        result = succeed("filter", model, *words, "--sequence", "who", input=path.read_bytes())
        rows = read_csv(result.stdout)
        for label, run in zip("ab", runs, strict=True):
            found = numbers([row for row in rows if row["who"] == label], *MEANS)
            np.testing.assert_allclose(found, run.mean, rtol=1e-12)


def test_several_files_are_several_sequences(model, tmp_path):
    first = write_csv(tmp_path / "one.csv", *walk(5, 7))
    second = write_csv(tmp_path / "two.csv", *walk(9, 8))
    rows = read_csv(succeed("filter", model, first, second).stdout)
    assert [row["file"] for row in rows] == ["one"] * 5 + ["two"] * 9
    times = [0.5 * np.arange(5), 0.5 * np.arange(9)]
    runs = kmcf.load(model).filter_many([walk(5, 7)[1], walk(9, 8)[1]], times=times)
    np.testing.assert_array_equal(numbers(rows, *MEANS), np.concatenate([run.mean for run in runs]))


@pytest.mark.parametrize("source", ["file", "stream"])
def test_a_model_fitted_without_times_counts_rows(source, tmp_path):
    states, observations = walk(40, 0)
    path = write_csv(tmp_path / "walk.csv", states, observations, t=np.cumsum(np.tile([1.0, 1.4], 20)))
    succeed("fit", path, "-s", "x,y", "-y", "d*", "-o", tmp_path / "m.kmcf")
    given = path if source == "file" else "-"
    result = succeed("filter", tmp_path / "m.kmcf", given, "-t", "t", input=path.read_bytes())
    assert "m.kmcf was fitted without times, so every row counts as one step" in result.stderr
    expected = kmcf.load(tmp_path / "m.kmcf").filter(observations)
    np.testing.assert_allclose(numbers(read_csv(result.stdout), *MEANS), expected.mean, rtol=1e-12)


@pytest.mark.parametrize("source", ["file", "stream"])
def test_gaps_in_time(model, source, tmp_path):
    observations = walk(10, 7)[1]
    times = np.array([0.0, 0.5, 1.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5])  # two steps are missing before 2.5
    path = write_csv(tmp_path / "gap.csv", *walk(10, 7), t=times)
    flt = kmcf.load(model)
    given = (path,) if source == "file" else ("-",)

    def rows(*words):
        return read_csv(succeed("filter", model, *given, *words, input=path.read_bytes()).stdout)

    kept = rows()
    assert [int(row["missed_steps"]) for row in kept] == [0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(numbers(kept, *MEANS), flt.filter(observations, times=times).mean, rtol=1e-12)
    assert np.abs(numbers(kept, *MEANS)[3] - flt.filter(observations).mean[3]).max() > 1e-3  # a long move is uncertain
    filled = rows("--gaps", "fill")
    with_gap = [*observations[:3], None, None, *observations[3:]]
    np.testing.assert_allclose(numbers(filled, *MEANS), flt.filter(with_gap).mean, rtol=1e-12)
    assert [float(row["t"]) for row in filled[2:6]] == [1.0, 1.5, 2.0, 2.5]
    assert [row["missing"] for row in filled[2:6]] == ["false", "true", "true", "false"]
    parts = flt.filter_many([observations[:3], observations[3:]])
    split = np.concatenate([run.mean for run in parts])
    np.testing.assert_allclose(numbers(rows("--gaps", "split"), *MEANS), split, rtol=1e-12)
    assert "time advances by 1.5" in fail("filter", model, *given, "--gaps", "error", input=path.read_bytes())


def test_dates_come_back_as_dates(model, tmp_path):
    times = [f"2026-03-01T12:00:{k // 2:02d}.{5 * (k % 2)}" for k in range(8)]
    path = write_csv(tmp_path / "dated.csv", *walk(8, 7), t=times)
    for words in ((path,), ("-",)):
        rows = read_csv(succeed("filter", model, *words, input=path.read_bytes()).stdout)
        assert rows[0]["t"] == "2026-03-01T12:00:00+00:00"
        assert rows[3]["t"] == "2026-03-01T12:00:01.500000+00:00"
        assert {row["missed_steps"] for row in rows} == {"0"}


def test_controls(tmp_path):
    rng = np.random.default_rng(0)
    controls = rng.normal(size=(120, 1))
    states = np.cumsum(0.5 * controls + 0.1 * rng.normal(size=(120, 1)), axis=0)
    np.savez(tmp_path / "train.npz", x=states, y=states + 0.1, u=controls)
    model = tmp_path / "m.kmcf"
    words = ("-s", "x", "-y", "y", "-u", "u", "--transition", "linear-gaussian", "--engine", "exact", "-o", model)
    succeed("fit", tmp_path / "train.npz", *words)
    rows = [f"{y},{u}" for y, u in zip(states[:9, 0], controls[:9, 0], strict=True)]
    (tmp_path / "test.csv").write_text("\n".join(["y_0,u_0", *rows]))
    expected = kmcf.load(model).filter(states[:9], controls[:9])
    for given in (tmp_path / "test.csv", "-"):
        found = read_csv(succeed("filter", model, given, input=(tmp_path / "test.csv").read_bytes()).stdout)
        np.testing.assert_allclose(numbers(found, "mean_x_0"), expected.mean, rtol=1e-12)
        assert [int(row["step"]) for row in found] == list(range(1, 10))
    (tmp_path / "test.csv").write_text("\n".join(["y_0,u_0", *rows[:2], "0.5,"]))
    assert "row 3 of the sequence 'test' in test.csv has no control." in fail("filter", model, tmp_path / "test.csv")
    message = fail("filter", model, "-", input=(tmp_path / "test.csv").read_bytes())
    assert message == "stdin, line 4: the control is missing."


def test_a_model_saved_from_python_needs_names(tmp_path):
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), random_state=0)
    flt.fit(*TRAIN[0]).save(tmp_path / "m.kmcf")
    path = write_csv(tmp_path / "test.csv", *TEST)
    assert "does not say which columns are observations" in fail("filter", tmp_path / "m.kmcf", path)
    rows = read_csv(succeed("filter", tmp_path / "m.kmcf", path, "-y", "d*").stdout)
    np.testing.assert_array_equal(numbers(rows, "mean_state_0", "mean_state_1"), flt.filter(TEST[1]).mean)


def test_columns_that_only_the_training_files_had(tmp_path):
    model, _ = fit_model(tmp_path)
    (tmp_path / "bare.csv").write_text("d0,d1,d2\n1,2,3\n,,\n")
    for given in (tmp_path / "bare.csv", "-"):
        result = succeed("filter", model, given, input=(tmp_path / "bare.csv").read_bytes())
        assert "has no column 't', so it is read without time." in result.stderr
        assert [row["missing"] for row in read_csv(result.stdout)] == ["false", "true"]


def test_bad_models_and_words(model, test_file, tmp_path):
    words = ("filter", model, test_file)
    message = "was fitted to 3 observation columns, but test.csv gives 2 (d0, d1)."
    assert message in fail(*words, "-y", "d0,d1")
    assert "was fitted to 3 observation columns" in fail("filter", model, "-", "-y", "d0", input=test_file.read_bytes())
    assert "there is no model file" in fail("filter", tmp_path / "none.kmcf", test_file)
    assert "it is not a file written by kmcf" in fail("filter", test_file, test_file)
    assert "- reads lines from stdin" in fail(*words, "-")
    kmcf.store.save(kmcf.kernels.Gaussian(), tmp_path / "kernel.kmcf")
    assert "holds a Gaussian, not a filter" in fail("filter", tmp_path / "kernel.kmcf", test_file)
    own = kmcf.KernelMonteCarloFilter(lambda states, control, rng: states, random_state=0).fit(*TRAIN[0])
    own.save(tmp_path / "own.kmcf")
    assert "needs transition to be passed again" in fail("filter", tmp_path / "own.kmcf", test_file)
    walking = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk())
    walking.save(tmp_path / "blank.kmcf")
    assert "was not fitted" in fail("filter", tmp_path / "blank.kmcf", test_file)
    flt = kmcf.load(model)
    kmcf.store.save(flt, tmp_path / "odd.kmcf", notes={"columns": {"observation": 7}})
    assert "makes no sense" in fail("filter", tmp_path / "odd.kmcf", test_file)


def test_a_failed_command_leaves_the_old_file(model, tmp_path):
    (tmp_path / "states.csv").write_text("old")
    write_csv(tmp_path / "bad.csv", TEST[0], np.where(TEST[1] > 3, np.inf, TEST[1]))
    assert "infinity" in fail("filter", model, tmp_path / "bad.csv", "-o", tmp_path / "states.csv")
    assert (tmp_path / "states.csv").read_text() == "old"
    path = write_csv(tmp_path / "t.csv", *TEST)
    assert "File exists" in fail("filter", model, path, "-o", path / "s.csv")  # a file is no folder


@pytest.mark.parametrize(
    ("file", "name", "words"),
    [
        ("test.csv", "states.xlsx", "written as .csv"),
        ("test.csv", "copy.kmcf", "written as .csv"),
        ("test.csv", "states.json", "add --json"),
        ("-", "states.parquet", "cannot be written line by line"),
    ],
)
def test_names_that_promise_another_format(file, name, words, model, test_file, tmp_path):
    path = file if file == "-" else test_file
    assert words in fail("filter", model, path, "-o", tmp_path / name, input=test_file.read_bytes())
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("stream", [False, True])
def test_folders_of_the_output_are_made(stream, model, test_file, tmp_path):
    out = tmp_path / "new" / "folder" / "states.csv"
    succeed("filter", model, "-" if stream else test_file, "-o", out, input=test_file.read_bytes())
    assert len(read_csv(out)) == 25


def test_of_an_empty_file_only_that_is_told(model, tmp_path):
    (tmp_path / "empty.csv").touch()
    result = invoke("filter", model, tmp_path / "empty.csv")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [f"kmcf filter: {tmp_path}/empty.csv is empty."]


def test_an_infinite_cell_is_named(tmp_path):
    model, _ = fit_model(tmp_path)
    path = tmp_path / "hole.csv"
    path.write_text("t,p,q,d0,d1,d2\n0,1,1,1,2,3\n0.5,1,1,1,inf,3\n1,1,1,1,2,3\n1.5,1,1,1,2,3\n")
    where = "hole.csv, line 3, column 'd1'"
    assert where in fail("filter", model, path)
    assert where in fail("evaluate", model, path, "-s", "p,q")
    assert where in fail("fit", path, "-s", "p,q", "-y", "d*", "-o", tmp_path / "m.kmcf")
    assert where in fail("tune", path, "-s", "p,q", "-y", "d*", "-o", tmp_path / "tuned")


def test_smoothing_gives_the_numbers_of_the_python_api(model, test_file, tmp_path):
    table = pandas.read_csv(test_file)
    seen = table[["d0", "d1", "d2"]].to_numpy()
    for words, lag in ((("--smooth",), None), (("--lag", 2), 2)):
        succeed("filter", model, test_file, *words, "-o", tmp_path / "states.csv")
        rows = read_csv(tmp_path / "states.csv")
        with pytest.warns(kmcf.RejectedStepWarning):
            run = kmcf.load(model).smooth(seen, times=table["t"], lag=lag)
        assert_rows(rows, run)
        filtered = numbers(rows, "filtered_mean_x", "filtered_mean_y")
        np.testing.assert_allclose(filtered, run.filtered.mean, rtol=0)
        assert np.abs(filtered - run.mean)[:-1].max() > 0
    assert "flt.smooth_many(" in succeed("filter", model, test_file, "--smooth", "--python").stdout


def test_a_stream_answers_late(model, test_file):
    table = pandas.read_csv(test_file)
    with pytest.warns(kmcf.RejectedStepWarning):
        run = kmcf.load(model).smooth(table[["d0", "d1", "d2"]].to_numpy(), times=table["t"], lag=3)
    result = succeed("filter", model, "-", "--lag", 3, input=test_file.read_bytes())
    rows = read_csv(result.stdout)
    assert_rows(rows, run, rtol=1e-12)
    assert [row["t"] for row in rows] == [str(0.5 * k) for k in range(25)]


def test_ways_to_smooth_that_cannot_be(model, test_file):
    assert "choose one of them" in fail("filter", model, test_file, "--smooth", "--lag", 2)
    assert "--lag K answers K rows later" in fail("filter", model, "-", "--smooth", input=b"t,d0,d1,d2\n")


def test_observations_that_nothing_resembles_end_in_a_sentence_without_rejection(tmp_path):
    known = write_csv(tmp_path / "known.csv", *walk(30, seed=3))
    words = ("--no-reject", "--support", "particles", "--observation-kernel", "gaussian:bandwidth=1")
    succeed("fit", known, "-s", "x,y", "-y", "d*", *words, "-o", tmp_path / "m.kmcf")
    far = write_csv(tmp_path / "far.csv", np.zeros((2, 2)), np.full((2, 3), 1e3))
    assert fail("filter", tmp_path / "m.kmcf", far).startswith("the posterior weights sum to zero")


@pytest.mark.parametrize("gaps", ["split", "fill", "keep"])
def test_late_answers_around_gaps(model, tmp_path, gaps):
    states, observations = walk(12, seed=3)
    path = write_csv(tmp_path / "gap.csv", states, observations)
    lines = path.read_text().splitlines(keepends=True)
    text = "".join(lines[:5] + lines[8:])
    path.write_text(text)
    words = ("--gaps", gaps, "--lag", 2)
    succeed("filter", model, path, *words, "-o", tmp_path / "whole.csv")
    whole, late = read_csv(tmp_path / "whole.csv"), read_csv(succeed("filter", model, "-", *words, input=text).stdout)
    assert [row["t"] for row in late] == [row["t"] for row in whole]
    np.testing.assert_allclose(numbers(late, *MEANS), numbers(whole, *MEANS), rtol=1e-9)
