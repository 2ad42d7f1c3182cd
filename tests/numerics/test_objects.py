import numpy as np
import pandas as pd
import pytest
from naming import plain_id

from kmcf.numerics.objects import as_objects, describe, is_numeric, take


@pytest.mark.parametrize(
    ("collection", "shape"),
    [
        ([1, 2, 3], (3, 1)),
        ((1.5, 2.5), (2, 1)),
        ([True, False], (2, 1)),
        ([[1, 2], [3, 4], [5, 6]], (3, 2)),
        ([np.zeros((4, 5)), np.ones((4, 5))], (2, 4, 5)),
        (np.arange(6, dtype=np.int16), (6, 1)),
        (np.zeros((7, 2), dtype=np.float32), (7, 2)),
        (np.zeros((2, 3, 4), dtype=np.uint8), (2, 3, 4)),
        (np.empty((0, 3)), (0, 3)),
        (np.array([[1, 2.5], [3, 4]], dtype=object), (2, 2)),
        (pd.Series([1.0, 2.0]), (2, 1)),
        (pd.DataFrame({"x": [1, 2, 3], "y": [0.5, 0.0, 1.0]}), (3, 2)),
    ],
)
def test_numbers_become_a_float_array_with_one_row_per_object(collection, shape):
    read = as_objects(collection, "states")
    assert isinstance(read, np.ndarray)
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, np.array(np.asarray(collection).tolist(), dtype=float).reshape(shape))


@pytest.mark.parametrize(
    "collection",
    [
        ["left", "right"],
        [[1, 2], [3]],
        [np.zeros(2), np.zeros(3)],
        [{"a": 1}, {"a": 2}],
        [None, 1.0],
        [object(), object()],
    ],
)
def test_other_objects_stay_a_list_of_the_same_objects(collection):
    read = as_objects(collection, "observations")
    assert isinstance(read, list)
    assert all(new is old for new, old in zip(read, collection, strict=True))


def test_object_and_string_arrays_become_lists():
    assert as_objects(np.array(["a", "b"]), "observations") == ["a", "b"]
    assert as_objects(np.array([None, "b"], dtype=object), "observations") == [None, "b"]


def test_structured_keeps_lists_even_of_numbers():
    assert as_objects([[1, 2], [3, 4]], "observations", structured=True) == [[1, 2], [3, 4]]
    assert isinstance(as_objects((1, 2), "observations", structured=True), list)


def test_structured_reads_numeric_arrays_as_arrays():
    read = as_objects(np.zeros((3, 2), dtype=np.uint8), "observations", structured=True)
    assert isinstance(read, np.ndarray)
    assert read.dtype == np.uint8


@pytest.mark.parametrize("wrong", ["text", b"bytes", {"a": 1}, {1, 2}, 3.0, None, (i for i in range(3))], ids=plain_id)
def test_what_has_no_entries_per_example_is_an_error_with_its_name(wrong):
    with pytest.raises(TypeError, match=rf"my data must be an array or a list .*, not {type(wrong).__name__}"):
        as_objects(wrong, "my data")


def test_an_array_without_axes_is_an_error():
    with pytest.raises(TypeError, match=r"my data must be .* not a single number"):
        as_objects(np.array(3.0), "my data")


def test_complex_numbers_are_an_error_that_says_what_to_do():
    with pytest.raises(TypeError, match="real and imaginary parts as columns"):
        as_objects([1j, 2.0], "states")


def test_reading_does_not_share_memory_with_integers_and_keeps_values():
    numbers = np.array([[1, 2]], dtype=np.int64)
    as_objects(numbers, "states")[:] = 0.0
    np.testing.assert_array_equal(numbers, [[1, 2]])


@pytest.mark.parametrize(
    ("collection", "numeric"),
    [
        (np.zeros(2), True),
        (np.array([True]), True),
        (np.array([1], dtype=np.uint8), True),
        (pd.Series([1.0]), True),
        ([1.0, 2.0], False),
        (np.array(["a"]), False),
        (np.array([None]), False),
        (np.array([1j]), False),
    ],
)
def test_is_numeric_is_for_real_numeric_arrays_only(collection, numeric):
    assert is_numeric(collection) is numeric


def test_take_picks_from_arrays_lists_and_tuples_of_collections():
    indices = np.array([2, 0, 2])
    array = np.arange(8.0).reshape(4, 2)
    words = ["a", "b", "c", "d"]
    np.testing.assert_array_equal(take(array, indices), [[4.0, 5.0], [0.0, 1.0], [4.0, 5.0]])
    assert take(words, indices) == ["c", "a", "c"]
    parts = take((array, (words, array[:, 0])), indices)
    np.testing.assert_array_equal(parts[0], array[[2, 0, 2]])
    assert parts[1][0] == ["c", "a", "c"]
    np.testing.assert_array_equal(parts[1][1], [4.0, 0.0, 4.0])
    assert take(words, np.array([], dtype=int)) == []


@pytest.mark.parametrize(
    ("collection", "words"),
    [
        (np.zeros((3, 2)), "an array of shape (3, 2)"),
        (["a", 1, "b"], "a list of 3 objects (int, str)"),
        ([], "a list of 0 objects ()"),
        ("text", "str"),
        (5, "int"),
    ],
)
def test_describe_says_shape_or_length_and_kinds(collection, words):
    assert describe(collection) == words


def test_words_among_the_columns_of_a_table_are_named():
    table = pd.DataFrame({"t": ["a", "b"], "x": [1.0, 2.0], "mode": ["auto", "auto"]})
    with pytest.raises(TypeError, match=r"columns 't', 'mode' hold no numbers; pass the columns that do"):
        as_objects(table, "states")
    assert as_objects(table[["x"]], "states").shape == (2, 1)
    assert len(as_objects(table[["t", "mode"]], "observations", structured=True)) == 2  # words on purpose
