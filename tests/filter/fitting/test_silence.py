"""What a missing number means: a floor where a sensor heard nothing, given or learnt from the examples."""

import numpy as np
import pytest
from gappy_cases import YS, X, Y, assert_same, make, with_gaps, without

import kmcf
from kmcf.filter.fitting.silence import Filling, learn_filling, silence_depends_on_state
from kmcf.kernels import AsinhScaled, Gaussian

PLAIN = AsinhScaled(Gaussian(multiplier=0.7))
RNG = np.random.default_rng(3)


def beacons(states, rng):
    """Three beacons that are heard only nearby, and a sensor that fails at random."""
    posts = np.array([[-1.5, -1.5], [1.5, -1.5], [0.0, 1.5]])
    distances = np.linalg.norm(states[:, None] - posts, axis=2)
    strength = -50.0 - 10.0 * distances + rng.normal(size=distances.shape)
    failing = np.where(rng.uniform(size=len(states)) < 0.3, np.nan, states[:, 0])
    return np.column_stack([np.where(distances < 2.0, strength, np.nan), failing])


STATES = RNG.uniform(-2.0, 2.0, size=(200, 2))
HEARD = beacons(STATES, RNG)


def test_a_floor_is_a_number_in_place_of_nan():
    """In examples and in use, for all columns or for some; only what has no number at all stays missing."""
    gappy, ys = with_gaps(Y, 0.2, seed=0), with_gaps(YS, 0.4, seed=1)
    low = float(np.min(Y)) - 1.0
    found = make(floor=low, observation_kernel=PLAIN).fit(X, gappy)
    expected = make(observation_kernel=PLAIN).fit(X, np.where(np.isnan(gappy), low, gappy))
    assert_same(found.filter(ys), expected.filter(np.where(np.isnan(ys), low, ys)))
    assert found.filter(np.full((2, 4), np.nan)).missing.all()
    np.testing.assert_array_equal(found.floor_, np.full(4, low))
    assert expected.floor_ is None

    some = np.array([None, low, None, low])
    filled = [np.where(np.isnan(part) & np.array([False, True, False, True]), low, part) for part in (gappy, ys)]
    found = make(floor=some, observation_kernel=PLAIN).fit(X, gappy)
    assert_same(found.filter(ys), make(observation_kernel=PLAIN).fit(X, filled[0]).filter(filled[1]))


def test_the_examples_say_where_silence_depends_on_the_state():
    assert silence_depends_on_state(STATES, np.isnan(HEARD)).tolist() == [True, True, True, False]
    floor = learn_filling("auto", STATES, HEARD).floor
    assert np.isnan(floor[3])
    lowest, highest = np.nanmin(HEARD[:, :3], axis=0), np.nanmax(HEARD[:, :3], axis=0)
    np.testing.assert_allclose(floor[:3], lowest - 0.1 * (highest - lowest))
    mixed = learn_filling(["auto", None, -99.0, "auto"], STATES, HEARD).floor
    np.testing.assert_allclose(mixed, [floor[0], np.nan, -99.0, np.nan])


@pytest.mark.parametrize("seed", range(5))
def test_outages_are_not_silence(seed):
    """At random, in bursts, or for the whole of one half: none of them comes back at the same states."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(size=(300, 2)), axis=0) % 4.0
    burst = np.zeros(300, dtype=bool)
    burst[70:95] = burst[220:240] = True
    missing = np.column_stack([rng.uniform(size=300) < 0.2, burst, np.arange(300) < 150])
    assert not silence_depends_on_state(walk, missing).any()


def test_angles_are_compared_on_the_circle():
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(200, 1))
    behind = np.abs(angles) > 2.6
    assert silence_depends_on_state(angles, behind, angles=[0]).all()


@pytest.mark.filterwarnings("ignore::kmcf.FewExamplesWarning")
def test_silence_that_means_something_helps():
    """Six beacons with a short reach: what is not heard tells where they are not."""
    rng = np.random.default_rng(5)
    posts = rng.uniform(-2.0, 2.0, size=(6, 2))

    def heard(states):
        distances = np.linalg.norm(states[:, None] - posts, axis=2)
        strength = -50.0 - 10.0 * distances + 2.0 * rng.normal(size=distances.shape)
        return np.where(distances < 1.6, strength, np.nan)

    walk = np.clip(np.cumsum(0.3 * rng.normal(size=(40, 2)), axis=0), -2.0, 2.0)
    learnt_from, seen = heard(STATES), heard(walk)
    errors = {}
    for floor in (None, "auto"):
        flt = make(floor=floor, observation_kernel=PLAIN).fit(STATES, learnt_from)
        errors[floor] = np.mean(np.linalg.norm(flt.filter(seen).mean - walk, axis=1))
    assert errors["auto"] < 0.8 * errors[None]


def test_filling_never_invents_observations():
    filling = Filling(np.array([-9.0, np.nan]), np.array([False, False]))
    np.testing.assert_array_equal(filling(np.array([np.nan, 1.0])), [-9.0, 1.0])
    np.testing.assert_array_equal(filling(np.array([np.nan, np.nan])), [np.nan, np.nan])
    np.testing.assert_array_equal(filling(np.array([3.0, np.nan])), [3.0, np.nan])


@pytest.mark.parametrize(
    ("floor", "sentence"),
    [
        ("quiet", r"floor = 'quiet'; it must be a number, 'auto' or None"),
        (np.inf, "floor = inf; it must be a number"),
        (True, "floor = True; it must be a number"),
        ([0.0, "low"], "it must be a number, 'auto' or None"),
        ([-100.0], "floor has 1 entries, but the observations have 4 columns"),
        (0.0, r"the floor of column 0 is 0, but examples hold numbers down to -\d.*: silence lies at or below"),
    ],
)
def test_floors_that_make_no_sense(floor, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(floor=floor).fit(X, Y)


def test_floors_for_what_is_not_numeric():
    words = make(floor=-1.0, observation_kernel=kmcf.kernels.Spectrum(1))
    with pytest.raises(ValueError, match="floor is for observations that are vectors of numbers"):
        words.fit(X[:3], ["a", "b", "c"])
    named = make(floor="auto", observation_kernel=PLAIN, state_kernel=kmcf.kernels.Spectrum(1), initial=None)
    with pytest.raises(ValueError, match="predicts silence from states that are vectors of numbers"):
        named.fit(["a", "b", "c"] * 20, with_gaps(Y[:60], 0.2, seed=0))


def test_a_floor_serves_kernels_that_cannot_handle_gaps():
    """A function of the user's gets whole vectors; gaps without a floor are still refused."""

    def kernel(a, b):
        return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    gappy = without(Y, 2)
    gappy[:5, 2] = Y[:5, 2]
    flt = make(floor=[None, None, -9.0, None], observation_kernel=kernel).fit(X, gappy)
    filled = np.where(np.isnan(gappy), -9.0, gappy)
    expected = make(observation_kernel=kernel).fit(X, filled)
    ys = without(YS, 2)
    assert_same(flt.filter(ys), expected.filter(np.where(np.isnan(ys), -9.0, ys)))
    with pytest.raises(ValueError, match="partly NaN"):
        flt.filter(without(YS, 1))
    with pytest.raises(ValueError, match="observations contain NaN or infinity in 90 of 90"):
        make(floor=[None, None, -9.0, None], observation_kernel=kernel).fit(X, without(Y, 1))
    flt.partial_fit(X[:2], gappy[-2:])
    with pytest.raises(ValueError, match="observations contain NaN or infinity in 2 of 2"):
        flt.partial_fit(X[:2], without(Y[:2], 1))
