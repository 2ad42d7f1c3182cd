"""Parameters of a transition from observations alone, against a Kalman filter that knows the observation model."""

import numpy as np
import pytest
from known_models import autoregressive_likelihood
from scipy.optimize import minimize_scalar

import kmcf
from kmcf.adaptation.objective import objective_of

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(200, random_state=0), MODEL.simulate(200, random_state=1)


def linear(scale=1.0, drift=0.9):
    return lambda states, control, rng: drift * states + scale * rng.normal(size=states.shape)


@pytest.fixture(scope="module")
def flt():
    made = kmcf.KernelMonteCarloFilter(linear(), initial=MODEL.initial, n_particles=100, random_state=0)
    return made.fit(TRAIN.states, TRAIN.observations)


@pytest.fixture(scope="module")
def found(flt):
    return kmcf.learn_transition(flt, TEST.observations, {"scale": (0.2, 5.0)}, make=linear, start={"scale": 3.0})


def test_the_noise_is_that_of_the_kalman_filter_within_the_interval(found):
    best = minimize_scalar(lambda log: -autoregressive_likelihood(TEST.observations, 0.9, np.exp(log)), (-1.0, 1.0)).x
    low, high = found.intervals["scale"]
    assert low < np.exp(best) < high
    assert np.log(high / low) < 1.2
    assert found.improved
    assert found.at_bound == ()


def test_the_filter_learnt_shares_everything_but_the_motion(flt, found):
    assert found.best_filter.rule_ is flt.rule_
    assert flt.transition is not found.transition
    again = objective_of(flt, TEST.observations, None, None, objective="score", repeats=1)
    total = np.nansum(again(linear(scale=found.estimates["scale"])))
    run = found.best_filter.filter(TEST.observations)
    assert np.nansum(run.prediction_score[1:]) == pytest.approx(total)
    assert total >= max(row["value"] for row in found.rows) - 1.0
    assert list(found.table.columns) == ["scale", "value", "error"]
    assert len(found.plot()) == 1


def test_the_drift_by_the_evidence_is_that_of_the_kalman_filter(flt):
    drifts = np.linspace(0.6, 1.0, 5)
    evidence = objective_of(flt, TEST.observations, None, None, objective="evidence", repeats=1)
    totals = [np.nansum(evidence(linear(drift=drift))) for drift in drifts]
    truth = [autoregressive_likelihood(TEST.observations, drift, 1.0) for drift in drifts]
    assert abs(drifts[np.argmax(totals)] - drifts[np.argmax(truth)]) <= 0.1


@pytest.mark.parametrize("name", ["1b", "2a", "4a"])
def test_predictions_of_the_true_transition_score_best(name):
    model = kmcf.datasets.paper_model(name)
    train, test = model.simulate(150, random_state=0), model.simulate(150, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, n_particles=100, random_state=0)
    flt.fit(train.states, train.observations)
    score = objective_of(flt, test.observations, test.controls, None, objective="score", repeats=1)

    def other(states, control, rng):
        return 0.3 * states + 3.0 * rng.normal(size=states.shape)

    def still(states, control, rng):
        return states + 0.1 * rng.normal(size=states.shape)

    right, *wrong = (np.nansum(score(transition)) for transition in (model.transition, other, still))
    assert right > max(wrong)


def test_missing_observations_and_several_sequences_count_as_what_they_are(flt):
    gappy = TEST.observations.copy()
    gappy[50:60] = np.nan
    one = objective_of(flt, gappy, None, None, objective="score", repeats=1)(linear())
    assert np.isnan(one).sum() == 10
    several = objective_of(flt, [gappy, TEST.observations[:40]], None, None, objective="score", repeats=2)(linear())
    assert len(several) == 199 + 39


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"sequences": TEST.observations[:10]}, "at least 20"),
        ({"sequences": np.full((50, 1), np.nan)}, "no step has a prediction score"),
        ({"sequences": []}, "no sequence"),
        ({"objective": "likelihood"}, "'score' or 'evidence'"),
        ({"repeats": 0}, "at least once"),
        ({"level": 2.0}, "between 0 and 1"),
        ({"make": 3}, "cannot be called"),
        ({"controls": np.zeros(3)}, "3 controls for a sequence of 200"),
        ({"sequences": [TEST.observations], "times": []}, "0 sequences of times"),
    ],
)
def test_bad_input_gets_a_sentence(flt, more, sentence):
    given = {"sequences": TEST.observations, "make": linear, **more}
    sequences = given.pop("sequences")
    with pytest.raises((ValueError, TypeError), match=sentence):
        kmcf.learn_transition(flt, sequences, {"scale": (0.5, 2.0)}, **given)
    with pytest.raises(Exception, match="call fit"):
        kmcf.learn_transition(kmcf.KernelMonteCarloFilter(linear()), TEST.observations, {"scale": (0.5, 2.0)})


def test_a_parameter_that_wants_to_leave_its_bounds_is_told(flt):
    with pytest.warns(kmcf.LearningWarning, match="at a bound"):
        kmcf.learn_transition(flt, TEST.observations[:60], {"scale": (2.5, 5.0)}, make=linear)
