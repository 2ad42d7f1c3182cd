"""Every filter after fit: other functions take effect, copies and pickles go on alike."""

import copy
import pickle

import numpy as np
import pytest
from every_filter import FILTERS, MODEL, TEST, TRAIN, fitted, push
from sklearn.base import clone


@pytest.fixture(params=FILTERS)
def name(request):
    return request.param


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


def pull(states, control, rng):
    """Another transition, with the same noise."""
    return -0.5 * states + rng.normal(size=states.shape)


def at_seven(size, rng):
    return np.full((size, 1), 7.0)


def test_another_transition_after_fit_takes_effect_at_the_next_step(name):
    flt = fitted(name)
    flt.filter(TEST.observations[:2])  # everything that is prepared lazily is prepared
    flt.transition = pull
    expected = fitted(name, transition=pull)
    seen = [TEST.observations[0], None, None, TEST.observations[3]]
    for run in (flt.filter(seen), pickled(flt).filter(seen)):
        np.testing.assert_array_equal(run.mean, expected.filter(seen).mean)
    np.testing.assert_array_equal(flt.forecast(flt.start(), 3).mean, expected.forecast(expected.start(), 3).mean)
    flt.transition = push
    np.testing.assert_array_equal(flt.filter(seen).mean, fitted(name).filter(seen).mean)


def test_other_initial_draws_after_fit_take_effect_at_the_next_start(name):
    flt = fitted(name)
    before = flt.start()
    flt.initial = at_seven
    np.testing.assert_array_equal(flt.start().states, 7.0)
    np.testing.assert_array_equal(before.states, fitted(name).start().states)
    flt.initial = None
    np.testing.assert_array_equal(flt.start().states, before.states)


@pytest.mark.parametrize(
    "duplicate", [lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_copies_go_on_as_the_original_does(name, duplicate):
    flt = fitted(name, initial=MODEL.initial)
    observations = [*TEST.observations[:3], None, *TEST.observations[4:8]]
    run = flt.filter(observations, TEST.controls[:8])
    twin = duplicate(flt)
    again = twin.filter(observations, TEST.controls[:8])
    for column in (
        "mean",
        "covariance",
        "mode",
        "interval",
        "ess",
        "weight_sum",
        "herding_loss",
        "coverage",
        "missing",
    ):
        np.testing.assert_array_equal(getattr(again, column), getattr(run, column))
    for t in (2, 3):  # after a correction, after a gap
        belief = duplicate(run[t])
        after = twin.step(belief, observations[t + 1], TEST.controls[t + 1])
        np.testing.assert_array_equal(after.weights, run[t + 1].weights)
        np.testing.assert_array_equal(after.states, run[t + 1].states)
    assert twin.get_params(deep=False).keys() == flt.get_params(deep=False).keys()
    assert twin.seed_ == flt.seed_


def test_what_was_not_fitted_can_be_pickled_and_fitted_then(name):
    twin = pickled(clone(FILTERS[name]))
    run = twin.fit(TRAIN.states, TRAIN.observations).filter(TEST.observations[:3])
    np.testing.assert_array_equal(run.mean, fitted(name).filter(TEST.observations[:3]).mean)


def test_a_pickle_holds_data_and_no_prepared_loop(name):
    """The loop through time is made again of the rest, so that its layout may change between versions."""
    assert "backend_" not in fitted(name).__getstate__()
