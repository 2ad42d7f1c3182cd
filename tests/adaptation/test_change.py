"""The test for a changed sensor: it keeps its rate on walks like its own, and notices what was changed."""

import numpy as np
import pytest

import kmcf
from kmcf.adaptation.change import stretch_of, verdict_of
from kmcf.adaptation.change_walks import walk_over

MODEL = kmcf.datasets.paper_model("4b")
TRAIN, SEEN = MODEL.simulate(150, random_state=0), MODEL.simulate(60, random_state=3)


@pytest.fixture(scope="module")
def flt():
    made = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_particles=30, random_state=0)
    return made.fit(TRAIN.states, TRAIN.observations)


def test_a_change_is_noticed_after_it_happened_and_nothing_without_one(flt):
    broken = SEEN.observations.copy()
    broken[30:] += 6.0
    found = kmcf.sensor_changed(flt, broken, SEEN.controls, rate=0.1, walks=9)
    assert found.changed
    assert found.p_value == pytest.approx(0.1)
    assert 30 < found.step <= 60
    assert "has changed since fit" in str(found)
    usual = kmcf.sensor_changed(flt, SEEN.observations, SEEN.controls, rate=0.1, walks=9)
    assert not usual.changed
    assert usual.step is None
    assert "no change" in str(usual)
    assert usual.summary()["walks"] == 9


def test_a_run_like_the_walks_is_reported_at_the_stated_rate():
    """Of twenty that are alike, each is the most unusual one equally often: many signals and few walks or not."""
    rng = np.random.default_rng(0)
    reported = 0
    for _ in range(600):
        everyone = rng.normal(size=(20, 1)) + rng.normal(size=(20, 15))
        found = verdict_of([everyone[:1]], everyone[1:], 0.05)
        reported += found.changed
    assert reported / 600 == pytest.approx(0.05, abs=0.027)  # three standard errors
    everyone[0] += 20.0
    assert verdict_of([everyone[:1]], everyone[1:], 0.05).changed


def test_a_mean_differs_from_walks_over_a_sample_by_the_stretch_more_than_they_do(flt):
    """Walks of T steps over n numbers share the error of these numbers' own mean."""
    rng = np.random.default_rng(1)
    steps, n = 30, len(TRAIN.states)
    apart = []
    for _ in range(3000):
        numbers = rng.normal(size=n)
        walk = rng.choice(numbers, size=steps).mean()
        apart.append((rng.normal(size=steps).mean() - numbers.mean(), walk - numbers.mean()))
    new, walks = np.std(apart, axis=0)
    assert new / walks == pytest.approx(stretch_of(flt, [SEEN.observations[:steps]]), rel=0.05)


def test_walks_go_over_the_examples_given_as_the_transition_leads(flt):
    rng = np.random.default_rng(0)
    places = np.arange(0, 150, 2)
    path = walk_over(flt, TRAIN.states, places, 40, (np.full(40, 0.5), None), rng)
    assert set(path) <= set(places)
    steps = np.diff(TRAIN.states[path][:, 0])
    inside = np.abs(steps) < 3  # others jumped at the edge
    assert np.mean(steps[inside]) == pytest.approx(0.5, abs=0.5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"observations": SEEN.observations[:10]}, "too short"),
        ({"rate": 0.9}, "between 0.001 and 0.5"),
        ({"observations": [SEEN.observations], "controls": []}, "0 sequences of controls"),
    ],
)
def test_bad_input_gets_a_sentence(flt, given, sentence):
    observations = given.pop("observations", SEEN.observations)
    with pytest.raises(ValueError, match=sentence):
        kmcf.sensor_changed(flt, observations, **given)
