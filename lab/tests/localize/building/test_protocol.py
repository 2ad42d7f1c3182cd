"""Examples and test after the paper's protocol."""

from dataclasses import replace

import numpy as np
import pytest

from kmcf.datasets import Recording, thinned
from kmcf.datasets.recording import MOTION
from kmcf.numerics.poses import odometry_controls
from kmcf_lab.localize.building import (
    FRAME_INTERVAL,
    PAPER_STEPS,
    Camera,
    localization_task,
    simulated_building,
)


@pytest.fixture(scope="module")
def laps(building):
    return simulated_building(building=building, camera=Camera(width=4, height=3), odometry_noise=0.0)


def test_the_intervals_and_lengths_are_about_the_papers(laps):
    np.testing.assert_allclose(np.array(PAPER_STEPS) * FRAME_INTERVAL, [2.27, 4.54, 6.81])
    for step, length in zip(PAPER_STEPS, (168, 84, 56), strict=True):
        assert len(thinned(laps[2], step)) == pytest.approx(length, rel=0.1)


@pytest.mark.parametrize("step", [1, 4, 12])
def test_composed_odometry_is_that_between_the_frames_kept(laps, step):
    thin = thinned(laps[0], step)
    np.testing.assert_array_equal(thin.states, laps[0].states[::step])
    np.testing.assert_array_equal(thin.observations, laps[0].observations[::step])
    np.testing.assert_allclose(thin.controls, odometry_controls(laps[0].states[::step]), atol=1e-9)
    np.testing.assert_allclose(np.diff(thin.time), step * FRAME_INTERVAL)


def test_examples_come_from_the_training_laps_and_the_test_does_not(laps):
    task = localization_task(laps, n=100, step=8, test=1, random_state=3)
    pairs = {lap.states[t].tobytes(): lap.observations[t] for lap in (laps[0], laps[2]) for t in range(len(lap))}
    assert len({state.tobytes() for state in task.states}) == 100
    for state, image in zip(task.states, task.observations, strict=True):
        np.testing.assert_array_equal(pairs[state.tobytes()], image)
    assert task.test.name == "lap 2"
    assert [lap.name for lap in task.training] == ["lap 1", "lap 3"]
    again, other = (localization_task(laps, 100, 8, 1, random_state=seed).states for seed in (3, 4))
    np.testing.assert_array_equal(task.states, again)
    assert not np.array_equal(task.states, other)


def test_lists_of_observations_stay_lists():
    lap = Recording("lap", np.arange(6.0), np.zeros((6, 3)), [None, "a", "b", "c", "d", "e"], np.zeros((6, 3)))
    lap = replace(lap, names={"controls": MOTION})
    assert thinned(lap, 2).observations == [None, "b", "d"]
    assert isinstance(localization_task([lap, lap], 4).observations, list)


def test_bad_input(laps):
    with pytest.raises(ValueError, match="n = 100000; it must be an integer from 1 to"):
        localization_task(laps, 100_000)
    with pytest.raises(ValueError, match="there are 1 laps"):
        localization_task(laps[:1], 10)
    with pytest.raises(ValueError, match="test = 7"):
        localization_task(laps, 10, test=7)
