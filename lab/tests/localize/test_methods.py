"""The methods on stand-ins for every kind of data."""

import numpy as np
import pytest
from stand_ins import carmen_file, cold_folder, mrclam_folder, radio_folder

from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.methods import fitted, unfitted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("ble", radio_folder),
        ("mrclam", mrclam_folder),
        ("intel", lambda folder: carmen_file(folder / "drive.log")),
        ("cold", cold_folder),
    ],
)
def test_methods_find_their_way_on_each_kind_of_data(name, make, tmp_path):
    if name == "cold":
        pytest.importorskip("cv2")
    experiment = Experiment(name, make(tmp_path), quick=True)
    fold = experiment.folds()[0]
    chance = np.mean(np.linalg.norm(fold.states[:, None, :2] - fold.test.states[:, :2], axis=2))
    for method in ("kmcf", "knn-pf", "kbr", "nai", "knn"):
        flt = fitted(unfitted(method, experiment.settings, fold, seed=0), fold)
        run = flt.filter(fold.test.observations, fold.test.controls)
        error = np.linalg.norm(run.mean[5:, :2] - fold.test.states[5:, :2], axis=1).mean()
        assert error < 0.6 * chance, method
