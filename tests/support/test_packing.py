import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from kmcf.support.packing import Same, Stacked, pack


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Thing:
    value: Any
    inside: Any = None


def state(thing):
    return vars(thing) if isinstance(thing, Thing) else None


def again(things):
    """Return things that were packed, pickled and made again."""
    rows = pickle.loads(pickle.dumps(pack(things, state)))
    return [rows.at(k) for k in range(rows.size)]


def same(one, other):
    """Say whether two things are of the same types and have the same bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Thing):
        return vars(one).keys() == vars(other).keys() and all(same(v, vars(other)[k]) for k, v in vars(one).items())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        flags = [(array.flags.writeable, array.flags.c_contiguous) for array in (one, other)]
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes() and (
            flags[0] == flags[1]
        )  # fmt: skip
    if isinstance(one, float):
        return np.float64(one).tobytes() == np.float64(other).tobytes()
    return one == other


def read_only(array):
    array.flags.writeable = False
    return array


COLUMNS = {
    "numbers": [0.5, -0.0, float("nan")],
    "whole numbers": [1, -2, 3],
    "huge numbers": [1, 2**70, 3],
    "yes and no": [True, False, True],
    "numbers of NumPy": [np.float64(1.0), np.float64(2.0), np.float64(np.inf)],
    "single precision": [np.float32(0.1), np.float32(0.2), np.float32(0.3)],
    "flags of NumPy": [np.bool_(True), np.bool_(False), np.bool_(True)],
    "words": ["a", "b", "a"],
    "words of NumPy": [np.str_("a"), np.str_("bc"), np.str_("d")],
    "nothing": [None, None, None],
    "of several types": [None, 1.0, 2],
    "arrays": [np.arange(3.0) + k for k in range(3)],
    "arrays of several shapes": [np.zeros(k) for k in range(3)],
    "arrays of several kinds": [np.zeros(2), np.zeros(2, dtype=np.float32), np.zeros(2, dtype=int)],
    "read-only arrays": [read_only(np.full((2, 2), float(k))) for k in range(3)],
    "arrays by columns": [np.asfortranarray(np.arange(6.0).reshape(2, 3) + k) for k in range(3)],
    "named tuples": [Pair(0.5 * k, np.full(2, k)) for k in range(3)],
    "named tuples of several types": [Pair(0.5, None), Pair(None, 1), Pair(1, "a")],
    "things": [Thing(float(k), Thing("a" * k)) for k in range(3)],
    "lists": [[1], [2, 3], []],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_things_come_back_as_they_were(name):
    things = [Thing(value, "the same") for value in COLUMNS[name]]
    assert same(again(things), things)


def test_things_of_all_kinds_keep_their_order():
    columns = [values for name, values in COLUMNS.items() if name != "read-only arrays"]  # no other pickle keeps that
    mixed = [Thing(value) for values in zip(*columns, strict=True) for value in values]
    mixed += ["not taken apart", 3.0]
    assert same(again(mixed), mixed)


def test_what_is_the_same_for_all_is_there_once_and_arrays_are_stacked():
    shared = np.zeros(1000)
    rows = pack([Thing(shared, np.full(4, float(k))) for k in range(50)], state)
    common, stacked = rows.groups[0].columns
    assert isinstance(common, Same)
    assert common.value is shared
    assert isinstance(stacked, Stacked)
    assert stacked.values.shape == (50, 4)
    assert rows.at(3).value is rows.at(7).value


def test_one_thing_does_not_hold_on_to_the_others():
    rows = pack([Thing(np.full(4, float(k))) for k in range(50)], state)
    assert rows.at(3).value.base is None


def test_nothing_to_pack():
    assert again([]) == []
