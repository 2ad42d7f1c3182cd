"""Random walks: what was simulated is learnt."""

import numpy as np
import pytest
from motion_cases import simulated

from kmcf.transitions import GaussianRandomWalk


def test_its_scale_is_learnt():
    walk = GaussianRandomWalk([0.5, 0.1], angles=[1])
    states = simulated(walk, [0, 3.1], None, length=4000)
    assert np.abs(states[:, 1]).max() <= np.pi
    learnt = GaussianRandomWalk(angles=[1]).fit(states).scale_
    np.testing.assert_allclose(learnt, [0.5, 0.1], rtol=0.05)


def test_trimming_ignores_outliers_and_keeps_the_scale():
    rng = np.random.default_rng(0)
    steps = rng.normal(scale=0.5, size=(5000, 1))
    clean = np.cumsum(steps, axis=0)
    steps[::50] += 100.0  # 2 %
    spoilt = np.cumsum(steps, axis=0)
    assert GaussianRandomWalk().fit(spoilt).scale_[0] > 5
    assert GaussianRandomWalk().fit(spoilt, trim=0.05).scale_[0] == pytest.approx(0.5, rel=0.12)
    assert GaussianRandomWalk().fit(clean, trim=0.05).scale_[0] == pytest.approx(0.5, rel=0.05)
