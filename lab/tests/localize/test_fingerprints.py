"""Fingerprints of folds and settings."""

from stand_ins import radio_folder

from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.fingerprints import digest_of


def test_other_data_or_settings_have_another_fingerprint(radio, tmp_path):
    same, other = (Experiment("ble", radio_folder(tmp_path / str(seed), seed=seed)).folds() for seed in (0, 1))
    for mine, again, different in zip(radio.folds(), same, other, strict=True):
        assert digest_of(mine) == digest_of(again) != digest_of(different)
    problem = radio.problem
    assert digest_of(problem.settings) != digest_of(problem.quick)
