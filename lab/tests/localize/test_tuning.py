"""A trial against leaving a robot out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from kmcf.datasets import examples, thinned
from kmcf_lab.localize.methods import unfitted
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.splits import rarely_observed
from kmcf_lab.localize.tuning import tuned


def test_a_trial_is_run_and_judged_as_a_test(robots):
    """Leave one training robot out by hand: examples thinned, observations shown rarely, late steps judged."""
    one = replace(robots, trials=1)
    fold, settings, measure = one.fold("robot 1"), one.settings, Measure("mean", dropped_seconds=20.0)
    flt = unfitted("knn-pf", settings, fold, seed=3)
    found = tuned(flt, settings, fold, measure, trials=1, seed=3)
    errors = []
    order = sorted(range(4), key=lambda k: -len(fold.training[k]))  # folds are dealt by length; here all are as long
    for stream, k in enumerate(order):
        rest = [robot for number, robot in enumerate(fold.training) if number != k]
        fitted_one = clone(flt).set_params(random_state=3).fit(*examples([thinned(one, fold.every) for one in rest]))
        belief = fitted_one.start(stream)
        followed = rarely_observed(fold.training[k], fold.used_every)
        for t in range(len(followed)):
            belief = fitted_one.step(belief, followed.observations[t], followed.controls[t])
            error = np.linalg.norm(belief.mean()[:2] - followed.states[t][:2])
            errors.append(error if followed.time[t] >= 20.0 else 0.0)
    assert found.value == pytest.approx(np.mean(errors), rel=1e-6)
