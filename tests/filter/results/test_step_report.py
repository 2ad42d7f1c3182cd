"""What a step says about itself."""

import numpy as np
import pytest

from kmcf.filter.results.step_report import StepReport


@pytest.mark.parametrize(
    ("observation", "state", "coverage"), [(0.3, 0.8, 0.3), (0.9, 0.2, 0.2), (np.nan, 0.7, 0.7), (0.4, np.nan, 0.4)]
)
def test_the_coverage_is_the_smaller_one_of_those_that_are_known(observation, state, coverage):
    assert StepReport(observation_coverage=observation, state_coverage=state).coverage == coverage


def test_nothing_is_known_of_the_coverage_at_first():
    assert np.isnan(StepReport().coverage)


def test_reports_say_whether_a_state_strays():
    columns = np.array([[0.0] * 8, [0.5] * 8])
    for beyond, running, straying in (
        (columns, columns, True),
        (None, columns, False),
        (columns, 0.1 * columns, False),
    ):
        assert StepReport(beyond=beyond, running_observation=running).straying == straying
