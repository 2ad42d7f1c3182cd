"""What every filter promises, tested on all of them alike."""

import warnings

import numpy as np
import pytest
from every_filter import FILTERS, MOVING, TEST, TRAIN, fitted, push
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kmcf
from kmcf.support.search_space import Category, Integer, LogNormal


@pytest.fixture(params=FILTERS)
def name(request):
    return request.param


def online(flt, observations, controls, stream=0):
    belief, beliefs = flt.start(stream), []
    for y, u in zip(observations, controls, strict=True):
        belief = flt.step(belief, y, u)
        beliefs.append(belief)
    return beliefs


def test_shapes_and_normalisation(name):
    run = fitted(name).filter(TEST.observations, TEST.controls)
    assert isinstance(run, kmcf.FilterRun)
    assert run.mean.shape == run.mode.shape == (12, 1)
    assert run.covariance.shape == (12, 1, 1)
    assert run.interval.shape == (12, 2, 1)
    for column in (run.ess, run.weight_sum, run.negative_mass, run.rejected, run.coverage, run.herding_loss):
        assert column.shape == (12,)
    np.testing.assert_array_equal(run.time, np.arange(1, 13))
    for belief in run:
        assert belief.weights.sum() == pytest.approx(1.0)
        assert isinstance(belief, kmcf.Belief)
        assert not belief.weights.flags.writeable
    assert np.isfinite(run.weight_sum).all()
    assert np.sqrt(np.mean((run.mean - TEST.states) ** 2)) < 2.3  # the states' standard deviation


def test_online_is_batch_bit_for_bit(name):
    flt = fitted(name)
    observations = [*TEST.observations[:5], None, *TEST.observations[6:]]
    run = flt.filter(observations, TEST.controls)
    for t, belief in enumerate(online(flt, observations, TEST.controls)):
        np.testing.assert_array_equal(run[t].states, belief.states)
        np.testing.assert_array_equal(run[t].weights, belief.weights)
        np.testing.assert_array_equal(run.mean[t], belief.mean())


def test_steps_are_pure(name):
    flt = fitted(name)
    belief = flt.step(flt.start(), TEST.observations[0])
    before = np.array(belief.states), np.array(belief.weights)
    once, again = (flt.step(belief, TEST.observations[1], 0.3) for _ in range(2))
    np.testing.assert_array_equal(once.weights, again.weights)
    np.testing.assert_array_equal(once.states, again.states)
    np.testing.assert_array_equal(belief.states, before[0])
    np.testing.assert_array_equal(belief.weights, before[1])


def test_streams_are_independent_and_the_seed_decides(name):
    flt, same, other = fitted(name), fitted(name), fitted(name, random_state=4)
    np.testing.assert_array_equal(flt.start().states, same.start().states)
    assert not np.array_equal(flt.start(0).states, flt.start(1).states)
    assert not np.array_equal(flt.start().states, other.start().states)
    first, second = flt.filter_many([TEST.observations[:4]] * 2, [TEST.controls[:4]] * 2)
    assert np.array_equal(first.mean, second.mean) == (name not in MOVING)


def test_a_batch_is_its_sequences(name):
    flt = fitted(name)
    batch = np.stack([TEST.observations[:6], TEST.observations[6:]])
    controls = [TEST.controls[:6], TEST.controls[6:]]
    run = flt.filter(batch, controls)
    assert run.mean.shape == (2, 6, 1)
    for b, member in enumerate(flt.filter_many(list(batch), controls)):
        np.testing.assert_array_equal(run.mean[b], member.mean)


def test_missing_observations_predict(name):
    flt = fitted(name)
    run = flt.filter([TEST.observations[0], None, np.array([np.nan]), TEST.observations[3]], TEST.controls[:4])
    np.testing.assert_array_equal(run.missing, [False, True, True, False])
    np.testing.assert_array_equal(np.isnan(run.weight_sum), [False, True, True, False])
    assert not run.rejected.any()
    if name != "KBR":  # moves by 0.9 x + u + noise
        predicted = 0.9 * run.mean[0] + TEST.controls[1]
        assert abs(float((run.mean[1] - predicted)[0])) < 0.5
    ahead = flt.forecast(run[0], 3, TEST.controls[:3])
    assert ahead.missing.all()
    assert ahead.mean.shape == (3, 1)


def test_the_first_step_makes_no_transition(name):
    flt = fitted(name)
    start = flt.start()
    first = flt.step(start, None, control=1e6)
    np.testing.assert_array_equal(first.states, start.states)
    np.testing.assert_array_equal(first.weights, start.weights)
    assert (start.time, first.time) == (0, 1)
    observed = [flt.step(start, TEST.observations[0], control) for control in (None, 1e6)]
    np.testing.assert_array_equal(observed[0].mean(), observed[1].mean())


