"""``kmcf data`` writes the package's data sets, number by number."""

import numpy as np
from cli_cases import read_csv, succeed

import kmcf


def test_the_bluetooth_walks_as_files(tmp_path):
    result = succeed("data", "ble", "--out", tmp_path / "ble")
    tracks = kmcf.datasets.ble_tracks()
    assert result.stdout.count("saved") == len(tracks)
    for track in tracks:
        rows = read_csv(tmp_path / "ble" / f"{track.name}.csv")
        np.testing.assert_array_equal([[float(row["x"]), float(row["y"])] for row in rows], track.states)
        np.testing.assert_array_equal([float(row["rssi_12"]) for row in rows], track.observations[:, 11])
        np.testing.assert_array_equal([float(row["time"]) for row in rows], track.time)
        assert {row["sequence"] for row in rows} == {track.name}
