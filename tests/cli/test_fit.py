"""``kmcf fit`` gives the filter that the Python API gives, whatever the files look like."""

import json

import numpy as np
import pandas
import pytest
from cli_cases import FIT, TEST, TRAIN, by_hand, fail, fit_model, succeed, walk, write_csv, write_training

import kmcf


def assert_same(model, flt, observations=TEST[1], controls=None):
    found = kmcf.load(model).filter(observations, controls)
    expected = flt.filter(observations, controls)
    for name in ("mean", "interval", "mode", "ess"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def test_the_model_is_that_of_the_python_api(tmp_path):
    model, told = fit_model(tmp_path)
    flt = by_hand(TRAIN)
    assert_same(model, flt)
    assert (told["examples"], told["sequences"]) == (120, 2)
    assert told["observation"] == ["d0", "d1", "d2"]
    assert told["epsilon"] == flt.epsilon_
    steps = np.concatenate([np.diff(states, axis=0) for states, _ in TRAIN])
    transition = kmcf.load(model).transition
    np.testing.assert_allclose(transition.scale_, np.sqrt(np.mean(steps**2, axis=0) / 0.5))  # per unit of time
    assert transition.step_ == 0.5


def test_options_reach_the_filter(tmp_path):
    words = "--epsilon 0.01 --delta 1e-3 --rule importance --engine lowrank --tolerance 1e-6 --n-resample 30 --seed 4"
    kernels = ["--observation-kernel", "matern:nu=2.5,multiplier=0.8", "--state-kernel", "laplace"]
    model, _ = fit_model(tmp_path, *words.split(), *kernels)
    expected = by_hand(TRAIN).set_params(
        epsilon=0.01, delta=1e-3, rule="importance", engine="lowrank", tolerance=1e-6, n_resample=30, random_state=4,
        observation_kernel=kmcf.kernels.Matern(nu=2.5, multiplier=0.8), state_kernel=kmcf.kernels.Laplace(),
    )  # fmt: skip
    assert_same(model, expected.fit(*(np.concatenate(part) for part in zip(*TRAIN, strict=True))))


@pytest.mark.parametrize("kind", ["npz", "parquet", "semicolons", "utf-16", "one file"])
def test_other_files_give_the_same_model(kind, tmp_path):
    states, observations = (np.concatenate(part) for part in zip(*TRAIN, strict=True))
    walks = np.repeat(["a", "b"], [70, 50])
    words = ["-s", "x,y", "-y", "d*", "--sequence", "walk"]
    path = tmp_path / "train.csv"
    if kind == "npz":
        path = tmp_path / "train.npz"
        np.savez(path, place=states, d=observations, walk=walks)
        words[1], words[3] = "place", "d"
    elif kind == "parquet":
        path = tmp_path / "train.parquet"
        table = {"x": states[:, 0], "y": states[:, 1], "walk": walks} | {f"d{j}": observations[:, j] for j in range(3)}
        pandas.DataFrame(table).to_parquet(path)
    else:
        write_csv(path, states, observations, walk=walks)
        if kind == "semicolons":
            path.write_text(path.read_text().replace(",", ";"))
        if kind == "utf-16":
            path.write_text(path.read_text(), encoding="utf-16")
            words += ["--encoding", "utf-16"]
    succeed("fit", path, *words, "-o", tmp_path / "model.kmcf")
    assert_same(tmp_path / "model.kmcf", by_hand(TRAIN, timed=False))


def test_controls_drive_a_linear_transition(tmp_path):
    rng = np.random.default_rng(0)
    controls = rng.normal(size=(200, 1))
    states = np.zeros((200, 1))
    for t in range(1, 200):
        states[t] = 0.8 * states[t - 1] + 0.5 * controls[t] + 0.1 * rng.normal()
    np.savez(tmp_path / "train.npz", x=states, y=states + 0.2, u=controls)
    words = ("-s", "x", "-y", "y", "-u", "u", "--transition", "linear-gaussian", "-o", tmp_path / "m.kmcf")
    succeed("fit", tmp_path / "train.npz", *words)
    transition = kmcf.load(tmp_path / "m.kmcf").transition
    assert transition.matrix_[0, 0] == pytest.approx(0.8, abs=0.05)
    assert transition.control_matrix_[0, 0] == pytest.approx(0.5, abs=0.05)
    flt = kmcf.KernelMonteCarloFilter(transition, random_state=0).fit(states, states + 0.2)
    assert_same(tmp_path / "m.kmcf", flt, states[:9], controls[:9])


@pytest.mark.slow
def test_fixed_parameters_recovery_and_angles(tmp_path):
    rng = np.random.default_rng(0)
    angle = np.cumsum(rng.normal(scale=0.5, size=150))
    np.savez(tmp_path / "turn.npz", a=np.angle(np.exp(1j * angle)), c=np.cos(angle), s=np.sin(angle))
    words = ("-s", "a", "-y", "c,s", "--angle", "a", "--recovery", "0.05", "-o", tmp_path / "m.kmcf")
    succeed("fit", tmp_path / "turn.npz", *words)
    walking, jump = kmcf.load(tmp_path / "m.kmcf").transition.transitions
    assert walking.scale_[0] == pytest.approx(0.5, rel=0.15)  # not 2π at every turn
    assert len(jump.states) == 150
    succeed("fit", tmp_path / "turn.npz", *words, "--transition-set", "scale=0.25")
    assert kmcf.load(tmp_path / "m.kmcf").transition.transitions[0].parameters()["scale"] == 0.25


@pytest.mark.slow
def test_constant_velocity_takes_the_step_of_the_file(tmp_path):
    states, observations = walk(80, 0)
    write_csv(tmp_path / "train.csv", states, observations)
    words = (*FIT, "--transition", "constant-velocity", "--velocities", "-o", tmp_path / "m.kmcf")
    succeed("fit", tmp_path / "train.csv", *words)
    transition = kmcf.load(tmp_path / "m.kmcf").transition
    assert transition.step == transition.step_ == 0.5


def test_velocities_last_as_long_as_the_time_that_passes(tmp_path):
    """A robot drives at 2 m/s, seen after 0.5 s and 1.5 s in turn: where it is told the time, nothing surprises it."""
    times = np.cumsum(np.tile([0.5, 1.5], 30))
    poses = np.stack([2.0 * times, np.zeros(60), np.zeros(60)], axis=1)
    table = {"t": times, "x": poses[:, 0], "y": poses[:, 1], "a": poses[:, 2], "v": np.full(60, 2.0), "w": np.zeros(60)}
    pandas.DataFrame(table | {"d": poses[:, 0]}).to_csv(tmp_path / "drive.csv", index=False)
    words = ("-s", "x,y,a", "-y", "d", "-u", "v,w", "--angle", "a", "--transition", "velocity", "-t", "t")
    succeed("fit", tmp_path / "drive.csv", *words, "-o", tmp_path / "m.kmcf", "--gaps", "keep")
    learnt = kmcf.load(tmp_path / "m.kmcf").transition.parameters()
    assert max(learnt["alpha1"], learnt["translation_floor"]) < 1e-6
    assert learnt["step"] == pytest.approx(1.5)


def test_a_fixed_step_is_the_time_of_a_row_where_there_are_no_times(tmp_path):
    states, observations = walk(80, 0)
    write_csv(tmp_path / "train.csv", states, observations)
    words = ("-s", "x,y", "-y", "d*", "--transition-set", "step=0.25", "-o", tmp_path / "m.kmcf")
    succeed("fit", tmp_path / "train.csv", *words)
    transition = kmcf.load(tmp_path / "m.kmcf").transition
    expected = np.sqrt(np.mean(np.diff(states, axis=0) ** 2, axis=0) / 0.25)
    np.testing.assert_allclose(transition.parameters()["scale"], expected)
    assert transition.parameters()["step"] == 0.25


def test_the_noise_of_recorded_moves_is_learnt_by_the_neighbours_asked_for(tmp_path):
    states, observations = walk(80, 0)
    write_csv(tmp_path / "train.csv", states, observations)
    words = ("-s", "x,y", "-y", "d*", "--transition", "recorded-moves", "-o", tmp_path / "m.kmcf")
    succeed("fit", tmp_path / "train.csv", *words, "--transition-set", "neighbours=3")
    expected = kmcf.transitions.RecordedMoves(3).fit(states, times=np.arange(80.0)).parameters()
    found = kmcf.load(tmp_path / "m.kmcf").transition.parameters()
    assert found["neighbours"] == 3
    np.testing.assert_allclose(found["noise"], expected["noise"])
    told = fail("fit", tmp_path / "train.csv", *words, "--transition-set", "neighbours=0")
    assert "neighbours = 0; it must be a whole number, at least 1" in str(told)


def test_moves_across_gaps_are_not_learnt(tmp_path):
    states, observations = walk(60, 0)
    jumped = states + np.where(np.arange(60) >= 30, 100.0, 0.0)[:, None]
    time = np.arange(60) + np.where(np.arange(60) >= 30, 50, 0)
    write_csv(tmp_path / "train.csv", jumped, observations, t=time)
    result = succeed("fit", tmp_path / "train.csv", *FIT, "-o", tmp_path / "m.kmcf")
    assert "1 gap in time ('train')" in result.stderr
    assert kmcf.load(tmp_path / "m.kmcf").transition.scale_.max() < 1
    succeed("fit", tmp_path / "train.csv", *FIT, "-o", tmp_path / "m.kmcf", "--gaps", "keep")
    jump = np.sqrt(100**2 / 51 / 59)  # one of 59 moves goes 100 in a time of 51
    np.testing.assert_allclose(kmcf.load(tmp_path / "m.kmcf").transition.scale_, jump, rtol=0.1)
    message = fail("fit", tmp_path / "train.csv", *FIT, "-o", tmp_path / "m.kmcf", "--gaps", "error")
    assert message == "in the sequence 'train' time advances by 51 to 80, where 1 is usual (1 such gaps)."


def test_rows_without_state_or_observation_are_no_examples(tmp_path):
    states, observations = (part.copy() for part in walk(60, 0))
    states[5], observations[9] = np.nan, np.nan
    result = succeed("fit", write_csv(tmp_path / "t.csv", states, observations), *FIT, "-o", tmp_path / "m", "--json")
    assert json.loads(result.stdout)["examples"] == 58
    assert "2 of 60 rows have no state or no observation" in result.stderr
    assert "empty in all rows" not in result.stderr


def test_a_column_that_is_empty_throughout_is_named_and_ignored(tmp_path):
    states, observations = (part.copy() for part in walk(60, 0))
    observations[:, 1] = np.nan
    result = succeed("fit", write_csv(tmp_path / "t.csv", states, observations), *FIT, "-o", tmp_path / "m", "--json")
    assert "1 of 3 columns of the observation are empty in all rows: 'd1'." in result.stderr
    seen = TEST[1].copy()
    seen[:, 1] = np.nan
    np.testing.assert_array_equal(
        kmcf.load(tmp_path / "m").filter(TEST[1]).mean, kmcf.load(tmp_path / "m").filter(seen).mean
    )


def test_what_people_see(tmp_path):
    result = succeed("fit", *write_training(tmp_path), *FIT, "-o", tmp_path / "new" / "m.kmcf")
    assert "GaussianRandomWalk" in result.stdout
    assert "\x1b[" not in result.output  # no colours where nobody sees them
    assert (tmp_path / "new" / "m.kmcf").exists()


HEADER = "t,x,y,d0,d1,d2\n"
ROW = "0,1,2,3,4,5\n"
BAD_FILES = {
    "is empty": b"",
    "holds no rows": HEADER.encode(),
    "line 3, column 'd1': 'abc' is not a number": (HEADER + ROW + "1,1,2,3,abc,5\n").encode(),
    "line 3, column 'x': '1_0' is not a number": (HEADER + ROW + "1,1_0,2,3,3,5\n").encode(),
    "line 3 has 2 cells, but the header has 6": (HEADER + ROW + "1,2\n").encode(),
    "two columns 'x'": HEADER.replace("y", "x").encode() + ROW.encode(),
    "a column without a name": HEADER.replace("y", "").encode() + ROW.encode(),
    "is not encoded in utf-8 (after line 2)": HEADER.encode() + ROW.encode() + "é".encode("latin-1") * 9000,
    "line 3, column 't': time 0 does not come after 0": (HEADER + ROW + ROW).encode(),
    "line 3, column 't': the time is missing": (HEADER + ROW + "," + ROW[2:]).encode(),
    "none of the 1 rows has both a state and an observation": (HEADER + "0,,,1,2,3\n").encode(),
    "no two successive known states": (HEADER + ROW).encode(),
    "line 2 is not a line of a table": (HEADER + '0,1,2,3,"4"x,5\n').encode(),
}


@pytest.mark.parametrize(("message", "content"), BAD_FILES.items(), ids=BAD_FILES)
def test_bad_files(message, content, tmp_path):
    (tmp_path / "bad.csv").write_bytes(content)
    assert message in fail("fit", tmp_path / "bad.csv", *FIT, "-o", tmp_path / "m.kmcf")
    assert not (tmp_path / "m.kmcf").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-s", "xx", "-y", "d0"), "train0.csv has no column 'xx' for the state; did you mean 'x'?"),
        (("-s", "x", "-y", "signal"), "no column 'signal' for the observation; it has t, x, y, d0, d1, d2."),
        (("-s", "x", "-y", "d*,d1"), "the column 'd1' of train0.csv is named twice as observation."),
        (("-s", "x", "-y", "d*", "-t", "time"), "no column 'time' for the time; it has t, x"),
        (("-s", "x", "-y", "d*", "-t", "d*"), "the time must be one column, but 'd*' names 3."),
        (("-s", "x", "-y", "d*", "--angle", "y"), "the angle 'y' is not one of the state columns (x)."),
        ((*FIT, "--transition", "randomwalk"), "unknown transition 'randomwalk'; did you mean 'random-walk'?"),
        ((*FIT, "--transition", "odometry"), "the transition 'odometry' turns a heading: name its column"),
        ((*FIT, "--transition-set", "scal=1"), "the transition 'random-walk' has no parameter 'scal'"),
        ((*FIT, "--transition-set", "scale"), "--transition-set scale: it must be NAME=VALUE."),
        ((*FIT, "--observation-kernel", "mattern"), "unknown kernel 'mattern'; did you mean 'matern'?"),
        (
            (*FIT, "--observation-kernel", "matern:multiplyer=1"),
            "'matern' has no parameter 'multiplyer'; did you mean 'multiplier'?",
        ),
        ((*FIT, "--tolerance", "small"), "--tolerance small: it must be a number or auto."),
        ((*FIT, "--rank", "high"), "--rank high: it must be a whole number, or a number below 1."),
        ((*FIT, "--rank", "1,2,3"), "it must be one value, or two for states and observations"),
        ((*FIT, "--rank", "0", "--engine", "lowrank"), "rank = 0"),
        ((*FIT, "--rank", "1.5", "--engine", "lowrank"), "rank = 1.5"),
        ((*FIT, "--n-examples", "few"), "--n-examples few: it must be a whole number, or a number below 1."),
        ((*FIT, "--resample-threshold", "often"), "--resample-threshold often: it must be a number or bound."),
        ((*FIT, "--epsilon", "-1"), "epsilon = -1.0"),
        ((*FIT, "--encoding", "utf-9"), "there is no encoding 'utf-9'"),
    ],
)
def test_bad_words(words, message, tmp_path):
    assert message in fail("fit", *write_training(tmp_path), *words, "-o", tmp_path / "m.kmcf")
    assert not (tmp_path / "m.kmcf").exists()


