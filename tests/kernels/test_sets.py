"""Reading collections of sets."""

import numpy as np
import pandas as pd
import pytest

from kmcf.kernels.sets import merge_duplicates, read_sets, squared_differences


def test_sets_are_stored_end_to_end():
    sets = read_sets([[(7, 1.0), (9, 2.0)], [], np.array([[9.0, 3.0]])], 0, None, "K")
    np.testing.assert_array_equal(sets.rows, [[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(sets.sizes, [2, 0, 1])
    assert len(sets) == 3
    assert {key: list(part) for key, part in sets.groups.items()} == {7: [0], 9: [1, 2]}


def test_some_of_the_sets():
    sets = read_sets([[(7, 1.0), (9, 2.0)], [], [(9, 3.0)]], 0, None, "K")[np.array([2, 0, 1])]
    np.testing.assert_array_equal(sets.rows[:, 0], [3.0, 1.0, 2.0])
    np.testing.assert_array_equal(sets.owners, [0, 1, 1])
    assert len(sets[np.array([], dtype=int)]) == 0


def test_identities_may_be_anything_hashable_in_any_column():
    sets = read_sets([[(1.0, "door", 2.0)], [(3.0, ("a", 1), 4.0)]], 1, None, "K")
    assert sets.keys == ("door", ("a", 1))
    np.testing.assert_array_equal(sets.rows, [[1.0, 2.0], [3.0, 4.0]])


def test_duplicates_are_averaged_angles_on_the_circle():
    sets = read_sets([[(1, 2.0, 3.1), (5, 0.0, 0.0), (1, 4.0, -3.1)]], 0, None, "K")
    merged = merge_duplicates(sets, np.array([1]))
    np.testing.assert_array_equal(merged.sizes, [2])
    np.testing.assert_allclose(merged.rows[0, 0], 3.0)
    np.testing.assert_allclose(np.abs(merged.rows[0, 1]), np.pi)
    np.testing.assert_array_equal(merged.rows[1], [0.0, 0.0])


def test_differences_are_between_elements_of_the_same_identity():
    sets = read_sets([[(1, 0.0, 0.0), (2, 100.0, 1.0)], [(1, 3.0, np.pi)]], 0, None, "K")
    np.testing.assert_allclose(squared_differences(sets, np.array([1])), [[9.0, 4.0]])


@pytest.mark.parametrize("wrong", [3.0, "text", None, {"a": 1}], ids=repr)
def test_what_is_not_a_set_is_named(wrong):
    with pytest.raises(TypeError, match="K compares sets, but object 1 is"):
        read_sets([[(1, 2.0)], wrong], 0, None, "K")


@pytest.mark.parametrize(
    ("one", "message"),
    [
        ([(1, 2.0, 3.0)], "object 1 have 3 columns, but K expects 2"),
        ([(1, np.nan)], "element of object 1 is NaN or infinite"),
        ([(np.nan, 1.0)], "an identity is nan"),
        ([(1, "far")], "cannot read object 1"),
        ([(1, 2.0), (1, 2.0, 3.0)], "cannot read object 1"),
        (np.zeros((2, 2, 2)), "object 1"),
    ],
)
def test_broken_elements_are_named(one, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read_sets([[(1, 2.0)], one], 0, None, "K")


def test_identities_that_cannot_be_compared_are_named():
    with pytest.raises(TypeError, match="cannot read object 0"):
        read_sets([[([1], 2.0)]], 0, None, "K")


def test_tables_are_sets_with_a_row_per_element():
    table = pd.DataFrame({"post": [3, 7], "range": [1.5, 2.5]})
    sets = read_sets([table], 0, None, "a kernel")
    assert sets.keys == (3, 7)
    np.testing.assert_array_equal(sets.rows, [[1.5], [2.5]])


def test_a_set_has_rows():
    with pytest.raises(ValueError, match="object 1 of K has 3 axes; a set has one row per element"):
        read_sets([[(7, 1.0)], np.zeros((2, 2, 2))], None, None, "K")


def test_differences_within_large_groups_come_from_a_sample(monkeypatch):
    monkeypatch.setattr("kmcf.kernels.sets._PAIRS", 50)
    rows = np.arange(50.0)[:, None]
    sets = read_sets([np.hstack([np.full((50, 1), 7.0), rows])], 0, None, "K")
    found = squared_differences(sets, np.zeros(0, dtype=np.intp))
    assert len(found) == 45
    assert set(np.sqrt(found).ravel()) <= set(range(1, 50))
