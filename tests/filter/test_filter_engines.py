"""All engines behind the public interface: same answers, what they refuse, how they grow."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import kmcf
from kmcf.datasets import PAPER_MODELS, paper_model
from kmcf.kernels import FromCallable, Gaussian

MODEL = paper_model("1a")
TRAIN, TEST = MODEL.simulate(300, random_state=0), MODEL.simulate(40, random_state=1)


def fitted(engine="auto", train=TRAIN, model=MODEL, **settings):
    # A threshold of zero makes every engine resample at every step, as the compressed one always does.
    settings = {"resample_threshold": 0.0, "random_state": 3, **settings}
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, engine=engine, **settings)
    return flt.fit(train.states, train.observations)


@pytest.mark.parametrize("engine", ["exact", "lowrank", "compressed", "auto"])
def test_runs_agree_with_the_literal_engine_until_herding_ties_flip(engine):
    expected = fitted("literal").filter(TEST.observations)
    run = fitted(engine).filter(TEST.observations)
    same = [np.array_equal(a.states[a.resampled], b.states[b.resampled]) for a, b in zip(run, expected, strict=True)]
    agreeing = same.index(False) if False in same else len(same)
    assert agreeing >= 10
    np.testing.assert_allclose(run.mean[:agreeing], expected.mean[:agreeing], atol=1e-5)
    np.testing.assert_allclose(run.covariance[:agreeing], expected.covariance[:agreeing], atol=1e-4)
    np.testing.assert_allclose(run.ess[:agreeing], expected.ess[:agreeing], rtol=1e-3)
    np.testing.assert_allclose(run.negative_mass[:agreeing], expected.negative_mass[:agreeing], atol=1e-3)
    np.testing.assert_allclose(run.weight_sum[:agreeing], expected.weight_sum[:agreeing], rtol=1e-4)
    np.testing.assert_allclose(run.herding_loss[:agreeing], expected.herding_loss[:agreeing], atol=1e-3)
    np.testing.assert_array_equal(run.mode[:agreeing], expected.mode[:agreeing])


def test_lazy_summaries_equal_those_of_the_beliefs():
    run = fitted("compressed").filter([*TEST.observations[:10], None, *TEST.observations[10:15]])
    for t, belief in enumerate(run):
        weights = belief.weights
        assert run.ess[t] == pytest.approx(1.0 / np.sum(weights**2), rel=1e-6)
        assert run.negative_mass[t] == pytest.approx(-weights[weights < 0].sum(), abs=1e-12)
        np.testing.assert_array_equal(run.mode[t], belief.states[np.argmax(weights)])
        np.testing.assert_allclose(run.mean[t], weights @ belief.states, atol=1e-8)
        assert weights.sum() == pytest.approx(1.0)
    assert len(run[10].states) == 300
    assert run.missing.sum() == 1


def test_a_long_compressed_run_keeps_no_beliefs_but_completes_its_summaries():
    run = fitted("compressed").filter(TEST.observations, keep_beliefs=False)
    with pytest.raises(LookupError, match="keep_beliefs"):
        run[0]
    kept = fitted("compressed").filter(TEST.observations, keep_beliefs=True)
    np.testing.assert_array_equal(run.mode, kept.mode)
    assert np.isfinite(run.negative_mass).all()


def test_auto_tells_what_it_chose():
    flt = fitted()
    assert flt.engine_ == "compressed"
    p, q = flt.ranks_
    assert 10 < p < 60
    assert 5 < q < 60
    assert max(flt.trace_errors_) < 1e-7
    assert fitted(rule="importance").engine_ in ("lowrank", "exact")
    assert fitted(resampling="none").engine_ in ("lowrank", "exact")
    assert fitted(resample_threshold=np.inf).engine_ in ("lowrank", "exact")


@pytest.mark.parametrize("settings", [{"rule": "importance"}, {"resampling": "none"}, {"resample_threshold": np.inf}])
def test_compressed_refuses_what_it_cannot_do(settings):
    with pytest.raises(ValueError, match="engine='lowrank'"):
        fitted("compressed", **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": (3, 4, 5)}, "pair"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": "tight"}, "tolerance"),
        ({"n_examples": 0}, "n_examples"),
        ({"engine": "fast"}, "engine"),
    ],
)
def test_bad_settings_get_a_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(**settings)


@pytest.mark.parametrize("rank", [10, 20])
@pytest.mark.parametrize("name", PAPER_MODELS)
def test_low_ranks_degrade_gracefully_on_all_models(name, rank):
    model = paper_model(name)
    train, test = model.simulate(200, random_state=(0, 0)), model.simulate(120, random_state=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
        low = fitted("lowrank", train, model, rank=rank).filter(test.observations, test.controls)
        full = fitted("exact", train, model).filter(test.observations, test.controls)
    errors = [np.sqrt(np.mean((run.mean - test.states) ** 2)) for run in (low, full)]
    assert np.isfinite(errors).all()
    assert errors[0] < 1.3 * errors[1]


def test_declared_functions_need_no_weights():
    def cube(states):
        return states[:, 0] ** 3

    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, engine="compressed", random_state=0)
    flt.fit(TRAIN.states, TRAIN.observations, functions=[cube])
    belief = flt.step(flt.start(), TEST.observations[0])
    value = belief.expectation(cube)
    assert belief.unformed, "the weights were formed"
    undeclared = belief.expectation(lambda states: states[:, 0] ** 3)
    assert not belief.unformed
    np.testing.assert_allclose(value, undeclared, atol=1e-6)


def test_angles_with_the_compressed_engine():
    rng = np.random.default_rng(0)
    angles = rng.uniform(-np.pi, np.pi, size=(300, 1))
    observations = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) + 0.05 * rng.normal(size=(300, 2))

    def turn(states, control, rng):
        return states + 0.05 * rng.normal(size=states.shape)

    runs = {}
    for engine in ("exact", "compressed"):
        flt = kmcf.KernelMonteCarloFilter(turn, engine=engine, angles=(0,), random_state=0, resample_threshold=0)
        runs[engine] = flt.fit(angles, observations).filter(np.tile([[-1.0, 0.0]], (4, 1)))
    gap = runs["exact"].mean[0] - runs["compressed"].mean[0]
    assert abs(np.angle(np.exp(1j * gap[0]))) < 1e-5
    assert abs(abs(runs["compressed"].mean[0, 0]) - np.pi) < 0.2
    np.testing.assert_allclose(runs["compressed"].covariance[0], runs["exact"].covariance[0], atol=1e-5)


def test_object_states_with_the_low_rank_engines():
    words = [f"room{k % 5}" for k in range(50)]
    observations = np.array([[float(k % 5)] for k in range(50)])
    kernel = FromCallable(lambda A, B: np.array([[float(a == b) for b in B] for a in A]))
    for engine in ("lowrank", "compressed"):
        flt = kmcf.KernelMonteCarloFilter(
            lambda states, control, rng: states, state_kernel=kernel, engine=engine, random_state=0
        )
        run = flt.fit(words, observations).filter([[2.0], [2.0]])
        assert run.mode[-1] == "room2"


@pytest.mark.parametrize("engine", ["lowrank", "compressed"])
def test_pickle_and_deepcopy_keep_the_answers(engine):
    flt = fitted(engine)
    expected = flt.filter(TEST.observations[:5])
    for twin in (pickle.loads(pickle.dumps(flt)), copy.deepcopy(flt)):
        np.testing.assert_array_equal(twin.filter(TEST.observations[:5]).mean, expected.mean)
    belief = pickle.loads(pickle.dumps(expected[2]))
    np.testing.assert_array_equal(belief.weights, expected[2].weights)


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
