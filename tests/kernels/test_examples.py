"""A kernel with one argument fixed to the examples; that it gives parts of the matrix is in test_kernel_contract.py."""

import numpy as np
import pytest

from kmcf.kernels import Constant, FromCallable, Gaussian, Kernel

EXAMPLES = np.random.default_rng(0).normal(size=(12, 3))
OTHERS = np.random.default_rng(1).normal(size=(5, 3))


class Misshapen(Kernel):
    """A kernel that forgets an axis."""

    def evaluate(self, a, b):
        return np.ones(len(a))


def test_example_kernel_refuses_matrices_of_the_wrong_shape():
    fixed = Misshapen().on_examples(EXAMPLES)
    with pytest.raises(ValueError, match=r"Misshapen\(\) returned an array of shape \(12,\) for 12 and 5 objects"):
        fixed.against(OTHERS)
    with pytest.raises(ValueError, match=r"must return a matrix of shape \(12, 12\)"):
        fixed.matrix()


def test_kernels_on_plain_objects_keep_lists():
    words = ["left", "right", "left"]
    same = FromCallable(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
    expected = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    fixed = (same + Constant(1.0)).on_examples(words)
    np.testing.assert_array_equal(fixed.matrix(), expected + 1.0)
    np.testing.assert_array_equal(fixed.diagonal(), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(fixed.subset(np.array([1])).against(["right", "left"]), [[2.0, 1.0]])


def test_the_precision_of_the_examples_can_change():
    kernel = Gaussian(1.0) + Constant(0.5)
    single = kernel.on_examples(EXAMPLES).mapped(lambda array: array.astype(np.float32))
    assert single.size == 12
    np.testing.assert_allclose(single.matrix(), kernel(EXAMPLES), atol=1e-6)
    assert np.abs(single.matrix() - kernel(EXAMPLES)).max() > 0
