"""How many features there will be, before any is computed."""

import numpy as np

from kmcf.bayes_rule.costs import fewest_features
from kmcf.kernels import FromCallable


def test_a_kernel_of_zeros_has_one_feature():
    zeros = FromCallable(lambda a, b: np.zeros((len(a), len(b))))
    assert fewest_features(zeros.on_examples(np.arange(5.0)[:, None])) == 1
