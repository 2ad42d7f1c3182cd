"""NWB files (written here, in their layout) and objects like pynapple's."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from kmcf.datasets import from_pynapple, read_nwb

TIMES = np.arange(0.0, 2.01, 0.1)
PLACES = np.stack([TIMES, -TIMES], axis=1)
TRAINS = {4: [0.1, 0.2, 1.7], 2: [], 9: [1.1]}
COUNTS = [[2, 0], [0, 0], [0, 1], [1, 0]]  # a unit without spikes has no column


def test_objects_that_look_like_pynapple_s():
    group = {unit: SimpleNamespace(t=np.array(train)) for unit, train in TRAINS.items()}
    recording = from_pynapple(group, SimpleNamespace(t=TIMES, values=PLACES), bin=0.5)
    assert recording.observations.tolist() == COUNTS
    assert recording.names["observations"] == ("4", "9")
    np.testing.assert_allclose(recording.states[0], PLACES[:5].mean(axis=0))


def test_other_objects_get_a_sentence():
    with pytest.raises(TypeError, match="spikes is a list"):
        from_pynapple([1.0], SimpleNamespace(t=TIMES, d=PLACES))
    with pytest.raises(TypeError, match="position is a ndarray"):
        from_pynapple({1: [0.5]}, PLACES)
    with pytest.raises(ValueError, match="no units"):
        from_pynapple({}, SimpleNamespace(t=TIMES, d=PLACES))


def write_nwb(path, *, series=("SpatialSeries",), rate=None):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        units = file.create_group("units")
        units["id"] = list(TRAINS)
        units["spike_times"] = np.concatenate(list(TRAINS.values()))
        units["spike_times_index"] = np.cumsum([len(train) for train in TRAINS.values()])
        for name in series:
            group = file.create_group(f"processing/behavior/Position/{name}")
            group.attrs["neurodata_type"] = "SpatialSeries"
            group["data"] = PLACES * 100.0
            group["data"].attrs.update({"conversion": 0.01, "unit": "meters"})
            if rate is None:
                group["timestamps"] = TIMES
            else:
                group["starting_time"] = 0.0
                group["starting_time"].attrs["rate"] = rate
    return path


@pytest.mark.parametrize("rate", [None, 10.0])
def test_an_nwb_file(tmp_path, rate):
    recording = read_nwb(write_nwb(tmp_path / "rat.nwb", rate=rate), bin=0.5)
    assert recording.name == "rat"
    assert recording.observations.tolist() == COUNTS
    assert recording.units["states"] == "meters"
    np.testing.assert_allclose(recording.states[0], PLACES[:5].mean(axis=0), atol=1e-12)


def test_the_series_must_be_clear(tmp_path):
    path = write_nwb(tmp_path / "rat.nwb", series=("head", "tail"))
    with pytest.raises(ValueError, match=r"has 2 SpatialSeries: .*head, .*tail; name one with position="):
        read_nwb(path)
    assert len(read_nwb(path, "processing/behavior/Position/head", bin=0.5)) == 4
    with pytest.raises(ValueError, match="has no series 'nowhere'"):
        read_nwb(path, "nowhere")


def test_a_file_without_units(tmp_path):
    h5py = pytest.importorskip("h5py")
    h5py.File(tmp_path / "empty.nwb", "w").close()
    with pytest.raises(ValueError, match="no sorted spikes"):
        read_nwb(tmp_path / "empty.nwb")


def test_without_h5py_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"kmcf\[nwb\]"):
        read_nwb("rat.nwb")
