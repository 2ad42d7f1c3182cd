"""When a correction is to be trusted."""

import warnings

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule import DensePosterior


def posterior(weights, coverage=1.0):
    weights = np.asarray(weights, dtype=float)
    return DensePosterior(
        rule=None,
        support=np.arange(len(weights))[:, None],
        weight_sum=float(weights.sum()),
        observation_coverage=coverage,
        state_coverage=1.0,
        unnormalised=weights,
    )


@pytest.mark.parametrize(
    ("weights", "usable"),
    [
        ([0.5, 0.5], True),
        ([0.0005, 0.0004], False),  # the sum is tiny
        ([-0.3, 0.2], False),  # and this one is negative
        ([0.06, -0.049], True),  # negative mass 4.5
        ([0.062, -0.052], False),  # 5.2
        ([6.1, -5.5], True),  # 9.2, but the sum gives no reason to look
    ],
)
def test_weights_that_cancel_are_not(weights, usable):
    assert posterior(weights).usable is usable


def test_an_observation_unlike_all_examples_is_not():
    assert not posterior([0.5, 0.5], coverage=1e-8).usable
    assert posterior([0.5, 0.5], coverage=1.1e-8).usable


def test_a_step_whose_weights_cancel_keeps_the_prediction():
    """Model 2b, whose paper settings once gave a posterior mean of 69 where no state is beyond 10."""
    model = kmcf.datasets.paper_model("2b")
    kernel = kmcf.kernels.AsinhScaled(kmcf.kernels.Gaussian(multiplier=0.7))
    largest, rejected = {True: 0.0, False: 0.0}, 0
    for seed in (1, 6):
        train, test = model.simulate(60, random_state=(seed, 0)), model.simulate(200, random_state=(seed, 1))
        for reject in (True, False):
            flt = kmcf.KernelMonteCarloFilter(
                model.transition,
                model.initial,
                observation_kernel=kernel,
                random_state=seed,
                reject=reject,
                relocate=False,  # a filter that looks elsewhere comes back sooner
            ).fit(train.states, train.observations)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
                run = flt.filter(test.observations, test.controls)
            largest[reject] = max(largest[reject], float(np.abs(run.mean).max()))
            rejected += int(run.rejected.sum())
    assert rejected > 0
    assert largest[True] < 5.0 < 20.0 < largest[False]
