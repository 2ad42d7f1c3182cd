"""Runs as files: what is read back, by us or by others, is what was computed."""

import csv

import numpy as np
import pytest
from store_cases import OBSERVATIONS, STATES, TEST, VECTORS, assert_same_run, make

import kmcf
from kmcf.store import FileError

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def run():
    return make(angles=(0,)).fit(STATES, OBSERVATIONS).filter(TEST)


@pytest.fixture(scope="module")
def batch():
    states = np.c_[STATES, STATES[::-1]]
    return make().fit(states, VECTORS).filter(VECTORS[:12].reshape(3, 4, 4))


def test_npz_comes_back_as_it_was(run, batch, tmp_path):
    for saved in (run, batch, batch[1]):
        saved.save(tmp_path / "run.npz")
        loaded = kmcf.load(tmp_path / "run.npz")
        assert_same_run(saved, loaded)
        assert (loaded.angles, loaded.is_batch, len(loaded)) == (saved.angles, saved.is_batch, len(saved))
    assert_same_run(kmcf.FilterRun.load(tmp_path / "run.npz"), batch[1])
    with pytest.raises(LookupError, match="summaries only"):
        _ = kmcf.load(tmp_path / "run.npz")[0]


def test_numpy_reads_npz_without_us(run, tmp_path):
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as arrays:
        for name in ("time", "mean", "covariance", "interval", "ess", "coverage", "rejected"):
            np.testing.assert_array_equal(arrays[name], getattr(run, name))


def test_csv_is_plain_text_with_one_line_per_step(run, tmp_path):
    run.save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["time"]) for row in rows] == list(range(1, len(TEST) + 1))
    np.testing.assert_array_equal([float(row["mean_0"]) for row in rows], run.mean[:, 0])
    np.testing.assert_array_equal([float(row["lower_0"]) for row in rows], run.interval[:, 0, 0])
    assert [row["missing"] for row in rows] == [str(flag) for flag in run.missing]


def test_parquet_keeps_types_and_numbers(batch, tmp_path):
    pytest.importorskip("pyarrow")
    batch.save(tmp_path / "run.parquet")
    table = pandas.read_parquet(tmp_path / "run.parquet")
    assert list(table.columns[:2]) == ["sequence", "time"]
    np.testing.assert_array_equal(table["sequence"], np.repeat([0, 1, 2], 4))
    np.testing.assert_array_equal(table["mean_1"], batch.mean[:, :, 1].ravel())
    np.testing.assert_array_equal(table["ess"], batch.ess.ravel())
    assert table["rejected"].dtype == bool


def words():
    rooms = [f"room{i}" for i in range(4)] * 5
    flt = kmcf.KernelMonteCarloFilter(
        lambda states, control, rng: states,
        state_kernel=lambda a, b: np.array([[float(x == y) for y in b] for x in a]),
        random_state=0,
    )
    return flt.fit(rooms, np.arange(20.0) % 4).filter([2.0, 2.0, 3.0])


def test_states_that_are_words_can_be_saved_too(tmp_path):
    run = words()
    run.save(tmp_path / "run.npz")
    loaded = kmcf.load(tmp_path / "run.npz")
    assert list(loaded.mode) == run.mode
    with pytest.raises(TypeError, match="no mean is defined"):
        _ = loaded.mean
    run.save(tmp_path / "run.csv")
    assert list(pandas.read_csv(tmp_path / "run.csv")["mode"]) == run.mode
    pytest.importorskip("xarray")
    assert list(run.to_xarray()["mode"].values) == run.mode


def test_xarray_labels_what_it_holds(run, batch):
    pytest.importorskip("xarray")
    data = run.to_xarray()
    assert data["interval"].dims == ("time", "bound", "state")
    np.testing.assert_array_equal(data["interval"].sel(bound="upper", state=0), run.interval[:, 1, 0])
    np.testing.assert_array_equal(data["mean"].sel(time=3), run.mean[2])
    many = batch.to_xarray()
    assert many["covariance"].dims == ("sequence", "time", "row", "column")
    np.testing.assert_array_equal(many["coverage"].isel(sequence=1), batch[1].coverage)


@pytest.mark.parametrize("name", ["run", "run.txt", "run.npy", "run.kmcf"])
def test_other_endings_are_refused(name, run, tmp_path):
    with pytest.raises(ValueError, match=r"saved as \.npz, \.csv, \.parquet, but .* ends in"):
        run.save(tmp_path / name)


def test_objects_that_npz_cannot_hold(tmp_path):
    run = kmcf.FilterRun.of_columns({**words().columns(), "mode": [{}, {}, {}]})
    with pytest.raises(TypeError, match=r"states of this run are objects, .* \.csv"):
        run.save(tmp_path / "run.npz")


def test_a_filter_is_not_a_run(tmp_path):
    kmcf.store.save(kmcf.kernels.Gaussian(), tmp_path / "kernel.kmcf")
    with pytest.raises(FileError, match="holds a Gaussian, not a run"):
        kmcf.FilterRun.load(tmp_path / "kernel.kmcf")
    words().save(tmp_path / "run.npz")
    with pytest.raises(TypeError, match="needs nothing to be passed, but got transition"):
        kmcf.load(tmp_path / "run.npz", transition=print)
    assert kmcf.store.describe_file(tmp_path / "run.npz")["class"] == "FilterRun"
