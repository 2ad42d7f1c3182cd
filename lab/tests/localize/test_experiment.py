"""Experiments: which folds, which settings, tuned or not."""

import json
from dataclasses import replace

import pytest

from kmcf_lab.localize.experiment import Experiment, chosen_folds, run_experiment


def test_folds_are_chosen_by_name_or_number(radio):
    assert chosen_folds(radio, None) == ["walk_0", "walk_1", "walk_2"]
    assert chosen_folds(radio, "2") == ["walk_0", "walk_2"]
    assert chosen_folds(radio, "walk_1; walk_0") == ["walk_1", "walk_0"]
    for wrong, words in {"walk_7": "there is no fold 'walk_7'", "0": "at least one", ";": "there are walk_0"}.items():
        with pytest.raises(ValueError, match=words):
            chosen_folds(radio, wrong)


def test_tuning_compares_the_ways_to_go(robots, tmp_path):
    study = tmp_path / "study.jsonl"
    ready = robots.ready("robot 1", "knn-pf", study=study)
    values = {}
    for way, file in (("", study), ("often", tmp_path / "study-1.jsonl"), ("never", tmp_path / "study-2.jsonl")):
        header, trial = file.read_text().splitlines()  # three trials, one for each way
        assert "kmcf_study" in header
        values[way] = json.loads(trial)["value"]
    best = min(values, key=values.get)
    assert values["never"] == max(values.values())
    assert ready.tuned.startswith(best)
    assert ready.fold.used_every == {"": 4, "often": 2}[best]
    untuned = replace(robots, trials=0).ready("robot 1", "knn-pf")
    assert (untuned.tuned, untuned.fold.used_every) == ("", 4)


def test_missing_paths_are_named():
    with pytest.raises(ValueError, match=r"mrclam is not in the package: give --path, the folder of one MRCLAM"):
        Experiment("mrclam").data()
    with pytest.raises(ValueError, match="needs no path"):
        Experiment("building", "elsewhere").data()


def test_methods_that_would_do_the_same_as_kmcf_on_every_fold_are_an_error(radio, tmp_path):
    methods = ["kmcf-low100", "kmcf-sub300"]
    with pytest.raises(ValueError, match=r"kmcf-low100, kmcf-sub300 would do the same .* with more than 100 examples"):
        run_experiment(radio, tmp_path, folds=["walk_0"], methods=methods)
