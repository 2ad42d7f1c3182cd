"""The iterations shown are those of the run."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell
from kmcf_lab.localize.experiment import compute
from kmcf_lab.localize.methods import fitted, unfitted
from kmcf_lab.localize.replay import replayed


def test_predictions_are_the_particles_that_were_corrected(radio):
    fold = radio.folds()[0]
    flt = unfitted("kmcf", radio.settings, fold, seed=0)
    move, moved = flt.transition, []

    def watched(states, control, rng):
        after = move(states, control, rng)
        moved.append(after.copy())
        return after

    flt.transition = watched
    fitted(flt, fold)
    moved.clear()
    flt.filter(fold.test.observations)
    during = [sample for sample in moved if len(sample) == flt.n_particles_]  # not the few beyond the examples
    iterations = replayed(flt, fold, radio.problem.measure, [1, 5])
    assert sorted(iterations) == [1, 5]
    for step, one in iterations.items():
        np.testing.assert_array_equal(one.predicted, during[step - 1])


def test_a_replay_repeats_the_run(radio, tmp_path):
    coordinates = {"dataset": "ble", "fold": "walk_1", "method": "kmcf", "repetition": 0, "trials": 0, "seed": 0}
    rows = compute(radio, Cell("localize", coordinates), tmp_path)
    fold = radio.folds()[1]
    flt = radio.ready(fold.name, "kmcf").flt
    iterations = replayed(flt, fold, radio.problem.measure, range(len(rows)))
    for row, one in zip(rows, iterations.values(), strict=True):
        np.testing.assert_array_equal(one.estimate, [row["x"], row["y"]])
        assert one.error == row["error"]
        assert one.weights.sum() == pytest.approx(1)
        assert {tuple(point) for point in one.herded} <= {tuple(state) for state in one.states}
        assert f"error {row['error']:.2f} m" in one.frame.label