def test_controls_reach_the_transition(name):
    seen = []

    def noting(states, control, rng):
        seen.append(control)
        return push(states, 0.0, rng)

    flt = fitted(name, transition=noting)
    flt.filter([TEST.observations[0], None, TEST.observations[2]], ["first", "second", "third"])
    expected = {"KBR": [], "kNN regression": ["second"], "NAI": ["second"]}
    assert seen == expected.get(name, ["second", "third"])


def test_initial_draws_are_used(name):
    flt = fitted(name, initial=lambda size, rng: np.full((size, 1), 7.0))
    np.testing.assert_array_equal(flt.start().states, 7.0)


def test_angles_are_circular(name):
    """Near ±π the mean of directions is near ±π, not near 0."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(-np.pi, np.pi, size=(80, 1))
    observations = np.hstack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(80, 2))

    def turn(states, control, rng):
        return states + 0.1 * rng.normal(size=states.shape)

    settings = {"angles": (0,), "transition": turn}
    if name == "oracle":
        settings["log_likelihood"] = lambda x, y: 20 * (np.cos(x[:, 0]) * y[0] + np.sin(x[:, 0]) * y[1])
    flt = clone(FILTERS[name]).set_params(**settings).fit(angle, observations)
    run = flt.filter(np.tile([[-1.0, 0.0]], (4, 1)))
    tolerance = 0.5 if name == "KBR" else 0.25  # the examples are no sequence: it learns a useless transition
    assert (np.abs(run.mean) > np.pi - tolerance).all()
    assert (np.abs(run[3].states) <= np.pi).all()


def test_cloning_and_parameters(name):
    flt = FILTERS[name]
    twin = clone(flt)
    assert repr(twin.get_params()) == repr(flt.get_params())
    assert not hasattr(clone(fitted(name)), "seed_")
    assert set(twin.get_params(deep=False)) >= {"transition", "initial", "angles", "random_state"}


def test_the_search_space_starts_at_the_defaults_and_can_be_set(name):
    flt = FILTERS[name]
    space = flt.search_space()
    rng = np.random.default_rng(0)
    for parameter in space.values():
        assert isinstance(parameter, LogNormal | Integer | Category)
    current = flt.get_params()
    for key, parameter in space.items():
        assert current[key] is None or current[key] == parameter.center
    changed = clone(flt).set_params(**{key: parameter.draw(rng) for key, parameter in space.items()})
    assert np.isfinite(changed.fit(TRAIN.states, TRAIN.observations).filter(TEST.observations[:3]).mean).all()


def test_unfitted_filters_say_so(name):
    with pytest.raises(NotFittedError, match="fit"):
        clone(FILTERS[name]).filter(TEST.observations)


def test_refitting_forgets(name):
    flt = fitted(name)
    flt.fit(TRAIN.states[:30] + 100.0, TRAIN.observations[:30])
    assert flt.start().mean() > 90


@pytest.mark.parametrize(
    ("states", "observations", "message"),
    [
        (np.zeros((3, 1)), np.zeros((4, 1)), "3 states but 4 observations"),
        (np.zeros((1, 1)), np.zeros((1, 1)), "at least two examples"),
        (np.array([[0.0], [np.nan]]), np.zeros((2, 1)), "states contain NaN"),
    ],
)
def test_bad_examples(name, states, observations, message):
    with pytest.raises(ValueError, match=message):
        clone(FILTERS[name]).fit(states, observations)


def test_bad_calls(name):
    flt = fitted(name)
    with pytest.raises(ValueError, match=r"observations have shape \(3, 2\)"):
        flt.filter(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="2 controls for 3 steps"):
        flt.filter(np.zeros((3, 1)), controls=[0, 0])
    with pytest.raises(TypeError, match="a belief from start"):
        flt.step("belief", 0.0)
    with pytest.raises(TypeError, match="transition must be a function"):
        clone(FILTERS[name]).set_params(transition="walk").fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(TypeError, match="initial must be a function"):
        clone(FILTERS[name]).set_params(initial="here").fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(ValueError, match="angles"):
        clone(FILTERS[name]).set_params(angles=(4,)).fit(TRAIN.states, TRAIN.observations)


def test_constant_and_duplicated_examples_do_not_crash(name):
    for states, observations in (
        (np.zeros((10, 1)), np.zeros((10, 1))),
        (np.repeat(TRAIN.states[:5], 4, axis=0), np.repeat(TRAIN.observations[:5], 4, axis=0)),
        (TRAIN.states[:10], np.zeros((10, 1))),
    ):
        flt = clone(FILTERS[name]).fit(states, observations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
            assert np.isfinite(flt.filter(observations[:5]).mean).all()
