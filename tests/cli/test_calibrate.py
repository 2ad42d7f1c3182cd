"""``kmcf fit --calibrate`` and ``kmcf calibrate``: the intervals that Python would give, in the model's file."""

import json

import numpy as np
import pytest
from cli_cases import fail, read_csv, succeed, write_csv

import kmcf


def stay(steps, seed):
    """Return a walk that stays where the others are, and two noisy views of it."""
    rng = np.random.default_rng(seed)
    states = np.zeros((steps, 2))
    for t in range(1, steps):
        states[t] = 0.7 * states[t - 1] + rng.normal(size=2)
    return states, states + 0.3 * rng.normal(size=states.shape)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    return [write_csv(folder / f"walk{k}.csv", *stay(40, k)) for k in range(4)]


COLUMNS = ("-s", "x,y", "-y", "d*", "-t", "t", "--observation-kernel", "gaussian")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kmcf.CalibrationWarning")  # few independent steps
def test_fit_leaves_sequences_out_in_turn(files, tmp_path):
    out = tmp_path / "model.kmcf"
    told = json.loads(succeed("fit", *files[:3], *COLUMNS, "--calibrate", "-o", out, "--json").stdout)
    assert "steps left out" in told["calibration"]
    flt = kmcf.load(out)
    states, observations = (np.concatenate([stay(40, k)[j] for k in range(3)]) for j in (0, 1))
    kernel = kmcf.kernels.named("gaussian")
    again = kmcf.KernelMonteCarloFilter(flt.transition, observation_kernel=kernel, random_state=0)
    again.fit(states, observations).calibrate(states, observations, groups=np.repeat([0, 1, 2], 40))
    np.testing.assert_allclose(flt.calibration_.factor(), again.calibration_.factor(), rtol=1e-6)
    rows = read_csv(succeed("filter", out, files[3]).stdout)
    expected = flt.filter(stay(40, 3)[1]).interval
    np.testing.assert_allclose([float(row["lower_x"]) for row in rows], expected[:, 0, 0], rtol=1e-6)


@pytest.mark.slow
def test_calibrate_takes_other_files_and_keeps_the_notes(files, tmp_path):
    model, out = tmp_path / "model.kmcf", tmp_path / "better.kmcf"
    succeed("fit", *files[:2], *COLUMNS, "-o", model)
    before = model.read_bytes()
    told = json.loads(succeed("calibrate", model, files[2], "-o", out, "--json").stdout)
    assert told["steps"] == 40
    assert told["left_out"] is False
    assert len(told["stretched_by"]) == 2
    assert model.read_bytes() == before
    assert json.loads(succeed("inspect", out, "--json").stdout)["notes"]["columns"]["state"] == ["x", "y"]
    succeed("calibrate", model, *files[:2])
    assert kmcf.load(model).calibration_.left_out
    scores = json.loads(succeed("evaluate", out, files[3], "--json").stdout)["all"]
    run = kmcf.load(out).filter(stay(40, 3)[1], keep_beliefs=True)
    truth = stay(40, 3)[0]
    assert scores["crps"] == pytest.approx(np.mean([b.crps(x) for b, x in zip(run, truth, strict=True)]), rel=1e-9)
    lower, upper = run.interval[:, 0], run.interval[:, 1]
    outside = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    assert scores["interval_score"] == pytest.approx(np.mean(upper - lower + 40 * outside), rel=1e-9)


def test_the_script_does_the_same(files, tmp_path):
    shown = succeed("fit", files[0], *COLUMNS, "--calibrate", "--python").stdout
    assert "flt.calibrate(" in shown
    model = tmp_path / "model.kmcf"
    succeed("fit", files[0], *COLUMNS, "-o", model)
    assert "'notes'" in succeed("calibrate", model, files[1], "--python").stdout


def test_what_cannot_be_calibrated(files, tmp_path):
    model = tmp_path / "model.kmcf"
    succeed("fit", files[0], *COLUMNS, "-o", model)
    short = write_csv(tmp_path / "short.csv", *stay(8, 9))
    assert "at least 20 examples" in fail("calibrate", model, short)
    assert "there is no model file" in fail("calibrate", tmp_path / "none.kmcf", short)
    assert kmcf.load(model).calibration_ is None
