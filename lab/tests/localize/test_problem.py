"""Which steps count."""

import numpy as np

from kmcf_lab.localize.problem import Measure


def test_steps_that_count():
    assert Measure("mean", dropped_share=0.25).judged(np.arange(8.0) + 100).tolist() == [False] * 2 + [True] * 6
    assert Measure("rmse").judged(np.arange(3.0)).all()
    assert Measure("mean", dropped_seconds=5).words == "estimates are posterior means, first 5 s dropped"
