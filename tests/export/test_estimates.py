"""Tables of estimates hold the numbers of the runs, under the user's names."""

import io
import json

import numpy as np
import pandas
import pytest

import kmcf
from kmcf.datasets import Recording, read_tables
from kmcf.export import write_estimates

rng = np.random.default_rng(0)
STATES = rng.normal(size=(60, 2))
WALK = kmcf.transitions.GaussianRandomWalk(0.5)
FILTER = kmcf.KernelMonteCarloFilter(WALK, random_state=0).fit(STATES, STATES + 0.1)


@pytest.fixture
def recordings(tmp_path):
    rows = [f"{'ab'[k % 2]},{(k // 2) * 0.5 + (k > 7)},{STATES[k, 0]},{STATES[k, 1]}" for k in range(12)]
    (tmp_path / "walk.csv").write_text("\n".join(["who,when,seen,too", *rows]))
    return read_tables(tmp_path / "walk.csv", observation=["seen", "too"], time="when", sequence="who")


@pytest.fixture
def runs(recordings):
    return FILTER.filter_many([recording.observations for recording in recordings])


def read_csv(path):
    """Read a table whose numbers are valid JSON, digit by digit; the sequence and the reason of an alarm are text."""
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    text = {0, header.index("alarm_reason")}
    cells = [[cell if k in text else json.loads(cell) for k, cell in enumerate(row)] for row in rows]
    return pandas.DataFrame(cells, columns=header)


def assert_table(table, runs):
    np.testing.assert_array_equal(table[["mean_x", "mean_y"]], np.concatenate([run.mean for run in runs]))
    np.testing.assert_array_equal(table[["mode_x", "mode_y"]], np.concatenate([run.mode for run in runs]))
    bounds = np.concatenate([run.interval for run in runs])
    np.testing.assert_array_equal(table[["lower_x", "lower_y"]], bounds[:, 0])
    np.testing.assert_array_equal(table[["upper_x", "upper_y"]], bounds[:, 1])
    covariances = np.concatenate([run.covariance for run in runs])
    np.testing.assert_array_equal(table["covariance_x_y"], covariances[:, 0, 1])
    coverage = np.concatenate([run.coverage for run in runs])
    np.testing.assert_array_equal(table["coverage"], coverage)
    np.testing.assert_array_equal(table["low_coverage"], coverage < 0.1)
    np.testing.assert_array_equal(table["alarm"], np.concatenate([run.alarm for run in runs]))
    assert table["alarm_reason"].tolist() == [reason for run in runs for reason in run.alarm_reason]
    assert table["who"].tolist() == ["a"] * 6 + ["b"] * 6
    assert table["when"].tolist() == [0.0, 0.5, 1.0, 1.5, 3.0, 3.5] * 2
    assert table["missed_steps"].tolist() == [0, 0, 0, 0, 2, 0] * 2


def test_all_formats_hold_the_same_numbers(recordings, runs, tmp_path):
    for name, read in (
        ("states.csv", read_csv),
        ("states", read_csv),
        ("states.parquet", pandas.read_parquet),
        ("states.jsonl", lambda path: pandas.DataFrame(map(json.loads, path.read_text().splitlines()))),
    ):
        write_estimates(tmp_path / name, recordings, runs, states=["x", "y"])
        assert_table(read(tmp_path / name), runs)
    text = io.StringIO()
    write_estimates(text, recordings, runs, states=["x", "y"])
    assert text.getvalue() == (tmp_path / "states.csv").read_text()
    write_estimates(tmp_path / "states.txt", recordings, runs, states=["x", "y"], format="jsonl")
    assert (tmp_path / "states.txt").read_text() == (tmp_path / "states.jsonl").read_text()


def test_names_where_none_are_given():
    recordings = [Recording(name, np.arange(4.0), STATES[:4], STATES[:4]) for name in ("one", "two")]
    runs = FILTER.filter_many([recording.observations for recording in recordings])
    text = io.StringIO()
    write_estimates(text, recordings, runs)
    header, *rows = text.getvalue().splitlines()
    assert header.startswith("sequence,step,mean_state_0,mean_state_1,lower_state_0")
    assert not header.endswith("missed_steps")  # without times nobody knows
    assert [row.split(",")[:2] for row in rows] == [[name, str(k)] for name in ("one", "two") for k in (1, 2, 3, 4)]
    write_estimates(text, recordings[:1], runs[:1])
    assert text.getvalue().splitlines()[9].startswith("step,mean_state_0")


def test_scalar_states():
    flt = kmcf.KernelMonteCarloFilter(WALK, random_state=0).fit(STATES[:, 0], STATES[:, 0])
    text = io.StringIO()
    run = flt.filter(STATES[:3, 0])
    write_estimates(text, [Recording("walk", np.arange(3.0), STATES[:3, :1], STATES[:3, 0])], [run], states=["x"])
    assert [float(row.split(",")[1]) for row in text.getvalue().splitlines()[1:]] == run.mean.ravel().tolist()


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("states.xlsx", {}, r"written as \.csv, \.jsonl or \.parquet, but .* ends in '\.xlsx'"),
        ("states.csv", {"format": "xml"}, "format = 'xml'; it must be"),
        ("states.csv", {"format": "parquet"}, r"ends in \.parquet"),
        ("states.csv", {"states": ["x"]}, "names 1 coordinates, but the states have 2"),
    ],
)
def test_what_cannot_be_written(target, settings, message, recordings, runs, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_estimates(tmp_path / target, recordings, runs, **settings)
    assert not (tmp_path / target).exists()
