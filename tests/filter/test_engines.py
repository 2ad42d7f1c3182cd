"""All engines behind the public interface give the same answers."""

import copy
import functools
import pickle
import warnings

import numpy as np
import pytest
from engine_cases import MODEL, TEST, TRAIN, fitted
from sklearn.base import clone

import kmcf
from kmcf.datasets import PAPER_MODELS, paper_model
from kmcf.kernels import FromCallable


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


@functools.cache
def followed_exactly(name):
    """The exact engine on one of the paper's models, and how far from the truth it was; found once for all ranks."""
    model = paper_model(name)
    train, test = model.simulate(200, random_state=(0, 0)), model.simulate(120, random_state=(0, 1))
    flt = fitted("exact", train, model)
    return model, train, test, flt, error_of(flt, test)


def error_of(flt, test):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
        run = flt.filter(test.observations, test.controls)
    return np.sqrt(np.mean((run.mean - test.states) ** 2))


@pytest.mark.parametrize("rank", [10, 20])
@pytest.mark.parametrize("name", PAPER_MODELS)
def test_low_ranks_degrade_gracefully_on_all_models(name, rank):
    model, train, test, exact, error = followed_exactly(name)
    chosen = {"observation_kernel": clone(exact.kernel_choice_.kernel), "delta": exact.delta_}  # what both would choose
    low = fitted("lowrank", train, model, rank=rank, **chosen)
    assert np.isfinite(error)
    assert error_of(low, test) < 1.3 * error


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
