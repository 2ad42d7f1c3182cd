"""Smoothed runs in files, tables and pictures: always beside what the filter said."""

import numpy as np
import pytest
from every_filter import TEST, fitted

import kmcf


@pytest.fixture(scope="module")
def run():
    return fitted("KMCF").smooth(TEST.observations, TEST.controls)


@pytest.fixture(scope="module")
def batch():
    return fitted("KMCF").smooth(np.stack([TEST.observations, TEST.observations[::-1]]))


def test_a_file_remembers_that_it_was_smoothed(run, batch, tmp_path):
    for one in (run, batch):
        one.save(tmp_path / "run.npz")
        loaded = kmcf.load(tmp_path / "run.npz")
        assert loaded.is_smoothed
        assert loaded.is_batch == one.is_batch
        for name, values in one.columns().items():
            np.testing.assert_array_equal(loaded.columns()[name], values)
        for name, values in one.filtered.columns().items():
            np.testing.assert_array_equal(loaded.filtered.columns()[name], values)
        with pytest.raises(LookupError, match="from a file"):
            loaded.sample_paths(2)
    np.testing.assert_array_equal(loaded[1].filtered.mean, batch[1].filtered.mean)
    run.filtered.save(tmp_path / "filtered.npz")
    assert not kmcf.load(tmp_path / "filtered.npz").is_smoothed


def test_tables_have_both(run, batch):
    frame = run.to_dataframe()
    np.testing.assert_array_equal(frame["mean_0"], run.mean[:, 0])
    np.testing.assert_array_equal(frame["filtered_mean_0"], run.filtered.mean[:, 0])
    np.testing.assert_array_equal(frame["filtered_upper_0"], run.filtered.interval[:, 1, 0])
    assert not any(name.startswith("filtered") for name in run.filtered.to_dataframe())
    np.testing.assert_array_equal(batch.to_dataframe().loc[1]["filtered_mean_0"], batch[1].filtered.mean[:, 0])
    for one in (run, batch):
        labelled = one.to_xarray()
        np.testing.assert_array_equal(labelled["filtered_mean"], one.filtered.mean)
        np.testing.assert_array_equal(labelled["filtered_ess"], one.filtered.ess)


def test_csv_has_both(run, tmp_path):
    run.save(tmp_path / "run.csv")
    assert "filtered_mean_0" in (tmp_path / "run.csv").read_text().splitlines()[0]


def test_the_picture_shows_both(run):
    pytest.importorskip("matplotlib").use("agg")
    lines = {line.get_label(): line.get_ydata() for line in run.plot()[0].get_lines()}
    np.testing.assert_array_equal(lines["smoothed mean"], run.mean[:, 0])
    np.testing.assert_array_equal(lines["filtered mean"], run.filtered.mean[:, 0])
    assert "filtered mean" not in {line.get_label() for line in run.filtered.plot()[0].get_lines()}
