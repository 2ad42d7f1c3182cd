"""From intervals to verdicts."""

import numpy as np
import pytest

from kmcf_lab.statistics import Interval
from kmcf_lab.verdicts import above, below, consistent, near


@pytest.mark.parametrize(
    ("interval", "verdicts"),
    [
        ((0.5, 0.4, 0.6), ("holds", "does not hold", "does not hold")),
        ((1.5, 1.4, 1.6), ("does not hold", "holds", "does not hold")),
        ((1.0, 0.95, 1.05), ("not distinguishable", "not distinguishable", "holds")),
        ((1.0, -np.inf, np.inf), ("not distinguishable",) * 3),
    ],
)
def test_verdicts(interval, verdicts):
    given = Interval(*interval)
    assert (below(given, 1.0).value, above(given, 1.0).value, near(given, 1.0, 0.1).value) == verdicts


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.95, 0.8, 1.1), "holds"),  # reaches into 1 ± 0.1 and is narrow
        ((0.95, 0.5, 1.4), "not distinguishable"),
        ((0.5, 0.4, 0.85), "does not hold"),
        ((1.0, -np.inf, np.inf), "not distinguishable"),
    ],
)
def test_a_narrow_interval_that_reaches_the_value_is_consistent_with_it(interval, verdict):
    assert consistent(Interval(*interval), 1.0, 0.1).value == verdict
