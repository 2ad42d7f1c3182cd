import numpy as np

from kmcf.numerics.growing import Growing


def test_appending_keeps_the_old_and_shares_the_buffer():
    first = Growing(np.arange(4.0)[:, None])
    second = first.append(np.array([[4.0]]))
    third = second.append(np.array([[5.0]]))
    np.testing.assert_array_equal(third.objects.ravel(), np.arange(6.0))
    np.testing.assert_array_equal(first.objects.ravel(), np.arange(4.0))
    np.testing.assert_array_equal(second.objects.ravel(), np.arange(5.0))
    assert np.shares_memory(second.objects, third.objects)


def test_two_branches_do_not_overwrite_each_other():
    base = Growing(np.zeros((2, 1))).append(np.array([[1.0]]))
    left, right = base.append(np.array([[2.0]])), base.append(np.array([[3.0]]))
    assert left.objects[-1, 0] == 2.0
    assert right.objects[-1, 0] == 3.0


def test_lists_are_joined():
    few = Growing(["a"])
    assert few.append(["b", "c"]).objects == ["a", "b", "c"]
    assert few.objects == ["a"]


def test_appending_many_times_copies_little():
    growing, buffers = Growing(np.zeros((1, 1))), set()
    for _ in range(1000):
        growing = growing.append(np.ones((1, 1)))
        buffers.add(id(growing._buffer))
    assert len(growing.objects) == 1001
    assert len(buffers) < 15
