"""The data sets of Section 6.2."""

import numpy as np

from kmcf_lab.synthetic.data import simulate_data


def test_methods_meet_the_same_data():
    first, again = simulate_data("2b", 50, 3, 20, 0), simulate_data("2b", 50, 3, 20, 0)
    np.testing.assert_array_equal(first.train.observations, again.train.observations)
    assert first.seed == again.seed
    more = simulate_data("2b", 60, 3, 20, 0)
    np.testing.assert_array_equal(first.test.states, more.test.states)
    assert len(more.train.states) == 60
    for other in (simulate_data("2b", 50, 4, 20, 0), simulate_data("2b", 50, 3, 20, 1)):
        assert not np.any(np.isin(first.test.states, other.test.states))
        assert not np.any(np.isin(first.train.states, other.train.states))
    assert not np.any(np.isin(first.test.states, first.train.states))
