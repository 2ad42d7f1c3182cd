"""Further examples, fewer examples, other settings: what is reused gives what a fit from scratch gives."""

import warnings

import numpy as np
import pytest
from engine_cases import MODEL, TEST, TRAIN, fitted
from sklearn.base import clone

import kmcf
from kmcf.kernels import Gaussian, Learned

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 1))
Y = np.hstack([X, X**2, RNG.normal(size=(70, 2))]) + 0.3 * RNG.normal(size=(70, 4))


def move(states, control, rng):
    return 0.9 * states + 0.3 * rng.normal(size=states.shape)


SETTINGS = [{"epsilon": 2e-2}, {"epsilon": 1e-4, "delta": 1e-3}, {"state_kernel__multiplier": 2.0, "delta": 1e-2}]


# --- other settings ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")  # random data: now and then weights cancel
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


def test_a_fitted_observation_kernel_is_kept_where_it_does_not_change():
    first = kmcf.KernelMonteCarloFilter(move, observation_kernel=Gaussian(), random_state=0).fit(X, Y)
    same = first.refitted(X, Y, state_kernel=Gaussian(0.5), n_particles=50)
    assert same.observation_kernel_ is first.observation_kernel_
    for settings in ({"observation_kernel__multiplier": 2.0}, {"observation_kernel": Gaussian()}, {"floor": -9.0}):
        assert first.refitted(X, Y, **settings).observation_kernel_ is not first.observation_kernel_


def test_an_observation_kernel_that_was_chosen_is_chosen_again():
    first = kmcf.KernelMonteCarloFilter(move, random_state=0).fit(X, Y[:, 0])
    again = first.refitted(X, Y[:, 0], state_kernel=Gaussian(0.5))
    assert again.observation_kernel_ is not first.observation_kernel_


# --- further examples -------------------------------------------------------------------------------------------------


def test_partial_fit_equals_a_fit_to_all_examples():
    """The same pivots or not: to tolerance both factors reproduce the kernel matrices, so the answers agree."""
    kernels = {"state_kernel": Gaussian(1.2), "observation_kernel": Gaussian(1.5), "epsilon": 1e-3, "delta": 1e-4}
    both = TRAIN._replace(states=TRAIN.states[:200], observations=TRAIN.observations[:200])
    flt = fitted("compressed", both, **kernels)
    belief = flt.step(flt.start(), TEST.observations[0])
    mean_before, weights_before = belief.mean().copy(), belief.weights.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.StalePivotsWarning)
        flt.partial_fit(TRAIN.states[200:250], TRAIN.observations[200:250])
        flt.partial_fit(TRAIN.states[250:], TRAIN.observations[250:])
    reference = fitted("compressed", **kernels)
    np.testing.assert_array_equal(flt.states_, TRAIN.states)
    a = flt.step(flt.start(), TEST.observations[0])
    b = reference.step(reference.start(), TEST.observations[0])
    np.testing.assert_allclose(a.mean(), b.mean(), atol=1e-3)
    flt.refresh()
    np.testing.assert_allclose(flt.step(flt.start(), TEST.observations[0]).mean(), b.mean(), atol=1e-10)
    np.testing.assert_array_equal(belief.weights, weights_before)
    np.testing.assert_array_equal(belief.mean(), mean_before)


@pytest.mark.parametrize("engine", ["literal", "exact", "lowrank"])
def test_partial_fit_refits_other_engines(engine):
    kernels = {"state_kernel": Gaussian(1.2), "observation_kernel": Gaussian(1.5), "epsilon": 1e-3, "delta": 1e-4}
    some = TRAIN._replace(states=TRAIN.states[:100], observations=TRAIN.observations[:100])
    flt = fitted(engine, some, **kernels).partial_fit(TRAIN.states[100:], TRAIN.observations[100:])
    reference = fitted(engine, **kernels)
    np.testing.assert_array_equal(flt.filter(TEST.observations[:3]).mean, reference.filter(TEST.observations[:3]).mean)


def test_new_territory_warns_and_refresh_learns_it():
    flt = fitted("compressed", state_kernel=Gaussian(1.0), observation_kernel=Gaussian(1.5), delta=1e-4)
    rng = np.random.default_rng(0)
    states = 30.0 + rng.normal(size=(50, 1))
    with pytest.warns(kmcf.StalePivotsWarning, match="refresh"):
        flt.partial_fit(states, states + rng.normal(size=(50, 1)))
    ranks = flt.ranks_
    flt.refresh()
    assert flt.ranks_[0] > ranks[0]
    far = kmcf.KernelMonteCarloFilter.partial_fit  # an unfitted filter is simply fitted
    fresh = kmcf.KernelMonteCarloFilter(MODEL.transition, random_state=0)
    assert far(fresh, TRAIN.states, TRAIN.observations).seed_ == 0


@pytest.mark.parametrize(
    ("states", "observations", "message"),
    [
        (np.zeros((3, 2)), np.zeros((3, 1)), "fitted on"),
        (np.zeros((3, 1)), np.zeros((3, 2)), "fitted on"),
        (np.zeros((3, 1)), np.zeros((2, 1)), "3 states but 2"),
        (np.zeros((0, 1)), np.zeros((0, 1)), "at least one example"),
        (np.full((3, 1), np.nan), np.zeros((3, 1)), "NaN"),
    ],
)
def test_partial_fit_with_bad_input_changes_nothing(states, observations, message):
    flt = fitted("compressed")
    expected = flt.filter(TEST.observations[:3]).mean
    with pytest.raises(ValueError, match=message):
        flt.partial_fit(states, observations)
    np.testing.assert_array_equal(flt.filter(TEST.observations[:3]).mean, expected)


def test_partial_fit_says_when_it_cannot():
    with pytest.raises(ValueError, match="fit again"):
        fitted(n_examples=50).partial_fit(TRAIN.states, TRAIN.observations)


# --- fewer examples ---------------------------------------------------------------------------------------------------


def test_n_examples_filters_with_a_herded_subset():
    flt = fitted(n_examples=80)
    chosen = kmcf.subsample(
        TRAIN.states, TRAIN.observations, 80, state_kernel=flt.state_kernel_, observation_kernel=flt.observation_kernel_
    )
    np.testing.assert_array_equal(flt.example_indices_, chosen.indices)
    np.testing.assert_array_equal(flt.states_, TRAIN.states[chosen.indices])
    assert flt.subsample_error_ == pytest.approx(chosen.error)
    run, full = flt.filter(TEST.observations), fitted().filter(TEST.observations)
    errors = [np.sqrt(np.mean((r.mean - TEST.states) ** 2)) for r in (run, full)]
    assert errors[0] < 1.3 * errors[1]
    assert len(fitted(n_examples=1000).states_) == 300


def test_n_examples_with_a_precomputed_kernel():
    kernel = Gaussian(1.0)
    G = kernel(TRAIN.observations)
    direct = fitted(n_examples=60, observation_kernel=kernel, delta=1e-4).filter(TEST.observations[:5])
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition,
        initial=MODEL.initial,
        observation_kernel="precomputed",
        n_examples=60,
        delta=1e-4,
        resample_threshold=0.0,
        random_state=3,
    ).fit(TRAIN.states, G)
    run = flt.filter(kernel(TEST.observations[:5], TRAIN.observations))
    np.testing.assert_allclose(run.mean, direct.mean, atol=1e-6)
