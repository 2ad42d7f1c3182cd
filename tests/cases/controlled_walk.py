"""A filter for the paper's model 1b, with a transition that can do without controls, and ways to walk through time."""

import numpy as np

import kmcf
from kmcf.datasets import paper_model

MODEL = paper_model("1b")


def push(states, control, rng):
    return 0.9 * states + (0.0 if control is None else control) + rng.normal(size=states.shape)


def fitted(n=40, *, transition=push, seed=3, flat=False, **settings):
    """A filter for n examples and no pairs made up; ``flat``: observations are given as (n,)."""
    train = MODEL.simulate(n, random_state=0)
    observations = train.observations[:, 0] if flat else train.observations
    settings = {"n_resample": 15, "augment": False} | settings
    return kmcf.KernelMonteCarloFilter(transition, random_state=seed, **settings).fit(train.states, observations)


def data(length=15, seed=1):
    """Observations and controls of a sequence."""
    test = MODEL.simulate(length, random_state=seed)
    return test.observations, test.controls


def online(flt, observations, controls=None, stream=0):
    """The beliefs of single steps."""
    belief = flt.start(stream=stream)
    beliefs = []
    for t, y in enumerate(observations):
        belief = flt.step(belief, y, None if controls is None else controls[t])
        beliefs.append(belief)
    return beliefs


def assert_identical(run, beliefs):
    """Bit for bit."""
    assert len(run) == len(beliefs)
    for t, belief in enumerate(beliefs):
        np.testing.assert_array_equal(run[t].weights, belief.weights)
        np.testing.assert_array_equal(run[t].states, belief.states)
        np.testing.assert_array_equal(run.mean[t], belief.mean())
        np.testing.assert_array_equal(run.covariance[t], belief.covariance())
        np.testing.assert_array_equal(run.mode[t], belief.mode())
        assert run.ess[t] == belief.ess
        np.testing.assert_array_equal(run.weight_sum[t], belief.report.weight_sum)
        np.testing.assert_array_equal(run.herding_loss[t], belief.report.herding_loss)
        np.testing.assert_array_equal(run.coverage[t], belief.report.coverage)
        assert run.negative_mass[t] == belief.negative_mass
        assert run.time[t] == belief.time == t + 1
