"""Pairs made up from the examples: what they are, when they are used, and that examples stay examples."""

import numpy as np
import pytest
from sklearn.base import clone

import kmcf
from kmcf.datasets import paper_model
from kmcf.filter.fitting.augmenting import MOST, MOST_MADE_UP, made_up, obstacle

MODEL = paper_model("1a")
TRAIN, TEST = MODEL.simulate(120, random_state=0), MODEL.simulate(30, random_state=1)


def fitted(train=TRAIN, model=MODEL, **settings):
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0, **settings)
    return flt.fit(train.states, train.observations)


@pytest.fixture(scope="module")
def flt():
    return fitted()


def test_they_lie_at_example_states_and_a_little_beyond():
    pairs = made_up(TRAIN.states, TRAIN.observations)
    beyond = (pairs.states < TRAIN.states.min()) | (pairs.states > TRAIN.states.max())
    assert beyond.sum() == round(0.9 * 120)
    assert np.isin(pairs.states[~beyond], TRAIN.states).all()
    reach = np.abs(TRAIN.states - TRAIN.states.mean()).max()
    assert np.abs(pairs.states - TRAIN.states.mean()).max() <= 1.6 * reach
    again = made_up(TRAIN.states, TRAIN.observations)
    np.testing.assert_array_equal(again.observations, pairs.observations)
    large = MODEL.simulate(450, random_state=2)
    assert len(made_up(large.states, large.observations).states) <= MOST_MADE_UP


def test_a_limit_that_examples_share_is_kept():
    heard = np.maximum(TRAIN.observations, -1.0)
    assert made_up(TRAIN.states, heard).observations.min() == -1.0
    assert made_up(TRAIN.states, TRAIN.observations).observations.min() < TRAIN.observations.min()


def test_the_error_falls_where_the_model_is_right_and_examples_that_contradict_it_are_heard(flt):
    errors = {}
    for augment in (None, False):
        squares = []
        for seed in range(6):
            train, test = (MODEL.simulate(n, random_state=(seed, k)) for k, n in enumerate((60, 200)))
            squares.append(np.mean((fitted(train, augment=augment).filter(test.observations).mean - test.states) ** 2))
        errors[augment] = np.sqrt(np.mean(squares))
    assert errors[None] < 0.97 * errors[False]
    assert flt.augmented_ == 348
    rng = np.random.default_rng(0)
    states = rng.uniform(-3, 3, size=(200, 1))
    flips = np.where(states % 1.0 < 0.5, 4.0, -4.0) * rng.choice([-1.0, 1.0], size=(200, 1), p=[0.05, 0.95])
    assert kmcf.KernelMonteCarloFilter(MODEL.transition, random_state=0).fit(states, flips).augmented_ == 0


def test_the_posterior_goes_beyond_the_examples_with_an_alarm(flt):
    edge = TRAIN.states.max()
    run = flt.filter(np.full((15, 1), edge + 1.5))
    assert run.mean[-1, 0] > edge
    assert run.alarm[run.mean[:, 0] > edge].all()
    assert fitted(augment=False).filter(np.full((15, 1), edge + 1.5)).mean[-1, 0] < edge


def test_examples_stay_examples(flt):
    np.testing.assert_array_equal(flt.states_, TRAIN.states)
    assert len(flt.learnt_.states) == 120 + flt.augmented_
    belief = flt.step(flt.start(), TEST.observations[0])
    np.testing.assert_array_equal(belief.states[:120], TRAIN.states)
    assert np.isin(fitted_without_start().start().states, TRAIN.states).all()
    assert flt.n_particles_ == 120
    assert "348 pairs made up" in repr(flt)
    assert "348 pairs made up" in flt.explain(measure=False)


def fitted_without_start():
    return kmcf.KernelMonteCarloFilter(MODEL.transition, random_state=0).fit(TRAIN.states, TRAIN.observations)


