"""Empty cells in tables: what is there is used, and ``--floor`` says what silence stands for."""

import numpy as np
import pytest
from cli_cases import fail, invoke, numbers, read_csv, succeed, walk, write_csv

import kmcf

PLAIN = ("--observation-kernel", "asinh", "--engine", "exact", "--n-particles", 50)


def gappy_walk(steps, seed):
    states, distances = walk(steps, seed)
    gaps = np.array(distances)
    gaps[1::4, 1] = gaps[2::5, 2] = np.nan
    return states, gaps


def cells(observations):
    """Write NaN as empty cells, as a logger would."""
    return np.array([["" if np.isnan(value) else repr(float(value)) for value in row] for row in observations])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gaps")
    made = {}
    for name, seed, steps in (("train", 1, 120), ("test", 2, 15)):
        states, observations = gappy_walk(steps, seed)
        made[name] = write_csv(folder / f"{name}.csv", states, cells(observations)), states, observations
    return folder, made


def fitted(folder, made, *words):
    model = folder / "model.kmcf"
    succeed("fit", made["train"][0], "-s", "x,y", "-y", "d*", "-o", model, "--seed", 3, *PLAIN, *words)
    return model


@pytest.mark.parametrize("floor", [None, "-1,none,auto"])
def test_a_model_is_fitted_and_used_with_empty_cells(files, floor):
    folder, made = files
    model = fitted(folder, made, *(() if floor is None else ("--floor", floor)))
    out = folder / "out.csv"
    succeed("filter", model, made["test"][0], "-o", out)
    flt = kmcf.load(model)
    assert flt.floor == (None if floor is None else [-1.0, None, "auto"])
    expected = flt.filter(made["test"][2])
    np.testing.assert_allclose(numbers(read_csv(out), "mean_x", "mean_y"), expected.mean, rtol=1e-6)
    assert not expected.missing.any()
    lines = made["test"][0].read_bytes()
    streamed = succeed("filter", model, "-", input=lines).stdout
    np.testing.assert_allclose(numbers(read_csv(streamed), "mean_x", "mean_y"), expected.mean, rtol=1e-6)


def test_floors_that_make_no_sense(files):
    folder, made = files
    start = ("fit", made["train"][0], "-s", "x,y", "-y", "d*", "-o", folder / "none.kmcf")
    assert "--floor low: it must be a number, auto, or a list" in fail(*start, "--floor", "low")
    assert "floor has 2 entries, but the observations have 3 columns" in fail(*start, "--floor", "-1,-1")
    assert "silence lies at or below the smallest number" in fail(*start, "--floor", "100")
    assert not (folder / "none.kmcf").exists()
    assert "--floor" in invoke("fit", "--help", env={"COLUMNS": "200"}).stdout
