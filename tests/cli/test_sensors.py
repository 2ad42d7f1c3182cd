"""Several sensors on the command line: ``--sensor NAME=COLUMNS``, in files, pipes and scores."""

import json

import numpy as np
import pytest
from cli_cases import fail, invoke, numbers, read_csv, succeed, walk, write_csv

import kmcf

PLAIN = ("--observation-kernel", "asinh", "--engine", "exact", "--n-particles", 50)
SENSORS = ("--sensor", "posts=d0,d1", "--sensor", "far=d2")


def cells(values):
    return np.array(["" if np.isnan(value) else repr(float(value)) for value in values])


def write_walk(folder, name, steps, seed, every=1, drop=()):
    """Write a walk whose third distance is there at every so many rows only."""
    states, seen = walk(steps, seed)
    third = np.where(np.arange(steps) % every == 0, seen[:, 2], np.nan)
    path = write_csv(folder / name, states, seen[:, :2], d2=cells(third))
    if drop:
        rows = [line.split(",") for line in path.read_text().splitlines()]
        kept = [j for j, column in enumerate(rows[0]) if column not in drop]
        path.write_text("".join(",".join(row[j] for j in kept) + "\n" for row in rows))
    return path, states, {"posts": seen[:, :2], "far": third}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two days of examples, one sensor missing on the second; a model; a test walk."""
    folder = tmp_path_factory.mktemp("sensors")
    monday = write_walk(folder, "monday.csv", 60, 1, every=2)
    tuesday = write_walk(folder, "tuesday.csv", 50, 2, drop=("d2",))
    test = write_walk(folder, "test.csv", 12, 3, every=3)
    model = folder / "model.kmcf"
    words = (monday[0], tuesday[0], "-s", "x,y", *SENSORS, "-t", "t", "-o", model, "--seed", 4, *PLAIN)
    told = succeed("fit", *words, "--json")
    return folder, (monday, tuesday, test), model, told, words


def by_hand(monday, tuesday):
    states = np.concatenate([monday[1], tuesday[1]])
    posts = np.concatenate([monday[2]["posts"], tuesday[2]["posts"]])
    spoke = ~np.isnan(monday[2]["far"])
    transition = kmcf.transitions.GaussianRandomWalk()
    transition.fit([monday[1], tuesday[1]], times=[0.5 * np.arange(60), 0.5 * np.arange(50)])
    flt = kmcf.KernelMonteCarloFilter(
        transition, observation_kernel=kmcf.kernels.named("asinh"), engine="exact", n_particles=50, random_state=4
    )
    return flt.fit({"posts": (states, posts), "far": (monday[1][spoke], monday[2]["far"][spoke])})


def test_the_model_and_its_estimates_are_those_of_the_python_api(world):
    folder, (monday, tuesday, test), model, told, _ = world
    about = json.loads(told.stdout)
    assert {name: part["examples"] for name, part in about["sensors"].items()} == {"posts": 110, "far": 30}
    assert "the sensor 'far' says nothing in 'tuesday'." in told.stderr
    expected = by_hand(monday, tuesday).filter(test[2], times=0.5 * np.arange(12))
    succeed("filter", model, test[0], "-o", folder / "out.csv")
    np.testing.assert_allclose(numbers(read_csv(folder / "out.csv"), "mean_x", "mean_y"), expected.mean, rtol=1e-6)


def test_lines_from_a_pipe_give_the_same(world):
    folder, (_, _, test), model, _, _ = world
    succeed("filter", model, test[0], "-o", folder / "out.csv")
    streamed = read_csv(succeed("filter", model, "-", input=test[0].read_bytes()).stdout)
    names = ("mean_x", "mean_y", "coverage")
    np.testing.assert_array_equal(numbers(streamed, *names), numbers(read_csv(folder / "out.csv"), *names))


def test_a_file_with_one_sensor_is_enough(world):
    folder, _, model, _, _ = world
    path, _, seen = write_walk(folder, "half.csv", 8, 5, drop=("d0", "d1"))
    result = succeed("filter", model, path)
    assert "the sensor 'posts' says nothing in 'half'." in result.stderr
    expected = kmcf.load(model).filter({"far": seen["far"]}, times=0.5 * np.arange(8))
    np.testing.assert_allclose(numbers(read_csv(result.stdout), "mean_x", "mean_y"), expected.mean, rtol=1e-6)
    streamed = succeed("filter", model, "-", input=path.read_bytes())
    assert streamed.stdout == result.stdout


def test_evaluate_and_inspect_know_the_sensors(world):
    _, (_, _, test), model, _, _ = world
    scores = json.loads(succeed("evaluate", model, test[0], "--json").stdout)
    run = kmcf.load(model).filter(test[2], times=0.5 * np.arange(12))
    rmse = np.sqrt(np.mean(np.sum((run.mean - test[1]) ** 2, axis=1)))
    assert scores["all"]["rmse"] == pytest.approx(rmse, rel=1e-6)
    shown = succeed("inspect", model).stdout
    assert "Columns, sensor posts" in shown
    assert "Learnt, sensor far" in shown
    notes = json.loads(succeed("inspect", model, "--json").stdout)["notes"]
    assert notes["columns"]["sensors"] == {"posts": ["d0", "d1"], "far": ["d2"]}


def test_the_printed_script_makes_the_same_model(world, tmp_path):
    _, (_, _, test), model, _, words = world
    out = tmp_path / "printed.kmcf"
    script = succeed("fit", *[out if word == model else word for word in words], "--recovery", 0.01, "--python").stdout
    exec(script, {})
    assert list(kmcf.load(out).sensors_) == ["posts", "far"]
    printed = succeed("filter", model, test[0], "--python").stdout
    assert "recording.by_sensor() for recording in recordings" in printed


def test_columns_may_have_other_names(world):
    folder, (_, _, test), model, _, _ = world
    renamed = folder / "renamed.csv"
    renamed.write_text(test[0].read_text().replace("d2", "range", 1))
    first = succeed("filter", model, renamed, "--sensor", "far=range").stdout
    assert first == succeed("filter", model, test[0]).stdout


def test_kernels_and_floors_may_be_given_by_sensor(world, tmp_path):
    *_, words = world
    own = ("--observation-kernel", "posts=asinh;far=matern:nu=2.5", "--floor", "far=-1;posts=none")
    succeed("fit", *words[:8], *own, "-o", tmp_path / "m")
    flt = kmcf.load(tmp_path / "m")
    assert flt.floor == {"far": -1.0, "posts": None}
    assert isinstance(flt.sensors_["far"].observation_kernel_, kmcf.kernels.Matern)
    assert isinstance(flt.sensors_["posts"].observation_kernel_, kmcf.kernels.AsinhScaled)
    assert "names the sensor 'lidar'" in fail("fit", *words[:8], "--floor", "lidar=-1", "-o", tmp_path / "n")
    assert "posts=asinh" in fail("fit", words[0], "-s", "x,y", "-y", "d0", "--observation-kernel", "posts=asinh")


def test_tables_for_people_are_printed_by_sensor(world, tmp_path):
    *_, words = world
    shown = succeed("fit", *words[:-4], "--engine", "exact", "-o", tmp_path / "m").stdout
    assert "Sensor posts" in shown
    assert "Sensor far" in shown


def test_bad_words_get_a_sentence(world):
    folder, (monday, _, test), model, _, _ = world
    path = monday[0]
    assert "it must be NAME=COLUMNS" in fail("fit", path, "-s", "x,y", "--sensor", "posts")
    for words in ((), ("-y", "d0", "--sensor", "far=d2")):
        result = invoke("fit", path, "-s", "x,y", *words)
        assert result.exit_code == 2
        assert "--sensor NAME=COLUMNS" in " ".join(result.stderr.replace("│", " ").split())
    assert "one sensor" in fail("tune", path, "-s", "x,y", *SENSORS, "-o", folder / "tuning")
    calibrated = fail("fit", path, "-s", "x,y", *SENSORS, "--calibrate", "-o", folder / "calibrated.kmcf")
    assert "does not work with several sensors: calibrate the model afterwards" in calibrated
    assert "has the sensors posts, far" in fail("filter", model, test[0], "-y", "d0")
    assert "has no sensor 'lidar'; it has posts, far." in fail("filter", model, test[0], "--sensor", "lidar=d0")
    assert "2 columns of the sensor 'posts'" in fail("filter", model, test[0], "--sensor", "posts=d0")
    assert "no column of any sensor" in fail("filter", model, "-", input=b"t,x\n0,1\n")
    other = folder / "other.csv"
    other.write_text("t,x\n0,1\n")
    assert "no column of any sensor" in fail("filter", model, other)
    wrong = test[0].read_text().splitlines()
    wrong[2] = ",".join([*wrong[2].split(",")[:-1], "inf"])
    other.write_text("\n".join(wrong) + "\n")
    assert "other.csv, line 3, column 'd2': an observation contains infinity" in fail("filter", model, other)
    piped = fail("filter", model, "-", input=other.read_bytes())
    assert "stdin, line 3, column 'd2': an observation contains infinity" in piped


def test_a_plain_model_has_no_sensors(world, tmp_path):
    _, (monday, _, test), *_ = world
    model = tmp_path / "plain.kmcf"
    succeed("fit", monday[0], "-s", "x,y", "-y", "d0,d1", "-o", model, *PLAIN)
    assert "has one sensor" in fail("filter", model, test[0], "--sensor", "far=d2")


@pytest.mark.filterwarnings("ignore::kmcf.CalibrationWarning")  # a short walk
def test_calibrate_takes_walks_that_the_model_has_not_seen(world, tmp_path):
    _, (monday, tuesday, _), model, _, _ = world
    path, states, seen = write_walk(tmp_path, "wednesday.csv", 40, 7, every=2)
    told = json.loads(succeed("calibrate", model, path, "-o", tmp_path / "calibrated.kmcf", "--json").stdout)
    assert told["steps"] == 40
    assert told["left_out"] is False
    again = by_hand(monday, tuesday).calibrate(states, seen, times=0.5 * np.arange(40))
    found = kmcf.load(tmp_path / "calibrated.kmcf").calibration_
    np.testing.assert_allclose(found.factor(), again.calibration_.factor(), rtol=1e-6)
