"""Small stand-ins for recorded data."""

from dataclasses import replace

import pytest
from stand_ins import mrclam_folder, radio_folder

from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.registry import PROBLEMS


@pytest.fixture(scope="session")
def radio(tmp_path_factory):
    """Three walks heard by four receivers."""
    return Experiment("ble", radio_folder(tmp_path_factory.mktemp("radio")))


@pytest.fixture
def robots(tmp_path, monkeypatch):
    """Robots among posts, with two further ways that tuning may go."""
    problem = PROBLEMS["mrclam"]
    settings = problem.quick.changed({"split": {"used_every": 4}, "knn_particles": {"n_particles": 50}})
    ways = {"often": {"split": {"used_every": 2}}, "never": {"split": {"used_every": 1000}}}
    monkeypatch.setitem(PROBLEMS, "mrclam", replace(problem, quick=replace(settings, alternatives=ways)))
    return Experiment("mrclam", mrclam_folder(tmp_path / "robots"), quick=True, trials=3)