def test_files_keep_them(flt, tmp_path):
    flt.save(tmp_path / "f.kmcf")
    loaded = kmcf.load(tmp_path / "f.kmcf", transition=MODEL.transition, initial=MODEL.initial)
    assert loaded.augmented_ == flt.augmented_
    np.testing.assert_array_equal(loaded.filter(TEST.observations).mean, flt.filter(TEST.observations).mean)
    loaded.refresh()
    np.testing.assert_allclose(loaded.filter(TEST.observations).mean, flt.filter(TEST.observations).mean, atol=1e-6)


def test_further_examples_come_beside_them(flt):
    more = MODEL.simulate(20, random_state=5)
    grown = fitted().partial_fit(more.states, more.observations)
    assert (len(grown.states_), grown.augmented_) == (140, flt.augmented_)
    by_hand = kmcf.KernelMonteCarloFilter(
        MODEL.transition,
        initial=MODEL.initial,
        random_state=0,
        n_particles=140,
        epsilon=flt.epsilon_,
        delta=flt.delta_,
        state_kernel=lambda a, b: flt.state_kernel_(a, b),
        observation_kernel=lambda a, b: flt.observation_kernel_(a, b),
    )
    pairs = flt.learnt_.further
    by_hand.fit(
        np.concatenate([TRAIN.states, more.states, pairs.states]),
        np.concatenate([TRAIN.observations, more.observations, pairs.observations]),
    )
    y = TEST.observations[0]
    first, second = (one.step(one.start(), y).mean() for one in (grown, by_hand))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_settings_that_a_user_gave_are_those_of_the_examples_alone():
    for given in ({"delta": 1e-4}, {"engine": "exact"}, {"state_kernel": kmcf.kernels.Gaussian(1.0)}, {"rank": 30}):
        assert fitted(**given).augmented_ == 0
        assert fitted(augment=True, **given).augmented_ == 348
    short, long = (MODEL.simulate(n, random_state=0) for n in (30, MOST + 1))
    assert fitted(short).augmented_ == fitted(long).augmented_ == 0


def test_other_regularisers_and_tuning():
    flt = fitted()
    found = flt.refitted(TRAIN.states, TRAIN.observations, delta=1e-3)
    np.testing.assert_allclose(
        found.filter(TEST.observations).mean, fitted(delta=1e-3).filter(TEST.observations).mean, atol=1e-9
    )
    explicit = next(iter(clone(flt).variants(TRAIN.states, TRAIN.observations).filters.values()))
    assert explicit.augment is True
    again = explicit.set_params(random_state=0).fit(TRAIN.states, TRAIN.observations)
    np.testing.assert_allclose(again.filter(TEST.observations).mean, flt.filter(TEST.observations).mean, atol=1e-7)


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="augment=True, but no pairs can be made up from these examples: some columns"):
        fitted(augment=True, angles=[0])
    with pytest.raises(ValueError, match="engine='literal' is the paper's algorithm, which knows recorded pairs only"):
        fitted(augment=True, engine="literal")
    with pytest.raises(ValueError, match="n_examples keeps some of them"):
        fitted(augment=True, n_examples=50)
    with pytest.raises((TypeError, ValueError), match="augment"):
        fitted(augment="yes")
    assert obstacle(np.zeros((3, 1)), np.array([[0, 3], [1, 0], [2, 2]]), ()) == "observations are counts"


