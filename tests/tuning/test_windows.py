"""The window with the lowest error on held-out steps, as ``tune`` measures it."""

import numpy as np
import pytest

import kmcf
from kmcf.tuning import choose_window


def slow_walk(seed=3):
    rng = np.random.default_rng(seed)
    states = np.cumsum(0.1 * rng.normal(size=100))
    return states, states + rng.normal(size=100), np.repeat([0, 1], 50)


FLT = kmcf.KernelMonteCarloFilter(
    kmcf.transitions.GaussianRandomWalk(0.5), observation_kernel=kmcf.kernels.Gaussian(), n_particles=50, random_state=0
)


def test_values_are_those_of_tune_on_stacked_observations():
    states, observations, groups = slow_walk()
    choice = choose_window(FLT, states, observations, [1, 4], groups, random_state=2)
    by_hand = np.column_stack([np.concatenate([np.full(j, np.nan), observations[: 100 - j]]) for j in range(4)])
    for first in (0, 50):
        for t in range(3):
            by_hand[first + t, t + 1 :] = np.nan
    for (window, value), stacked in zip(choice.tried, (observations, by_hand), strict=True):
        result = kmcf.tune(FLT, states, stacked, groups=groups, n_trials=1, random_state=2)
        assert value == result.untuned_value, window
    values = [value for _, value in choice.tried]
    assert choice.best is choice.tried[int(np.argmin(values))][0]
    assert choice.described() == {"1": values[0], "4": values[1]}


def test_bad_input():
    states, observations, groups = slow_walk()
    with pytest.raises(ValueError, match="no windows to choose from"):
        choose_window(FLT, states, observations, [])
    with pytest.raises(
        ValueError, match="a window of 60 observations is longer than the longest sequence, which has 50"
    ):
        choose_window(FLT, states, observations, [1, 60], groups)
    with pytest.raises(ValueError, match="a window of 0 observations"):
        choose_window(FLT, states, observations, [0])
