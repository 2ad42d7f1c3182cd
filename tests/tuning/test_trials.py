"""Ranking, pruning, and combining trials."""

import math

import numpy as np
from scipy import stats

from kmcf.tuning.trials import Proposal, Trial, is_hopeless, ranked, rival


def trial(number, value, status="complete", variant="a", **settings):
    return Trial(number, Proposal(variant, settings), status, value, blocks=(float(number),) * 20)


def test_only_complete_trials_are_ranked():
    trials = [trial(0, 3.0), trial(1, 1.0), trial(2, math.nan, "failed"), trial(3, 0.5, "pruned"), trial(4, 1.0)]
    assert [t.number for t in ranked(trials)] == [1, 4, 0]
    assert rival(trials, 2) == (4.0,) * 20
    assert rival(trials, 4) is None


def test_hopeless_is_a_paired_test_of_the_blocks():
    rng = np.random.default_rng(0)
    for shift in np.linspace(-1.0, 3.0, 30):
        rival_blocks = rng.normal(size=20)
        blocks = rival_blocks[:8] + shift + rng.normal(size=8)
        statistic = stats.ttest_rel(blocks, rival_blocks[:8]).statistic
        assert is_hopeless(blocks, rival_blocks) == (statistic > 2.0)


def test_a_trial_is_not_given_up_too_early_or_at_the_end():
    assert not is_hopeless([9.0, 9.1, 9.0, 9.2], [1.0] * 20)
    assert not is_hopeless([9.0 + k % 2 for k in range(20)], [1.0] * 20)
    assert not is_hopeless([9.0] * 10, None)
    assert is_hopeless([9.0] * 10, [1.0] * 20)  # no spread at all
    assert not is_hopeless([1.0] * 10, [1.0] * 20)
