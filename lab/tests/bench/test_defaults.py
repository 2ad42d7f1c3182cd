"""The default filter, beside the tight one."""

import numpy as np
import pytest

from kmcf_lab.bench import defaults


@pytest.mark.slow
def test_defaults_cost_less_and_err_as_little(monkeypatch):
    monkeypatch.setattr(defaults, "STEPS", 12)
    monkeypatch.setattr(defaults, "SEQUENCES", 2)
    problem = defaults.counts(420, columns=5)
    default, tight = (defaults._measured(problem, tolerance) for tolerance in (None, 1e-8))
    assert default.tolerance == "default"
    assert default.ranks[1] <= tight.ranks[1]
    np.testing.assert_allclose(default.error, tight.error, rtol=0.2)
    assert default.milliseconds > 0.0


def test_what_follows_the_examples_is_not_among_them():
    for problem in (defaults.spikes(), defaults.counts(50)):
        assert problem.later_states.shape[1:] == problem.states.shape[1:]
        known = {row.tobytes() for row in problem.states}
        assert not any(row.tobytes() in known for row in problem.later_states)
