"""Ranking, pruning, and combining trials."""

import math

import numpy as np
from scipy import stats

from kmcf.tuning.trials import BEHIND, FAR_BEHIND, Proposal, Pruning, Rival, Trial, is_hopeless, ranked

ONES = Rival((1.0,) * 20, 2.0)
SIZES = [3] * 20


def trial(number, value, status="complete", variant="a", **settings):
    return Trial(number, Proposal(variant, settings), status, value, blocks=(float(number),) * 20)


def test_only_complete_trials_are_ranked():
    trials = [trial(0, 3.0), trial(1, 1.0), trial(2, math.nan, "failed"), trial(3, 0.5, "pruned"), trial(4, 1.0)]
    assert [t.number for t in ranked(trials)] == [1, 4, 0]
    assert Pruning(2).rival(trials) == ((4.0,) * 20, BEHIND)
    assert Pruning(4).rival(trials) == ((1.0,) * 20, FAR_BEHIND)  # of fewer, the best
    assert Pruning(1).rival(trials[2:4]) is None
    assert Pruning(2, certain=True).rival(trials) == ((4.0,) * 20, None)
    assert Pruning(4, certain=True).rival(trials) is None


def test_hopeless_is_a_paired_test_of_the_blocks():
    rng = np.random.default_rng(0)
    for shift in np.linspace(-1.0, 3.0, 30):
        other = rng.normal(size=20)
        blocks = other[:8] + shift + rng.normal(size=8)
        statistic = stats.ttest_rel(blocks, other[:8]).statistic
        for errors in (2.0, 6.0):
            assert is_hopeless(blocks, Rival(tuple(other), errors), SIZES) == (statistic > errors)


def test_a_trial_is_not_given_up_too_early_or_at_the_end():
    assert not is_hopeless([9.0, 9.1, 9.0, 9.2], ONES, SIZES)
    assert not is_hopeless([9.0 + k % 2 for k in range(20)], ONES, SIZES)
    assert not is_hopeless([9.0] * 10, None, SIZES)
    assert is_hopeless([9.0] * 10, ONES, SIZES)  # no spread at all
    assert not is_hopeless([1.0] * 10, ONES, SIZES)


def test_certainly_hopeless_is_only_what_cannot_win_any_more():
    rng = np.random.default_rng(1)
    for _ in range(200):
        sizes = rng.integers(1, 4, size=20)
        own, other = rng.exponential(size=(2, sizes.sum()))
        ends = np.cumsum(sizes)
        blocks = [part.mean() for part in np.split(own, ends[:-1])]
        best = Rival(tuple(part.mean() for part in np.split(other, ends[:-1])), None)
        for count in range(1, 20):
            assert is_hopeless(blocks[:count], best, sizes) == (own[: ends[count - 1]].sum() > other.sum())
    assert not is_hopeless(blocks, Rival((0.0,) * 20, None), sizes)  # complete
    assert not is_hopeless(blocks[:19], Rival((*blocks[:19], 0.0), None), sizes)  # equal
