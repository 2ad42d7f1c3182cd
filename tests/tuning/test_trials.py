"""Ranking, pruning, and combining trials."""

import math

import numpy as np
import pytest
from scipy import stats

from kmcf.kernels import Gaussian, Laplace
from kmcf.support.search_space import Category, Integer, LogNormal
from kmcf.tuning.result import combined
from kmcf.tuning.space import Space
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


def test_the_five_best_are_combined():
    kernels = (Gaussian(), Laplace())
    parameters = {"e": LogNormal(1.0), "k": Integer(5), "kernel": Category(kernels)}
    space = Space("variant", {"a": None}, {"a": parameters})
    values = [(0.1, 3, 1), (0.2, 9, 0), (0.4, 5, 1), (0.8, 4, 0), (1.6, 6, 0), *[(99.0, 99, 1)] * 10]
    trials = [trial(i, float(i), e=e, k=k, kernel=kernels[j]) for i, (e, k, j) in enumerate(values)]
    found = combined(trials, space, 5).settings
    assert found["e"] == pytest.approx((0.1 * 0.2 * 0.4 * 0.8 * 1.6) ** (1 / 5))
    assert found["k"] == 5
    assert found["kernel"] is kernels[0]
    assert combined(trials, space, 1).settings == {"e": pytest.approx(0.1), "k": 3, "kernel": kernels[1]}


def test_only_trials_of_the_majority_variant_are_combined():
    parameters = {"e": LogNormal(1.0)}
    space = Space("variant", {"a": None, "b": None}, {"a": parameters, "b": parameters})
    trials = [
        trial(i, float(i), variant=v, e=e)
        for i, (v, e) in enumerate(zip("babba" + 10 * "a", (1.0, 50.0, 2.0, 4.0, 70.0, *[90.0] * 10), strict=True))
    ]
    found = combined(trials, space, 5)
    assert found.variant == "b"
    assert found.settings["e"] == pytest.approx(2.0)


@pytest.mark.parametrize(("count", "expected"), [(1, 1.0), (3, 1.0), (5, 1.0), (6, 2.0), (9, 4.0), (15, 16.0)])
def test_of_few_trials_the_bad_ones_are_not_combined(count, expected):
    """The settings of trial i are 4 to the power i, so the geometric mean of the first k is 2 to the power k - 1."""
    parameters = {"e": LogNormal(1.0)}
    space = Space("variant", {"a": None, "b": None}, {"a": parameters, "b": parameters})
    trials = [trial(i, float(i), variant="a" if i < max(1, count // 3) else "b", e=4.0**i) for i in range(count)]
    found = combined(trials, space, 5)
    assert found.variant == "a"
    assert found.settings["e"] == pytest.approx(expected)
