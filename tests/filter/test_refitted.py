"""A filter refitted from another one is the filter fitted from scratch."""

import numpy as np
import pytest
from sklearn.base import clone

import kmcf
from kmcf.kernels import Gaussian, Learned

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 1))
Y = np.hstack([X, X**2, RNG.normal(size=(70, 2))]) + 0.3 * RNG.normal(size=(70, 4))


def move(states, control, rng):
    return 0.9 * states + 0.3 * rng.normal(size=states.shape)


SETTINGS = [{"epsilon": 2e-2}, {"epsilon": 1e-4, "delta": 1e-3}, {"state_kernel__multiplier": 2.0, "delta": 1e-2}]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(
    "options",
    [
        {"engine": "literal"},
        {"engine": "exact"},
        {"engine": "exact", "rule": "importance"},
        {"engine": "lowrank"},
        {"engine": "lowrank", "rule": "importance"},
        {"engine": "compressed"},
        {"support": "particles"},
        {"tolerance": "auto"},
        {"n_examples": 40},
    ],
)
def test_refitted(options, settings):
    kernels = {"state_kernel": Gaussian(multiplier=0.7), "observation_kernel": Gaussian()}
    first = kmcf.KernelMonteCarloFilter(move, epsilon=1e-3, delta=1e-4, random_state=0, **kernels, **options).fit(X, Y)
    before = first.filter(Y[:15]).mean
    again = first.refitted(X, Y, **settings)
    scratch = clone(first).set_params(**settings).fit(X, Y)
    np.testing.assert_allclose(again.filter(Y[:15]).mean, scratch.filter(Y[:15]).mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(first.filter(Y[:15]).mean, before)
    assert again.get_params()["epsilon"] == settings.get("epsilon", 1e-3)
    assert (again.epsilon_, again.delta_) == (scratch.epsilon_, scratch.delta_)


def test_only_regularisers_share_the_factors():
    first = kmcf.KernelMonteCarloFilter(move, engine="compressed", tolerance=1e-4, random_state=0).fit(X, Y[:, 0])
    shared = first.refitted(X, Y[:, 0], epsilon=1e-2, delta=1e-3)
    assert shared.rule_.tensors is first.rule_.tensors
    assert shared.observation_kernel_ is first.observation_kernel_
    with pytest.raises(ValueError, match="epsilon = -1"):
        first.refitted(X, Y[:, 0], epsilon=-1.0)


def test_a_learnt_summary_is_kept_where_it_does_not_change():
    kernel = Learned(kernel=Gaussian())
    first = kmcf.KernelMonteCarloFilter(move, observation_kernel=kernel, random_state=0).fit(X, Y)
    wider = first.refitted(X, Y, observation_kernel__kernel__multiplier=2.0)
    assert wider.observation_kernel_.predictor_ is first.observation_kernel_.predictor_
    assert wider.observation_kernel_.kernel_.bandwidth_ == 2.0 * first.observation_kernel_.kernel_.bandwidth_
    scratch = clone(first).set_params(observation_kernel__kernel__multiplier=2.0).fit(X, Y)
    np.testing.assert_allclose(wider.filter(Y[:10]).mean, scratch.filter(Y[:10]).mean, rtol=1e-7)
    other = first.refitted(X, Y, observation_kernel__folds=3)
    assert other.observation_kernel_.predictor_ is not first.observation_kernel_.predictor_
