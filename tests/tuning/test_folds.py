"""Folds cover every step once and never train on what they judge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.tuning.examples import TuningExamples, numbered_groups
from kmcf.tuning.folds import make_folds


def examples(n, groups=None, observed=None):
    groups = np.zeros(n, dtype=int) if groups is None else np.asarray(groups)
    observed = np.ones(n, dtype=bool) if observed is None else observed
    return TuningExamples(np.zeros((n, 1)), np.zeros((n, 1)), None, groups, observed, observed, False)


def test_one_sequence_is_halved():
    first, second = make_folds(examples(7), sequential=True, folds=None, seed=0)
    assert first.training.tolist() == [4, 5, 6]
    assert [s.tolist() for s in first.sequences] == [[0, 1, 2, 3]]
    assert second.training.tolist() == [0, 1, 2, 3]
    assert [s.tolist() for s in second.sequences] == [[4, 5, 6]]


def test_whole_sequences_are_left_out_in_order_of_time():
    folds = make_folds(examples(8, [0, 1, 0, 1, 2, 2, 0, 1]), sequential=True, folds=None, seed=0)
    left_out = sorted(s.tolist() for fold in folds for s in fold.sequences)
    assert left_out == [[0, 2, 6], [1, 3, 7], [4, 5]]
    assert len(folds) == 3


def test_many_sequences_are_dealt_to_five_folds_of_similar_size():
    lengths = [50, 10, 10, 10, 10, 10, 30, 30, 20, 20]
    folds = make_folds(examples(200, np.repeat(range(10), lengths)), sequential=True, folds=None, seed=0)
    assert len(folds) == 5
    assert max(fold.steps for fold in folds) == 50
    assert min(fold.steps for fold in folds) >= 30


@given(st.integers(10, 60), st.booleans(), st.one_of(st.none(), st.integers(2, 4)), st.booleans(), st.integers(0, 5))
def test_folds_are_a_partition(n, sequential, folds, grouped, seed):
    groups = np.sort(np.random.default_rng(seed).integers(4, size=n)) if grouped else None
    groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
    if groups is not None and folds is not None and 1 < groups.max() + 1 < folds:
        return
    made = make_folds(examples(n, groups), sequential=sequential, folds=folds, seed=seed)
    steps = np.concatenate([s for fold in made for s in fold.sequences])
    assert sorted(steps.tolist()) == list(range(n))
    for fold in made:
        held_out = np.concatenate(fold.sequences)
        assert not set(held_out) & set(fold.training)
        assert len(held_out) + len(fold.training) == n
        if not sequential:
            assert all(len(s) == 1 for s in fold.sequences)
        if groups is not None and groups.max() > 0:
            assert not set(groups[held_out]) & set(groups[fold.training])


def test_nothing_is_learnt_from_missing_observations():
    observed = np.array([True] * 5 + [False] + [True] * 4)
    first, second = make_folds(examples(10, observed=observed), sequential=True, folds=None, seed=0)
    assert first.training.tolist() == [6, 7, 8, 9]
    assert second.sequences[0].tolist() == [5, 6, 7, 8, 9]


def test_too_few_examples():
    with pytest.raises(ValueError, match=r"3 examples are too few for 2 folds.*one leaves 1"):
        make_folds(examples(3), sequential=True, folds=None, seed=0)
    with pytest.raises(ValueError, match="only 2 groups"):
        make_folds(examples(8, [0] * 4 + [1] * 4), sequential=True, folds=3, seed=0)


def test_only_the_groups_named_are_left_out():
    groups = ["a"] * 10 + ["b"] * 12 + ["c"] * 8
    some = examples(30, [0] * 10 + [1] * 12 + [2] * 8)
    folds = make_folds(some, sequential=True, folds=None, seed=0, held_out=numbered_groups(groups, ["c", "a"]))
    assert [fold.sequences[0].tolist() for fold in folds] == [list(range(22, 30)), list(range(10))]
    assert [len(fold.training) for fold in folds] == [22, 20]
    for wrong in (["d"], []):
        with pytest.raises(ValueError, match="must name groups to leave out"):
            numbered_groups(groups, wrong)
    with pytest.raises(ValueError, match=r"which are a, b\.$"):
        numbered_groups(np.array(["a", "b"]), ["d"])
