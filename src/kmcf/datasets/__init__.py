"""Data to filter: simulators of the paper's models, loaders of recorded data."""

from kmcf.datasets.ble import ble_receivers, ble_tracks
from kmcf.datasets.ble_fingerprints import ble_fingerprints
from kmcf.datasets.carmen import carmen_log, carmen_split
from kmcf.datasets.cold import cold
from kmcf.datasets.landmarks import recent_landmarks
from kmcf.datasets.linear_track import linear_track
from kmcf.datasets.mrclam import mrclam, mrclam_landmarks
from kmcf.datasets.neural_files import from_pynapple, read_nwb
from kmcf.datasets.recording import Recording, examples, hold_out, kept, thinned
from kmcf.datasets.sensor_columns import sensor_examples
from kmcf.datasets.spikes import spikes_to_counts
from kmcf.datasets.sussex import sussex_route
from kmcf.datasets.synthetic import PAPER_MODELS, StateSpaceModel, Trajectory, paper_model
from kmcf.datasets.tables import columns_of, read_tables
from kmcf.datasets.velocities import with_velocity_columns
from kmcf.datasets.wifine import wifine, with_elapsed_times
from kmcf.datasets.windowing import Window, windowed, windows
from kmcf.datasets.writing import write_table

__all__ = [
    "PAPER_MODELS",
    "Recording",
    "StateSpaceModel",
    "Trajectory",
    "Window",
    "ble_fingerprints",
    "ble_receivers",
    "ble_tracks",
    "carmen_log",
    "carmen_split",
    "cold",
    "columns_of",
    "examples",
    "from_pynapple",
    "hold_out",
    "kept",
    "linear_track",
    "mrclam",
    "mrclam_landmarks",
    "paper_model",
    "read_nwb",
    "read_tables",
    "recent_landmarks",
    "sensor_examples",
    "spikes_to_counts",
    "sussex_route",
    "thinned",
    "wifine",
    "windowed",
    "windows",
    "with_elapsed_times",
    "with_velocity_columns",
    "write_table",
]
