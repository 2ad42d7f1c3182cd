"""Which columns and which examples serve an observation that lacks numbers."""

import numpy as np
import pytest
from gappy_cases import Y, with_gaps

import kmcf
from kmcf.filter.fitting.gaps import known_columns, serving


def by_hand(observations, pattern):
    """The rule as the module's docstring says it, one column at a time."""
    columns = list(np.flatnonzero(pattern))
    some = sum(not np.isnan(row[columns]).all() for row in observations)
    while True:
        rows = [i for i, row in enumerate(observations) if not np.isnan(row[columns]).any()]
        if len(columns) == 1 or len(rows) >= max(min(10, some), np.ceil(0.1 * some)):
            return columns, rows
        absent = [np.isnan(observations[:, j]).sum() for j in columns]
        del columns[int(np.argmax(absent))]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_columns_and_examples(share, seed):
    gappy = with_gaps(np.hstack([Y, Y**2]), share, seed)
    for pattern in np.random.default_rng(seed).uniform(size=(5, 8)) < 0.7:
        columns, rows = by_hand(gappy, pattern)
        served = serving(gappy, pattern)
        assert served.columns.tolist() == columns
        assert served.rows.tolist() == rows
        assert served.left_out == pattern.sum() - len(columns)


def test_a_column_is_known_if_two_examples_have_it():
    nan = np.nan
    assert known_columns(np.array([[1.0, nan, nan], [2.0, 1.0, nan], [nan, nan, nan]])).tolist() == [True, False, False]


@pytest.mark.parametrize("learns_motion", [False, True])
def test_the_examples_end_where_those_that_lack_numbers_end_for_alarms_too(learns_motion):
    states = np.linspace(-3.0, 3.0, 121)[:, None]
    seen = np.hstack([states, states + 0.1 * np.random.default_rng(0).normal(size=states.shape)])
    seen[np.abs(states[:, 0]) > 1.0, 1] = np.nan
    walk = kmcf.transitions.GaussianRandomWalk(0.1)
    kernel = kmcf.kernels.Gaussian()
    flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kernel, random_state=0)
    flt = kmcf.baselines.KernelBayesFilter(observation_kernel=kernel) if learns_motion else flt
    run = flt.fit(states, seen).filter(seen[85:115])
    assert np.abs(run.mean - states[85:115]).max() < 0.5
    assert (run.alarm_reason == "uncovered state").mean() < 0.2
