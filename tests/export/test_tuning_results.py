"""What tuning found, as files that other programs read."""

import csv
import json

import numpy as np

import kmcf
from kmcf.datasets import columns_of, read_tables


def test_the_files_hold_the_filter_its_settings_and_all_trials(tmp_path):
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.normal(size=40))
    rows = [f"{x},{x + 0.1 * rng.normal()}" for x in states]
    (tmp_path / "walk.csv").write_text("\n".join(["x,seen", *rows]))
    recordings = read_tables(tmp_path / "walk.csv", state="x", observation="seen")
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(1.0), random_state=0)
    result = kmcf.tune(flt, recordings[0].states, recordings[0].observations, n_trials=3, random_state=0)
    told = kmcf.export.save_tuning(result, tmp_path / "new" / "folder", recordings)
    assert told == json.loads((tmp_path / "new" / "folder" / "settings.json").read_text())
    assert told["settings"] == result.best_params
    assert (told["trials"], told["examples"], told["best_trial_value"]) == (3, 40, result.best_value)
    with (tmp_path / "new" / "folder" / "trials.csv").open() as file:
        assert [float(row["value"]) for row in csv.DictReader(file)] == [trial.value for trial in result.trials]
    model = tmp_path / "new" / "folder" / "model.kmcf"
    assert kmcf.store.describe_file(model)["notes"] == {"columns": columns_of(recordings)}
    expected = result.best_filter.filter(recordings[0].observations[:9]).mean
    np.testing.assert_array_equal(kmcf.load(model).filter(recordings[0].observations[:9]).mean, expected)
