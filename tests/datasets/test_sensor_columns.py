"""Several sensors in tables: columns by sensor, silence where a file lacks them, examples of each."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import read_tables, sensor_examples

SENSORS = {"wifi": "rssi_*", "camera": ["px", "py"]}


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def files(tmp_path):
    """Monday has WiFi only, Tuesday both, in other columns and with empty cells."""
    monday = written(tmp_path, "monday.csv", "t,x,rssi_1,rssi_2\n0,1.0,-60,-70\n1,2.0,-61,\n2,,-62,-71\n")
    both = "py,px,x,t,rssi_1,rssi_2\n8,7,5.0,0,,\n,,6.0,1,-50,-51\n,9,7.0,2,-52,-53\n"
    tuesday = written(tmp_path, "tuesday.csv", both)
    return [monday, tuesday]


def test_observations_are_told_apart_by_sensor(files):
    nan = np.nan
    monday, tuesday = read_tables(files, state="x", sensors=SENSORS, time="t")
    assert monday.sensors == {"wifi": (0, 1), "camera": (2, 3)}
    np.testing.assert_array_equal(monday.by_sensor()["wifi"], [[-60, -70], [-61, nan], [-62, -71]])
    assert np.isnan(monday.by_sensor()["camera"]).all()
    np.testing.assert_array_equal(tuesday.by_sensor()["camera"], [[7, 8], [nan, nan], [9, nan]])
    np.testing.assert_array_equal(tuesday[1:].by_sensor()["wifi"], [[-50, -51], [-52, -53]])


def test_a_row_without_the_state_or_any_cell_of_a_sensor_is_no_example_of_it(files):
    found = sensor_examples(read_tables(files, state="x", sensors=SENSORS))
    assert list(found) == ["wifi", "camera"]
    np.testing.assert_array_equal(found["wifi"][0].ravel(), [1, 2, 6, 7])
    np.testing.assert_array_equal(found["camera"][0].ravel(), [5, 7])
    np.testing.assert_array_equal(found["camera"][1], [[7, 8], [9, np.nan]])


def test_notes_name_the_columns_of_each_sensor(files):
    columns = kmcf.datasets.columns_of(read_tables(files, state="x", sensors=SENSORS, time="t"))
    assert columns["sensors"] == {"wifi": ["rssi_1", "rssi_2"], "camera": ["px", "py"]}
    assert "sensors" not in kmcf.datasets.columns_of(read_tables(files[0], state="x", observation="rssi_*"))


@pytest.mark.parametrize(
    ("sensors", "sentence"),
    [
        ({"wifi": "rssi_*", "camera": "lens_*"}, r"there is no column lens_\* for the sensor 'camera'"),
        ({"lidar": "beam", "sonar": "ping"}, "there is no column of any sensor .'lidar', 'sonar'."),
        ({"wifi": "rssi_1,rssi_9"}, "monday.csv has no column 'rssi_9' for the sensor 'wifi'; did you mean"),
        ({"wifi": "rssi_*", "radio": "rssi_1"}, "named twice as observation"),
        ({"wifi": "rssi_*", "truth": "x"}, "the filter would observe the answer"),
    ],
)
def test_bad_columns_get_a_sentence(files, sensors, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_tables(files, state="x", sensors=sensors)


def test_files_must_agree_on_the_columns_of_a_sensor(files, tmp_path):
    other = written(tmp_path, "other.csv", "x,rssi_1\n1,2\n")
    with pytest.raises(ValueError, match=r"other.csv has the columns rssi_1 of the sensor 'wifi', but monday.csv has"):
        read_tables([*files, other], state="x", sensors=SENSORS)


def test_a_sensor_without_examples_is_an_error(files):
    recordings = read_tables(files[0], state="x", sensors=SENSORS)
    with pytest.raises(ValueError, match="the sensor 'camera' has no examples"):
        sensor_examples(recordings)
    with pytest.raises(ValueError, match="no recordings of several sensors"):
        sensor_examples(read_tables(files[0], state="x", observation="rssi_*"))
