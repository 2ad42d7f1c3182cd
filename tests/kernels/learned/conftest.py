"""A small regression problem."""

import numpy as np
import pytest

from kmcf.kernels.learned.targets import state_targets


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(80, 1))
    z = np.tanh(states) + 0.3 * rng.normal(size=(80, 4))
    return z, state_targets(states).values, state_targets(states).weights, states
