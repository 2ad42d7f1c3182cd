"""Reading what several sensors said, rejecting some of them, and reporting which were used."""

import warnings

import numpy as np
import pytest
from two_sensors import examples, initial, move, walk

import kmcf
from kmcf import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.support.alerts import RejectedStepWarning

GIVEN = examples(60, 0)
FLT = KernelMonteCarloFilter(move, initial, random_state=0).fit(GIVEN)
FAR = 1e9


ALARMS = ("observation_distance", "alarm", "alarm_reason")
"""Nobody watches over a filter with named sensors."""


def same(first, second, but=()):
    for name, values in first.columns().items():
        if name in but:
            continue
        np.testing.assert_array_equal(values, second.columns()[name], err_msg=name)


@pytest.mark.parametrize("kind", [KernelMonteCarloFilter, ParticleLikelihoodFilter])
@pytest.mark.parametrize("settings", [{}, {"n_examples": 30}, {"resampling": "none"}])
def test_one_sensor_in_a_dictionary_is_the_plain_filter_bit_for_bit(kind, settings):
    plain = kind(move, random_state=3, **settings).fit(*GIVEN["wifi"])
    named = kind(move, random_state=3, **settings).fit({"wifi": GIVEN["wifi"]})
    seen = walk(12, 0)["wifi"]
    seen[4] = np.nan
    controls = np.linspace(-1.0, 1.0, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectedStepWarning)
        same(plain.filter(seen, controls), named.filter({"wifi": seen}, controls), but=ALARMS)


def test_a_silent_sensor_changes_nothing():
    """Missing key, None and NaN are the same; and a step with one sensor is that of a filter with the others absent."""
    start = FLT.start()
    alone = FLT.step(start, {"wifi": 0.3})
    for silent in ({"wifi": 0.3, "camera": None}, {"wifi": 0.3, "camera": np.nan}, {"wifi": 0.3, "camera": [np.nan]}):
        np.testing.assert_array_equal(FLT.step(start, silent).weights, alone.weights)
    assert alone.report.sensors.used == ("wifi",)


@pytest.mark.parametrize("silence", [None, {}, {"wifi": None}, {"wifi": np.nan, "camera": None}, float("nan")])
def test_where_no_sensor_spoke_the_step_is_missing(silence):
    belief = FLT.step(FLT.start(), silence)
    assert belief.report.missing
    assert belief.report.sensors.used == ()


def test_sequences_are_lists_of_dictionaries_or_dictionaries_of_sequences():
    seen = walk(8, 1, every=3)
    steps = [{"wifi": w, "camera": None if np.isnan(c) else c} for w, c in zip(*seen.values(), strict=True)]
    run = FLT.filter(seen)
    same(run, FLT.filter(steps))
    same(
        FLT.filter([step if t != 2 else None for t, step in enumerate(steps)]), FLT.filter([*steps[:2], {}, *steps[3:]])
    )
    same(FLT.filter({"wifi": seen["wifi"], "camera": None}), FLT.filter([{"wifi": w} for w in seen["wifi"]]))
    several = FLT.filter_many([seen, steps])
    same(run, several[0])
    belief = FLT.start()
    for step in steps:
        belief = FLT.step(belief, step)
    np.testing.assert_array_equal(belief.mean(), run.mean[-1])
    assert FLT.forecast(belief, 3).mean.shape == (3, 1)


def test_times_and_controls_reach_the_transition():
    asked = []

    def timed(states, control, rng, elapsed=None):
        asked.append((control, elapsed))
        return states

    flt = KernelMonteCarloFilter(timed, initial, random_state=0).fit(GIVEN)
    asked.clear()
    flt.filter([{"wifi": 0.1}, {"camera": 0.1}, None], controls=[0, 1, 2], times=[0.0, 0.5, 2.5])
    assert asked == [(1, 0.5), (2, 2.0)]


def test_the_order_is_that_of_the_fit_whatever_the_order_of_the_dictionary():
    start = FLT.start()
    one, other = FLT.step(start, {"wifi": 0.2, "camera": 0.5}), FLT.step(start, {"camera": 0.5, "wifi": 0.2})
    np.testing.assert_array_equal(one.weights, other.weights)
    assert other.report.sensors.used == ("wifi", "camera")


def test_a_sensor_that_no_example_resembles_is_left_out_and_the_step_says_so():
    start = FLT.start()
    with pytest.warns(RejectedStepWarning, match="1 of the sensor 'camera'"):
        belief = FLT.step(start, {"wifi": 0.3, "camera": FAR})
    alone = FLT.step(start, {"wifi": 0.3})
    np.testing.assert_array_equal(belief.weights, alone.weights)
    assert belief.report.sensors == (("wifi",), ("camera",))
    assert not belief.report.rejected
    assert belief.rejections == 0
    assert belief.report.observation_coverage < 1e-8  # the smallest of those that spoke
    with pytest.warns(RejectedStepWarning, match="2 of the sensor 'wifi'"):
        run = FLT.filter({"wifi": [FAR, 0.1, -FAR], "camera": [0.2, 0.2, 0.2]})
    assert not run.rejected.any()