def test_a_kernel_that_cannot_compare_them_says_so():
    """A kernel matrix has no rows for pairs, a histogram no negative entries, and a trend no value for NaN."""
    gram = np.exp(-((TRAIN.observations - TRAIN.observations.T) ** 2))
    with pytest.raises(ValueError, match="no pairs can be made up from these examples: the kernel matrix is all"):
        kmcf.KernelMonteCarloFilter(MODEL.transition, observation_kernel="precomputed", augment=True).fit(
            TRAIN.states, gram
        )
    histograms = np.hstack([np.abs(TRAIN.observations), TRAIN.observations**2])
    assert made_up(TRAIN.states, histograms).observations.min() < 0.0
    with pytest.raises(ValueError, match="augment=True, but the observation kernel refuses pairs made up: ChiSquared"):
        kmcf.KernelMonteCarloFilter(MODEL.transition, observation_kernel=kmcf.kernels.ChiSquared(), augment=True).fit(
            TRAIN.states, histograms
        )
    scans = np.where(np.arange(12) == 3, np.inf, np.abs(TRAIN.observations) + np.arange(12.0))
    with pytest.raises(ValueError, match="some numbers of the observations are NaN or infinite"):
        kmcf.KernelMonteCarloFilter(MODEL.transition, observation_kernel=kmcf.kernels.LaserScan(), augment=True).fit(
            TRAIN.states, scans
        )


def test_columns_left_that_are_counts_are_used_without_pairs():
    """The whole observation is no vector of counts; where its first number is missing, the rest is."""
    counts = np.random.default_rng(0).poisson(np.exp(np.clip(TRAIN.states, -2, 2)) * [1.0, 2.0]).astype(float)
    augmented = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0, augment=True)
    augmented.fit(TRAIN.states, np.hstack([TRAIN.observations, counts]))
    assert augmented.augmented_ > 0
    alone = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    alone.fit(TRAIN.states, counts)
    assert alone.augmented_ == 0
    first = augmented.step(augmented.start(), np.hstack([np.nan, counts[5]]))
    np.testing.assert_allclose(first.mean(), alone.step(alone.start(), counts[5]).mean(), atol=1e-9)


def test_units_do_not_matter():
    pairs = made_up(TRAIN.states, TRAIN.observations)
    with np.errstate(all="raise", under="ignore"):
        large = made_up(TRAIN.states, 2.0**600 * TRAIN.observations)
    np.testing.assert_array_equal(large.observations, 2.0**600 * pairs.observations)
    assert made_up(TRAIN.states, np.zeros_like(TRAIN.observations)).observations.any() == 0


def test_every_sensor_says_how_many_it_has():
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, random_state=0)
    flt.fit({"near": (TRAIN.states, TRAIN.observations), "far": (TRAIN.states[:30], TRAIN.observations[:30])})
    assert [sensor.augmented_ for sensor in flt.sensors_.values()] == [348, 0]
    assert "(120, 1) and 348 pairs made up from them, " in flt._repr_html_()
    assert "(30, 1), " in flt._repr_html_()


@pytest.mark.parametrize("engine", ["exact", "lowrank", "compressed"])
def test_what_a_belief_shows_cannot_be_overwritten(engine):
    flt = fitted(augment=True, engine=engine)
    belief = flt.step(flt.start(), TEST.observations[0])
    with pytest.raises(ValueError, match="read-only"):
        belief.states[:] = 0.0


@pytest.mark.parametrize("fails", [True, False])
def test_a_transition_that_knows_only_the_examples_moves_the_nearest(fails):
    low, high = TRAIN.states.min(), TRAIN.states.max()
    seen = []

    def confined(states, control, rng):
        seen.append(control)
        outside = (states < low) | (states > high)
        if fails and outside.any():
            raise LookupError("off the map")
        return np.where(outside, np.nan, np.clip(0.9 * states + rng.normal(size=states.shape), low, high))

    flt = kmcf.KernelMonteCarloFilter(confined, random_state=0).fit(TRAIN.states, TRAIN.observations)
    assert flt.augmented_ == 348
    assert not seen
    run = flt.filter(np.full((6, 1), high + 1.0))
    assert np.isfinite(run.mean).all()
    assert run.alarm[run.mean[:, 0] > high].all()


def test_a_transition_that_fails_among_the_examples_fails():
    def broken(states, control, rng):
        raise LookupError("off the map")

    flt = kmcf.KernelMonteCarloFilter(broken, random_state=0).fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(LookupError, match="off the map"):
        flt.filter(TEST.observations)
