"""What is recorded about a step."""

import numpy as np

from kmcf_lab.localize.steps import uncertainty


def test_uncertainty_of_a_mean_and_of_a_mode(radio):
    fold = radio.folds()[0]
    flt = radio.ready(fold.name, "nai").flt
    belief = flt.start()
    states, mean = np.asarray(belief.states), np.asarray(belief.mean())
    expected = (states - mean).T @ (states - mean) / len(states)
    np.testing.assert_allclose(uncertainty(belief, mean, "mean", 1.0), expected)
    near = states[np.linalg.norm(states - states[0], axis=1) <= 3.0] - states[0]
    np.testing.assert_allclose(uncertainty(belief, states[0], "mode", 1.0), near.T @ near / len(near))
