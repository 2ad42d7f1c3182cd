"""Adapting to a changed sensor: the truth is the change that was made, and the filter that never saw it."""

import warnings

import numpy as np
import pytest

import kmcf

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, SEEN, LATER = (MODEL.simulate(size, random_state=seed) for size, seed in ((150, 0), (100, 1), (100, 2)))


@pytest.fixture(scope="module")
def flt():
    made = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_particles=40, random_state=0)
    return made.fit(TRAIN.states, TRAIN.observations)


def error(flt, observations):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)  # of a sensor that has changed
        return np.sqrt(np.mean((flt.filter(observations).mean - LATER.states) ** 2))


def changed(observations):
    return 4.0 * observations - 8.0


@pytest.mark.slow
def test_half_of_the_damage_of_an_affine_change_is_repaired_without_states(flt):
    found = kmcf.adapt(flt, changed(SEEN.observations))
    assert found.adapted
    good, bad, repaired = (
        error(flt, LATER.observations),
        error(flt, changed(LATER.observations)),
        error(found.filter, changed(LATER.observations)),
    )
    assert repaired < 0.5 * (good + bad)
    assert found.change.scale[0] == pytest.approx(4.0, rel=0.35)
    assert [row["name"] for row in found.rows] == ["gain", "shift", "shift and scale"]
    assert "adapted" in repr(found)


def test_a_sensor_that_has_not_changed_is_left_alone(flt):
    found = kmcf.adapt(flt, [SEEN.observations[:30], SEEN.observations[30:60]])
    assert not found.adapted
    assert found.filter is flt
    assert found.reason
    assert found.reason in repr(found)


@pytest.mark.slow
def test_one_of_several_columns_that_is_off_is_found_and_the_others_are_left_alone():
    rng = np.random.default_rng(4)
    walk = np.cumsum(0.4 * rng.normal(size=(240, 2)), axis=0)
    walk = np.abs((walk + 3.0) % 12.0 - 6.0)  # reflected, within a room
    posts = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    seen = -6.0 * np.log1p(np.linalg.norm(walk[:, None] - posts, axis=2)) + 0.5 * rng.normal(size=(240, 4))
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.4), n_particles=40, random_state=0)
    flt.fit(walk[:180], seen[:180])
    off = np.array([0.0, 0.0, -6.0, 0.0])
    found = kmcf.adapt(flt, seen[180:] + off)
    assert found.adapted
    assert found.way == "shift of some columns"
    np.testing.assert_allclose(found.change.shift, off, atol=1.5)
    np.testing.assert_array_equal(found.change.scale, 1.0)


def test_few_new_pairs_repair_a_change_and_change_nothing_without_one(flt):
    some = slice(0, 25)
    found = kmcf.adapt(flt, changed(SEEN.observations[some]), SEEN.states[some])
    assert found.adapted
    good, bad = error(flt, LATER.observations), error(flt, changed(LATER.observations))
    assert error(found.filter, changed(LATER.observations)) < 0.5 * (good + bad)
    unchanged = kmcf.adapt(flt, SEEN.observations[some], SEEN.states[some])
    assert error(unchanged.filter, LATER.observations) < 1.15 * good


def test_new_pairs_of_a_change_that_is_not_affine_are_used_as_they_are(flt):
    rng = np.random.default_rng(0)
    states = rng.normal(scale=2.0, size=(120, 1))
    folded = np.abs(states) + 0.3 * rng.normal(size=states.shape)
    found = kmcf.adapt(flt, folded, states)
    assert found.adapted
    assert found.change is None
    assert "new pairs" in found.way


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((SEEN.observations[:5],), "not found in fewer than"),
        ((SEEN.observations[:3], SEEN.states[:3]), "complete new pairs"),
        ((SEEN.observations, SEEN.states[:50]), "states for"),
        ((np.zeros((40, 3)),), "rows of 1 numbers"),
        ((np.array([["a"]] * 40),), "rows of numbers"),
    ],
)
def test_bad_input_gets_a_sentence(flt, given, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        kmcf.adapt(flt, *given)


def test_what_cannot_be_adapted_says_so(flt):
    with pytest.raises(ValueError, match="controls and times are for"):
        kmcf.adapt(flt, SEEN.observations, SEEN.states, controls=np.zeros(100))
    with pytest.raises(ValueError, match="3 controls for 100"):
        kmcf.adapt(flt, SEEN.observations, controls=np.zeros(3))
    with pytest.raises(TypeError, match="works with"):
        kmcf.adapt(kmcf.baselines.NearestNeighbor(), SEEN.observations)
    both = kmcf.KernelMonteCarloFilter(MODEL.transition, random_state=0)
    both.fit({"a": (TRAIN.states, TRAIN.observations), "b": (TRAIN.states, TRAIN.observations)})
    for function in (kmcf.adapt, kmcf.sensor_changed):
        with pytest.raises(ValueError, match="several sensors"):
            function(both, SEEN.observations)
