"""Nothing that a copy of the filter is asked about was among what it learnt from."""

from typing import ClassVar

import numpy as np
import pytest

import kmcf
from kmcf.filter.left_out import Examples, consecutive, dealt, left_out_parts, read_groups, rehearse


def examples(n, groups=None, **more):
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.normal(size=(n, 1)), axis=0)
    numbers = read_groups(groups, n)
    marks = [more.pop(name, np.ones(n, dtype=bool)) for name in ("taught", "shown")]
    return Examples(states, states + 0.1 * rng.normal(size=(n, 1)), None, numbers, *marks, **more)


class Watched(kmcf.KernelMonteCarloFilter):
    """Remembers what its copies were fitted on."""

    seen: ClassVar[list] = []

    def fit(self, states, observations):
        Watched.seen.append(set(np.ravel(states).tolist()))
        return super().fit(states, observations)


@pytest.mark.parametrize("groups", [None, np.repeat([0, 1, 2, 3], 10), np.repeat([5, 7], 20)])
def test_every_example_is_asked_about_once_by_a_copy_that_does_not_know_it(groups):
    given = examples(40, groups)
    flt = Watched(kmcf.transitions.GaussianRandomWalk(1.0), random_state=0).fit(given.states, given.observations)
    Watched.seen.clear()
    asked, steps = [], rehearse(flt, given, lambda *both: both)
    for step in steps:
        asked.append(step.example)
        assert float(given.states[step.example, 0]) not in Watched.seen[-1]
        assert step.belief.time == step.predicted.time
        assert step.predicted.report.missing
        assert step.belief.corrected
    assert sorted(asked) == list(range(40))
    assert all(len(seen) >= 25 for seen in Watched.seen)


def test_steps_without_state_or_observation_are_never_learnt_from():
    complete, shown = np.arange(40) % 4 != 0, np.arange(40) % 2 == 0
    given = examples(40, taught=complete, shown=shown)
    flt = Watched(kmcf.transitions.GaussianRandomWalk(1.0), random_state=0)
    flt.fit(given.states[complete], given.observations[complete])
    Watched.seen.clear()
    steps = list(rehearse(flt, given, lambda *both: both))
    assert len(steps) == 40
    assert [not step.belief.report.missing for step in steps] == list(shown)
    unknown = set(given.states[~complete].ravel().tolist())
    assert not any(seen & unknown for seen in Watched.seen)


def test_whole_sequences_are_left_out_where_there_are_three_or_more():
    groups = np.repeat(np.arange(14), [5, 9, 5, 5, 5, 5, 6, 2, 2, 2, 2, 2, 2, 2])
    parts = left_out_parts(groups)
    assert len(parts) == 10
    assert [len(part.sequences) for part in left_out_parts(groups[:30])] == [1] * 6
    for part in parts:
        for sequence in part.sequences:
            assert len(set(groups[sequence])) == 1
            assert len(sequence) == np.sum(groups == groups[sequence[0]])


def test_large_sets_are_asked_about_in_part():
    parts = left_out_parts(np.repeat(np.arange(4), 10_000))
    assert sum(len(s) for part in parts for s in part.sequences) == 5000
    assert sum(len(e) for part in parts for e in part.excluded) == 40_000  # whole sequences stay unknown
    (part,) = left_out_parts(np.zeros(60_000, dtype=int))
    assert sum(map(len, part.sequences)) == 5000
    assert all((np.diff(sequence) == 1).all() for sequence in part.sequences)


def test_sequences_are_dealt_evenly():
    parts = [np.arange(size) for size in (10, 1, 1, 8, 2)]
    loads = [sum(map(len, fold)) for fold in dealt(parts, 2)]
    assert sorted(loads) == [11, 11]
    with pytest.raises(ValueError, match="only 5 groups"):
        dealt(parts, 6)


def test_moves_stay_inside_a_sequence():
    before, after = consecutive(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 3, 4, 5]))
    np.testing.assert_array_equal(before, [0, 4])
    np.testing.assert_array_equal(after, [1, 5])


def test_groups_are_numbered_in_order():
    np.testing.assert_array_equal(read_groups(["b", "a", "b"], 3), [0, 1, 0])
    with pytest.raises(ValueError, match="one label per example, 3 in all, but got 2"):
        read_groups(["a", "b"], 3)
    with pytest.raises(ValueError, match="that of example 1 is nan"):  # every NaN would be a group of its own
        read_groups(np.array([1.0, np.nan, np.nan]), 3)