def test_a_step_is_rejected_only_if_all_that_spoke_were():
    with pytest.warns(RejectedStepWarning, match="1 of 2 observations were not used"):
        run = FLT.filter({"wifi": [0.1, FAR], "camera": [0.1, FAR]})
    np.testing.assert_array_equal(run.rejected, [False, True])
    assert run[1].report.sensors == ((), ("wifi", "camera"))
    with pytest.warns(RejectedStepWarning):
        assert FLT.step(FLT.start(), {"camera": FAR}).report.rejected


def test_coverage_is_the_smallest_of_the_sensors_that_spoke():
    start = FLT.start()
    said = {"wifi": 5.5, "camera": 0.2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectedStepWarning)
        together = FLT.step(start, said).report.observation_coverage
        alone = {name: FLT.step(start, {name: y}).report.observation_coverage for name, y in said.items()}
    assert alone["wifi"] < alone["camera"]
    assert together == pytest.approx(min(alone.values()))


def test_without_rejection_nothing_is_left_out():
    settings = {"observation_kernel": kmcf.kernels.Gaussian(0.5), "engine": "exact", "random_state": 0}
    flt = KernelMonteCarloFilter(move, initial, reject=False, **settings).fit(GIVEN)
    belief = flt.step(flt.start(), {"wifi": 0.3, "camera": 8.0})
    assert belief.report.sensors.used == ("wifi", "camera")
    with pytest.raises(FloatingPointError, match="no example resembles this observation"):
        flt.step(flt.start(), {"wifi": FAR, "camera": 0.1})


def test_with_both_supports_particles_get_no_negative_weights(monkeypatch):
    """Where the second sensor falls back on particles, these are the examples of the first, with signed weights."""
    flt = KernelMonteCarloFilter(move, initial, support="both", random_state=0).fit(GIVEN)
    prior = FLT.step(FLT.start(), {"wifi": 0.3})
    assert prior.weights.min() < 0.0
    monkeypatch.setattr("kmcf.bayes_rule.both.LEAST_ESS", np.inf)
    posterior = flt.sensors_["camera"].rule_.correct(prior, np.array([[0.1]]))
    assert posterior.support is prior.states
    assert posterior.weights().min() == 0.0
    assert np.all(posterior.weights()[prior.weights < 0.0] == 0.0)


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        (0.3, TypeError, "sensors 'wifi', 'camera': what they said is a dictionary by name"),
        ({"wify": 0.3}, ValueError, "no sensor 'wify'; the sensors are 'wifi', 'camera'"),
        ({"wifi": [0.1, 0.2]}, ValueError, r"shape \(2,\)"),
        ({"camera": "left"}, TypeError, "an observation is 'left'"),
        ({"camera": np.inf}, ValueError, "contains infinity"),
    ],
)
def test_bad_observations_get_a_sentence(said, kind, sentence):
    with pytest.raises(kind, match=sentence) as caught:
        FLT.step(FLT.start(), said)
    if isinstance(said, dict) and "wify" not in said:
        assert caught.value.__notes__ == [f"(sensor {next(iter(said))!r})"]


@pytest.mark.parametrize(
    ("sequence", "kind", "sentence"),
    [
        (np.zeros((4, 1)), TypeError, "a list with one dictionary per step, or a dictionary of sequences by sensor"),
        ([], ValueError, "empty"),
        ([{"wifi": 0.1}, {"lidar": 0.1}], ValueError, "step 2: there is no sensor 'lidar'"),
        ([{"wifi": 0.1}, 0.3], TypeError, "step 2: this filter has the sensors"),
        ({"wifi": [0.1, 0.2], "camera": [0.1]}, ValueError, "different lengths .2 of 'wifi', 1 of 'camera'."),
        ({"wifi": None}, ValueError, "nobody knows how many steps"),
        ({"wifi": np.zeros((2, 3, 1))}, ValueError, "pass a list of them to filter_many"),
    ],
)
def test_bad_sequences_get_a_sentence(sequence, kind, sentence):
    with pytest.raises(kind, match=sentence):
        FLT.filter(sequence)


def test_a_partly_missing_vector_is_used_with_what_it_has():
    """Each sensor keeps its patterns of missing numbers."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(60, 1))
    vectors = np.hstack([states, states**2]) + 0.2 * rng.normal(size=(60, 2))
    kernel = kmcf.kernels.Gaussian()
    settings = {"initial": initial, "observation_kernel": kernel, "engine": "exact", "random_state": 0}
    flt = KernelMonteCarloFilter(move, **settings).fit({"pair": (states, vectors)})
    alone = KernelMonteCarloFilter(move, **settings).fit({"pair": (states, vectors[:, :1])})
    np.testing.assert_allclose(
        flt.step(flt.start(), {"pair": [0.4, np.nan]}).weights, alone.step(alone.start(), {"pair": [0.4]}).weights
    )
