"""The filter as a scikit-learn estimator: constructors store, fit learns, copies behave alike."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import AsinhScaled, Gaussian

MODEL = paper_model("1b")
TRAIN = MODEL.simulate(40, random_state=0)
TEST = MODEL.simulate(12, random_state=1)


CONTRACT = {
    "initial": None,
    "state_kernel": None,
    "observation_kernel": None,
    "epsilon": None,
    "delta": None,
    "rule": "kbr",
    "engine": "auto",
    "tolerance": None,
    "rank": None,
    "resampling": "herding",
    "n_resample": 100,
    "resample_threshold": 2.0,
    "n_particles": None,
    "support": "examples",
    "n_examples": None,
    "angles": (),
    "random_state": None,
    "reject": None,
    "floor": None,
    "relocate": None,
    "augment": None,
}


def make(**settings):
    return kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, **({"random_state": 5} | settings))


def fitted(**settings):
    return make(**settings).fit(TRAIN.states, TRAIN.observations)


def test_the_constructor_has_the_documented_arguments_and_defaults():
    parameters = inspect.signature(kmcf.KernelMonteCarloFilter).parameters
    assert next(iter(parameters)) == "transition"
    assert {name: parameters[name].default for name in CONTRACT} == CONTRACT
    assert set(parameters) == {"transition", *CONTRACT}


def test_the_constructor_only_stores():
    """Even nonsense: complaints are for fit. The very objects come back."""
    nonsense = {name: object() for name in CONTRACT}
    flt = kmcf.KernelMonteCarloFilter("no function", **nonsense)
    stored = flt.get_params(deep=False)
    assert stored.pop("transition") == "no function"
    assert all(stored[name] is value for name, value in nonsense.items())
    assert set(vars(flt)) == {"transition", *CONTRACT}


def test_get_set_clone():
    flt = fitted(epsilon=0.01, state_kernel=Gaussian(2.0))
    assert flt.get_params()["state_kernel__bandwidth"] == 2.0
    flt.set_params(delta=0.5, state_kernel__bandwidth=3.0)
    assert flt.delta == 0.5
    copied = clone(flt)
    assert copied.get_params(deep=False).keys() == flt.get_params(deep=False).keys()
    assert copied.epsilon == 0.01
    assert copied.state_kernel is not flt.state_kernel
    assert copied.state_kernel.bandwidth == 3.0
    assert not hasattr(copied, "seed_")
    with pytest.raises(ValueError, match="Invalid parameter"):
        flt.set_params(no_such_thing=1)


def test_a_clone_fits_to_the_same_filter():
    flt = fitted()
    again = clone(flt).fit(TRAIN.states, TRAIN.observations)
    expected = flt.filter(TEST.observations, TEST.controls).mean
    np.testing.assert_array_equal(again.filter(TEST.observations, TEST.controls).mean, expected)


def test_fit_returns_self_and_leaves_the_settings_alone():
    flt = make()
    before = flt.get_params(deep=False)
    assert flt.fit(TRAIN.states, TRAIN.observations) is flt
    assert flt.get_params(deep=False) == before
    for name in ("epsilon_", "delta_", "seed_", "engine_", "state_kernel_", "observation_kernel_", "states_"):
        assert hasattr(flt, name), name


def test_fitting_again_forgets_the_old_examples():
    flt = fitted()
    other = MODEL.simulate(30, random_state=9)
    flt.fit(other.states, other.observations)
    fresh = make().fit(other.states, other.observations)
    run, expected = (f.filter(TEST.observations, TEST.controls) for f in (flt, fresh))
    np.testing.assert_array_equal(run.mean, expected.mean)


@pytest.mark.parametrize("kernel", [Gaussian(), AsinhScaled(Gaussian()), 2 * Gaussian() + Gaussian(1.0), RBF(1.5)])
def test_the_users_kernels_are_not_touched(kernel):
    before = pickle.dumps(kernel)
    flt = fitted(state_kernel=kernel, observation_kernel=kernel)
    flt.filter(TEST.observations[:3], TEST.controls[:3])
    assert pickle.dumps(kernel) == before
    assert flt.state_kernel is kernel
    assert flt.state_kernel_ is not kernel
    assert flt.state_kernel_ is not flt.observation_kernel_


COPIES = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES.keys())
def test_copies_of_filters_beliefs_and_runs_go_on_identically(duplicate):
    flt = fitted(state_kernel=Gaussian(), observation_kernel=2 * Gaussian())
    run = flt.filter(TEST.observations, TEST.controls)
    other = duplicate(flt)
    np.testing.assert_array_equal(other.filter(TEST.observations, TEST.controls).mean, run.mean)
    kept = duplicate(run[5])
    assert kept.time == 6
    np.testing.assert_array_equal(kept.weights, run[5].weights)
    assert not kept.weights.flags.writeable or kept.weights is not run[5].weights
    for continuing, belief in ((flt, kept), (other, run[5]), (other, kept)):
        after = continuing.step(belief, TEST.observations[6], TEST.controls[6])
        np.testing.assert_array_equal(after.weights, run[6].weights)
    saved = duplicate(run)
    for name in ("mean", "covariance", "mode", "ess", "weight_sum", "herding_loss", "coverage", "rejected"):
        np.testing.assert_array_equal(getattr(saved, name), getattr(run, name))
    np.testing.assert_array_equal(saved[3].weights, run[3].weights)
    np.testing.assert_array_equal(kept.sample(5), run[5].sample(5))


def test_an_unfitted_filter_can_be_copied_too():
    flt = pickle.loads(pickle.dumps(make(epsilon=0.02)))
    assert flt.epsilon == 0.02
    assert "KernelMonteCarloFilter" in repr(flt)
