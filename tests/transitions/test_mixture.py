"""Mixtures: what was simulated is learnt."""

import numpy as np
from motion_cases import simulated

from kmcf.transitions import GaussianRandomWalk, Jump, Mixture


def test_probabilities_and_parts_are_learnt():
    truth = Mixture([GaussianRandomWalk(0.2), Jump([[0.0], [20.0]], scale=1.0)], [0.9, 0.1])
    states = simulated(truth, [0.0], None, length=5000)
    guess = Mixture([GaussianRandomWalk(1.0), Jump([[0.0], [20.0]], scale=1.0)], [0.5, 0.5]).fit(states)
    np.testing.assert_allclose(guess.probabilities_, [0.9, 0.1], atol=0.02)
    np.testing.assert_allclose(guess.transitions_[0].scale_, 0.2, rtol=0.1)
    assert guess.transitions[0].scale == 1.0
