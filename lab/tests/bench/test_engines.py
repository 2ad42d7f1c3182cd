import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kmcf.cli.app import app
from kmcf_lab.bench.engines import run_bench, save_bench
from kmcf_lab.bench.fit import measure_fit
from kmcf_lab.bench.ranks import measure_ranks


@pytest.fixture(scope="module")
def rows():
    return run_bench(["1a"], [60], steps=6, report=lambda message: None)


def test_every_engine_is_measured_against_literal(rows):
    found = {row.method: row for row in rows}
    assert {"literal", "exact", "lowrank", "compressed", "auto", "kNN-PF, 5000 particles"} <= set(found)
    assert found["literal"].speed_up == 1.0
    assert found["exact"].largest_difference < 1e-9
    assert found["compressed"].largest_difference < 1e-3
    assert found["compressed"].speed_up == pytest.approx(
        found["literal"].milliseconds / found["compressed"].milliseconds
    )
    for row in rows:
        if row.shares:
            assert sum(row.shares.values()) == pytest.approx(1.0)
            assert set(row.shares) == {"kernel", "solve", "herding", "transition", "rest"}


def test_results_are_saved_with_what_made_them(rows, tmp_path):
    data, figure = save_bench(rows, tmp_path / "new", "kmcf bench")
    saved = json.loads(data.read_text())
    assert saved["about"]["command"] == "kmcf bench"
    assert len(saved["rows"]) == len(rows)
    assert figure.stat().st_size > 10_000


def test_fitting_is_measured_in_its_own_process():
    row = measure_fit(500)
    assert row.n == 500
    assert 0.01 < row.peak_gigabytes < 4
    assert row.seconds > 0


def test_rank_study_covers_all_models():
    rows = measure_ranks([10], repetitions=1, report=lambda message: None)
    assert len(rows) == 24  # exact, and rank 10 in two readings
    assert np.isfinite([row.mean for row in rows]).all()


def test_the_command_prints_and_saves(tmp_path):
    result = CliRunner().invoke(
        app, ["bench", "--n", "50", "--model", "1a", "--steps", "5", "--out", str(tmp_path)], env={"COLUMNS": "120"}
    )
    assert result.exit_code == 0, result.output
    assert "compressed" in result.output
    assert (tmp_path / "bench.json").exists()
    assert (tmp_path / "bench.png").exists()
