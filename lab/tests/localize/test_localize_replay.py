"""The iterations shown are those of the run."""

import numpy as np
import pytest
from stand_ins import radio_folder

from kmcf_lab.cells import Cell
from kmcf_lab.localize.experiment import Experiment, compute
from kmcf_lab.localize.methods import fitted, unfitted
from kmcf_lab.localize.replay import replayed
from kmcf_lab.localize.steps import uncertainty


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    return Experiment("ble", radio_folder(tmp_path_factory.mktemp("radio"), tracks=2))


def test_predictions_are_the_particles_that_were_corrected(experiment):
    fold = experiment.folds()[0]
    flt = unfitted("kmcf", experiment.settings, fold, seed=0)
    move, moved = flt.transition, []

    def watched(states, control, rng):
        after = move(states, control, rng)
        moved.append(after.copy())
        return after

    flt.transition = watched
    fitted(flt, fold)
    moved.clear()
    flt.filter(fold.test.observations)
    during = list(moved)
    iterations = replayed(flt, fold, experiment.problem.measure, [1, 5])
    assert sorted(iterations) == [1, 5]
    for step, one in iterations.items():
        np.testing.assert_array_equal(one.predicted, during[step - 1])


def test_a_replay_repeats_the_run(experiment, tmp_path):
    coordinates = {"dataset": "ble", "fold": "walk_1", "method": "kmcf", "repetition": 0, "trials": 0, "seed": 0}
    rows = compute(experiment, tmp_path, Cell("localize", coordinates))
    fold = experiment.folds()[1]
    flt = experiment.ready(fold.name, "kmcf").flt
    iterations = replayed(flt, fold, experiment.problem.measure, range(len(rows)))
    for row, one in zip(rows, iterations.values(), strict=True):
        np.testing.assert_array_equal(one.estimate, [row["x"], row["y"]])
        assert one.error == row["error"]
        assert one.weights.sum() == pytest.approx(1)
        assert {tuple(point) for point in one.herded} <= {tuple(state) for state in one.states}
        assert f"error {row['error']:.2f} m" in one.frame.label


def test_uncertainty_of_a_mean_and_of_a_mode(experiment):
    fold = experiment.folds()[0]
    flt = experiment.ready(fold.name, "nai").flt
    belief = flt.start()
    states, mean = np.asarray(belief.states), np.asarray(belief.mean())
    expected = (states - mean).T @ (states - mean) / len(states)
    np.testing.assert_allclose(uncertainty(belief, mean, "mean", 1.0), expected)
    near = states[np.linalg.norm(states - states[0], axis=1) <= 3.0] - states[0]
    np.testing.assert_allclose(uncertainty(belief, states[0], "mode", 1.0), near.T @ near / len(near))
