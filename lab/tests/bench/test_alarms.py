"""What alarms notice: a small version of the study, and its parts."""

import numpy as np

from kmcf.filter import FilterRun
from kmcf_lab.bench import alarm_room, alarms
from kmcf_lab.bench.alarm_room import Room, draw_room, room_walk
from kmcf_lab.bench.alarms import Tally, inside, measure_alarms


def test_a_tally_averages_over_data_sets():
    tally = Tally()
    tally.add("room", "examples", share=0.0, never=np.nan)
    tally.add("room", "examples", share=1.0, never=np.nan)
    (row,) = tally.rows()
    assert (row.problem, row.quantity, row.value, row.data_sets) == ("room", "share", 0.5, 2)


def test_ranges_are_those_of_all_columns():
    states = np.array([[0.0, 0.0], [1.0, 2.0]])
    assert inside(states, np.array([[0.5, 1.0], [0.5, 2.5]])).tolist() == [True, False]


def test_the_walk_leaves_what_the_examples_cover():
    room = Room.of(3)
    assert room.states[:, 0].max() <= 6.0 < room.path[room.leaves, 0]
    assert (room.path[: room.turns, 0] < 6.0).all()
    assert room.heard.shape == (len(room.path), room.observations.shape[1])
    moved = room_walk(np.zeros((5000, 2)), None, np.random.default_rng(0))
    assert abs(moved.std() - alarm_room.STEP) < 0.02


def test_the_study_measures_every_problem(monkeypatch):
    for name, value in {"LENGTH": 40, "CHANGE": 20, "WALKS": 1}.items():
        monkeypatch.setattr(alarms, name, value)
    monkeypatch.setattr(alarm_room, "EXAMPLES", 60)
    monkeypatch.setattr(alarms, "FILTERS", {"particles": alarms.ParticleLikelihoodFilter})
    rows = measure_alarms(["1a"], 60, repetitions=1, tracks=0, report=lambda message: None)
    found = {(row.problem, row.quantity): row.value for row in rows}
    assert {problem for problem, _ in found} >= {"model 1a", "room, examples in 6 of 10 m"}
    assert all(value == 0.0 for (_, quantity), value in found.items() if quantity == "outside_without_alarm")
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_the_room_is_drawn(tmp_path):
    room = Room.of(0)
    steps = len(room.path)
    columns = {"time": np.arange(1, steps + 1), "mean": room.path, "alarm": np.arange(steps) > 50}
    paths = draw_room(room, {"examples": FilterRun.of_columns(columns)}, tmp_path)
    assert [path.name for path in paths] == ["bench_alarms.png", "bench_alarms.svg"]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_well_inside_is_five_steps_from_anything_uncovered():
    covered = np.ones(20, dtype=bool)
    covered[10] = False
    assert np.flatnonzero(~alarms.well_inside(covered)).tolist() == list(range(5, 16))
