"""Data to filter: simulators of the paper's models, recorded data."""

from kmcf.datasets.ble import ble_tracks
from kmcf.datasets.building import Building, Camera, localization_task, simulated_building, thin
from kmcf.datasets.recording import Recording
from kmcf.datasets.synthetic import PAPER_MODELS, StateSpaceModel, Trajectory, paper_model

__all__ = [
    "PAPER_MODELS",
    "Building",
    "Camera",
    "Recording",
    "StateSpaceModel",
    "Trajectory",
    "ble_tracks",
    "localization_task",
    "paper_model",
    "simulated_building",
    "thin",
]