def test_settings_of_the_paper_that_are_no_counts(tmp_path):
    """A rank by the share of the trace, Algorithm 6 by its error, resampling by Theorem 1's bound."""
    out = tmp_path / "m.kmcf"
    words = ("--rank", "0.99", "--n-examples", "0.05", "--resample-threshold", "bound", "--engine", "lowrank")
    succeed("fit", *write_training(tmp_path), *FIT, *words, "--no-augment", "-o", out)
    flt = kmcf.load(out)
    assert (flt.rank, flt.n_examples, flt.resample_threshold) == (0.99, 0.05, "bound")
    assert flt.subsample_error_ <= 0.05
    assert max(flt.ranks_) < 100
    succeed("fit", *write_training(tmp_path), *FIT, "--engine", "lowrank", "--rank", "10,none", "-o", out)
    assert kmcf.load(out).rank == (10, None)


def test_files_that_do_not_go_together(tmp_path):
    first, *_ = write_training(tmp_path)
    other = write_csv(tmp_path / "other.csv", TEST[0], TEST[1][:, :2])
    assert "other.csv has the observations d0, d1, but train0.csv has d0, d1, d2." in fail("fit", first, other, *FIT)
    assert "there is no file" in fail("fit", tmp_path / "none.csv", *FIT)
    np.savez(tmp_path / "uneven.npz", x=np.zeros(3), y=np.zeros(4))
    assert "different lengths" in fail("fit", tmp_path / "uneven.npz", "-s", "x", "-y", "y")
    (tmp_path / "bad.npz").write_text("no archive")
    assert "cannot be read as an archive" in fail("fit", tmp_path / "bad.npz", "-s", "x", "-y", "y")
    (tmp_path / "bad.parquet").write_text("no table")
    assert "cannot be read as Parquet" in fail("fit", tmp_path / "bad.parquet", "-s", "x", "-y", "y")


def test_wrong_words_are_usage_errors(tmp_path):
    from cli_cases import invoke

    assert invoke("fit", tmp_path / "a.csv").exit_code == 2
    assert invoke("fit", tmp_path / "a.csv", *FIT, "--engine", "fast").exit_code == 2
    assert invoke("fitt").exit_code == 2


def test_debug_shows_where_it_went_wrong(tmp_path):
    from cli_cases import invoke

    result = invoke("fit", tmp_path / "none.csv", *FIT, "--debug")
    assert isinstance(result.exception, ValueError)
    result = invoke("--debug", "fit", tmp_path / "none.csv", *FIT)
    assert isinstance(result.exception, ValueError)


def test_a_folder_in_the_way(tmp_path):
    (tmp_path / "m.kmcf").mkdir()
    assert "is a folder" in fail("fit", *write_training(tmp_path), *FIT, "-o", tmp_path / "m.kmcf")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--background", "0.2"), "--background needs --support particles"),
        (("--support", "particles", "--rule", "kbr"), "with --support particles there is no --rule"),
    ],
)
def test_settings_of_the_other_filter_are_refused(words, sentence, tmp_path):
    assert sentence in fail("fit", *write_training(tmp_path), *FIT, *words)
