"""``calibrate``: intervals hold what they say, online as in batches, and after saving."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import two_sensors
from sklearn.base import clone

import kmcf
from kmcf.baselines import KernelBayesFilter, KNNParticleFilter, NearestNeighbor
from kmcf.filter.calibrating import collect_errors
from kmcf.filter.left_out import RehearsedStep
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.step_report import StepReport
from kmcf.store import FileError
from kmcf.trust.conformal import LEVELS

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(120, random_state=0), MODEL.simulate(300, random_state=1)


def make(model=MODEL, **settings):
    return kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0, **settings)


@pytest.fixture(scope="module")
def calibrated():
    return make().fit(*TRAIN[:2]).calibrate(*TRAIN[:2])


@pytest.mark.slow
def test_intervals_hold_what_they_say_and_means_stay():
    inside, held = [], []
    for seed in range(3):
        train, test = MODEL.simulate(100, random_state=(seed, 2)), MODEL.simulate(100, random_state=(seed, 3))
        flt = make(augment=False).fit(*train[:2])
        raw, run = flt.filter(test.observations), flt.calibrate(*train[:2]).filter(test.observations)
        np.testing.assert_array_equal(run.mean, raw.mean)
        np.testing.assert_array_equal(run.covariance, raw.covariance)
        inside.append([kmcf.filter.score_runs([one], [test.states]).inside for one in (raw, run)])
        bounds = np.array([belief.intervals([0.5, 0.8])[:, :, 0] for belief in run])
        held.append(((bounds[:, :, 0] <= test.states) & (test.states <= bounds[:, :, 1])).mean(axis=0))
    before, after = np.mean(inside, axis=0)
    assert 0.92 < after < 0.985
    assert abs(after - 0.95) < abs(before - 0.95)
    np.testing.assert_allclose(np.mean(held, axis=0), [0.5, 0.8], atol=0.08)


def test_online_equals_batch(calibrated):
    run, belief = calibrated.filter(TEST.observations[:5]), calibrated.start()
    for t in range(5):
        belief = calibrated.step(belief, TEST.observations[t])
        np.testing.assert_array_equal(belief.interval(), run.interval[t])
        np.testing.assert_array_equal(belief.interval(0.7), run[t].interval(0.7))


def test_it_is_saved_with_the_model_and_pickled(calibrated, tmp_path):
    calibrated.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=MODEL.transition, initial=MODEL.initial)
    expected = calibrated.filter(TEST.observations[:10]).interval
    np.testing.assert_array_equal(loaded.filter(TEST.observations[:10]).interval, expected)
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(1.0), random_state=0).fit(*TRAIN[:2])
    again = pickle.loads(pickle.dumps(flt.calibrate(*TRAIN[:2])))
    np.testing.assert_array_equal(
        again.filter(TEST.observations[:5]).interval, flt.filter(TEST.observations[:5]).interval
    )


def test_a_calibration_that_makes_no_sense_is_refused(calibrated, tmp_path):
    known, path = calibrated.calibration_, tmp_path / "model.kmcf"
    flt = make().fit(*TRAIN[:2])
    for change in ({"factors": -known.corrected.factors}, {"floors": np.zeros((3, 1))}, {"effective": 1e9}):
        flt.calibration_ = replace(known, corrected=replace(known.corrected, **change))
        flt.save(path)
        with pytest.raises(FileError, match="contents do not match"):
            kmcf.load(path, transition=MODEL.transition, initial=MODEL.initial)


def test_fit_forgets_and_partial_fit_keeps(calibrated):
    flt = make().fit(*TRAIN[:2]).calibrate(*TRAIN[:2])
    known = flt.calibration_
    flt.partial_fit(TEST.states[:20], TEST.observations[:20])
    assert flt.calibration_ is known
    assert flt.filter(TEST.observations[:3])[0].calibration is known
    assert flt.refresh().calibration_ is known
    assert clone(flt).calibration_ is None
    assert flt.fit(*TRAIN[:2]).calibration_ is None
    assert flt.filter(TEST.observations[:3])[0].calibration is None


def test_other_sequences_are_filtered_as_they_are(calibrated):
    groups = np.repeat([0, 1, 2], 100)
    flt = make().fit(*TRAIN[:2]).calibrate(*TEST[:2], groups=groups)
    assert not flt.calibration_.left_out
    assert flt.calibration_.count == 300
    runs = make().fit(*TRAIN[:2]).filter_many(np.split(TEST.observations, 3))
    medians = np.concatenate([[belief.quantile(0.5) for belief in run] for run in runs])
    arms = np.concatenate([run.interval[:, :, 0] for run in runs]) - medians[:, None]
    errors = TEST.states[:, 0] - medians
    floor = flt.calibration_.corrected.floors[6, 0]
    scores = np.abs(errors) / np.hypot(np.where(errors > 0, arms[:, 1], arms[:, 0]), floor)
    assert np.mean(scores <= flt.calibration_.factor(0.95)[0]) == pytest.approx(0.95, abs=0.02)


def test_examples_that_are_no_sequence_are_tried_one_by_one():
    model = kmcf.datasets.paper_model("1b")  # whose transition needs controls
    train = model.simulate(100, random_state=0)
    order = np.random.default_rng(0).permutation(100)
    flt = make(model, augment=False).fit(train.states[order], train.observations[order])
    flt.calibrate(train.states[order], train.observations[order], sequential=False)
    assert flt.calibration_.effective == pytest.approx(100, rel=0.5)
    test = model.simulate(200, random_state=1)
    run = flt.filter(test.observations, test.controls)
    assert 0.88 < kmcf.filter.score_runs([run], [test.states]).inside < 1.0
    with pytest.raises(ValueError, match="not both"):
        flt.calibrate(train.states, train.observations, range(100), sequential=False)


@pytest.mark.slow
def test_a_heading_is_measured_around_the_circle():
    rng = np.random.default_rng(0)
    turns = np.cumsum(rng.normal(scale=0.3, size=240)) + 3.0
    poses = np.stack([np.cos(turns), np.sin(turns), (turns + np.pi) % (2 * np.pi) - np.pi], axis=1)
    seen = poses[:, :2] + 0.1 * rng.normal(size=(240, 2))
    walk = kmcf.transitions.GaussianRandomWalk([0.3, 0.3, 0.3], angles=[2])
    kernel = kmcf.kernels.Gaussian(multiplier=0.3)
    flt = kmcf.KernelMonteCarloFilter(walk, angles=[2], observation_kernel=kernel, random_state=0)
    flt.fit(poses[:160], seen[:160]).calibrate(poses[:160], seen[:160])
    run = flt.filter(seen[160:])
    scores = kmcf.filter.score_runs([run], [poses[160:]])
    assert scores.inside > 0.85
    assert scores.interval_score < 4.0
    assert (np.ptp(run.interval[:, :, 2], axis=1) < np.pi).mean() > 0.9
    assert np.mean([b.ellipse(0.95, columns=None).contains(x)[0] for b, x in zip(run, poses[160:], strict=True)]) > 0.8


def test_gaps_and_unknown_states_are_allowed():
    states, observations = TEST.states.copy(), TEST.observations.copy()
    states[10:20] = np.nan
    observations[50:60] = np.nan
    flt = make().fit(*TRAIN[:2]).calibrate(states, observations)
    assert flt.calibration_.corrected.count == 280
    assert flt.calibration_.predicted.count == 290
    complete = np.isfinite(states).all(axis=1) & np.isfinite(observations).all(axis=1)
    own = make().fit(states[complete], observations[complete]).calibrate(states, observations)
    assert own.calibration_.left_out


def test_marked_examples_must_be_those_of_fit():
    every_other = np.arange(120) % 2 == 0
    flt = make().fit(TRAIN.states[every_other], TRAIN.observations[every_other])
    flt.calibrate(*TRAIN[:2], learned_from=every_other, corrected_at=np.arange(120) % 3 == 0)
    assert flt.calibration_.left_out
    assert flt.calibration_.corrected.count == 40
    with pytest.raises(ValueError, match=r"learned_from marks 40 examples .* not the 60 that fit was given"):
        flt.calibrate(*TRAIN[:2], learned_from=np.arange(120) % 3 == 0)


def test_examples_that_the_filter_knows_are_noticed(calibrated):
    mixed = [np.concatenate([old[:40], new[:40]]) for old, new in zip(TRAIN[:2], TEST[:2], strict=True)]
    with pytest.warns(kmcf.CalibrationWarning, match="40 of the 80 states"):
        make().fit(*TRAIN[:2]).calibrate(*mixed)


def test_a_transition_that_needs_controls_says_so():
    model = kmcf.datasets.paper_model("1b")
    train = model.simulate(60, random_state=0)
    flt = make(model).fit(*train[:2])
    with pytest.raises(ValueError, match="pass controls="):
        flt.calibrate(*train[:2])
    assert flt.calibration_ is None
    assert flt.calibrate(*train[:2], controls=train.controls).calibration_.count == 60


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"states": TRAIN.states[:10], "observations": TRAIN.observations[:10]}, "at least 20 examples"),
        ({"states": TRAIN.states[:50]}, "50 states but 120 observations"),
        ({"states": np.zeros((120, 2))}, "the states have shape"),
        ({"groups": [0, 1]}, "one label per example"),
        ({"controls": np.zeros(3)}, "3 controls for 120 steps"),
        ({"states": np.full((120, 1), np.nan)}, "at least 20 steps with a true state"),
    ],
)
def test_what_cannot_be_calibrated(calibrated, change, says):
    given = {"states": TRAIN.states, "observations": TRAIN.observations, **change}
    before = calibrated.calibration_
    with pytest.raises(ValueError, match=says):
        calibrated.calibrate(**given)
    assert calibrated.calibration_ is before


def test_states_without_an_order_have_no_intervals():
    words = ["left", "right"] * 20
    kernel = kmcf.kernels.Spectrum()
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, state_kernel=kernel, random_state=0)
    flt.fit(words, np.arange(40.0))
    with pytest.raises(TypeError, match="no interval is defined"):
        flt.calibrate(words, np.arange(40.0))


def test_precomputed_kernels_are_left_out_too():
    gram = np.exp(-0.5 * (TRAIN.observations - TRAIN.observations.T) ** 2)
    flt = make(observation_kernel="precomputed").fit(TRAIN.states, gram).calibrate(TRAIN.states, gram)
    assert flt.calibration_.left_out
    assert flt.calibration_.count > 100


@pytest.mark.parametrize("kind", [KNNParticleFilter, NearestNeighbor, KernelBayesFilter, kmcf.ParticleLikelihoodFilter])
def test_every_filter_can_be_calibrated(kind, tmp_path):
    flt = kind(kmcf.transitions.GaussianRandomWalk(1.0), random_state=0, n_particles=100).fit(*TRAIN[:2])
    observations, states = TEST.observations[:150], TEST.states[:150]
    raw = flt.filter(observations).interval
    run = flt.calibrate(*TRAIN[:2]).filter(observations)
    assert 0.88 < kmcf.filter.score_runs([run], [states]).inside <= 1.0
    assert not np.array_equal(run.interval, raw)
    flt.save(tmp_path / "model.kmcf")
    again = kmcf.load(tmp_path / "model.kmcf").filter(TEST.observations[:5])
    np.testing.assert_array_equal(again.interval, flt.filter(TEST.observations[:5]).interval)
    assert flt.fit(*TRAIN[:2]).calibration_ is None


@pytest.mark.parametrize("floor", [None, -9.0, [None, -9.0]])
@pytest.mark.parametrize("learner", [kmcf.KernelMonteCarloFilter, NearestNeighbor, KernelBayesFilter])
def test_examples_that_lack_numbers_are_recognised_with_and_without_a_floor(learner, floor):
    seen = np.hstack([TRAIN.observations, -TRAIN.observations])
    seen[3] = np.nan  # no example at all
    seen[10:40, 1] = np.nan
    walk = {} if learner is not kmcf.KernelMonteCarloFilter else {"transition": MODEL.transition, "random_state": 0}
    kernel = {} if learner is NearestNeighbor else {"observation_kernel": kmcf.kernels.Gaussian()}
    flt = learner(floor=floor, **walk, **kernel).fit(TRAIN.states, seen).calibrate(TRAIN.states, seen)
    assert flt.calibration_.left_out
    assert flt.calibration_.count == 119


def test_what_intervals_reach_beyond_the_examples_is_noted():
    """States beyond lie evenly between 2 and 4: at level p their interval ends at 3 + p."""
    states, beyond = np.linspace(0.0, 1.0, 11)[:, None], np.linspace(2.0, 4.0, 2001)[:, None]
    seen = StepReport(weight_sum=1.0, beyond=beyond)
    belief = Belief(states, np.full(11, 1 / 11), time=1, report=seen)
    plain = Belief(states, np.full(11, 1 / 11), time=1, report=replace(seen, beyond=None))
    truths = np.resize([3.0, 3.9001, -1.0], 24)[:, None]
    steps = [RehearsedStep(k, 0, plain, belief) for k in range(24)]
    corrected, predicted, _ = collect_errors(steps, truths, ())
    assert corrected.reached[:3, :, 0].tolist() == [[True] * 9, (LEVELS > 0.9001).tolist(), [False] * 9]
    assert not predicted.reached.any()


# --- several sensors --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kmcf.KernelMonteCarloFilter, kmcf.ParticleLikelihoodFilter])
def test_intervals_of_several_sensors_are_calibrated_on_sequences_never_seen(kind, tmp_path):
    flt = kind(two_sensors.move, two_sensors.initial, n_particles=60, random_state=0)
    flt.fit(two_sensors.examples(40, 0))
    (states, seen), (later, heard) = (two_sensors.walk_with_states(300, seed, every=2) for seed in (1, 2))
    before = kmcf.filter.score_runs([flt.filter(heard)], [later])
    flt.calibrate(states, seen)
    run = flt.filter(heard)
    after = kmcf.filter.score_runs([run], [later])
    assert abs(after.inside - 0.95) < abs(before.inside - 0.95)
    assert 0.9 <= after.inside <= 0.99
    flt.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=two_sensors.move, initial=two_sensors.initial)
    np.testing.assert_array_equal(loaded.filter(heard).interval, run.interval)
    assert flt.fit(two_sensors.examples(40, 0)).calibration_ is None


def test_examples_of_several_sensors_cannot_be_left_out():
    flt = kmcf.KernelMonteCarloFilter(two_sensors.move, two_sensors.initial, n_particles=20, random_state=0)
    given = two_sensors.examples(30, 0)
    flt.fit(given)
    with pytest.raises(ValueError, match="sequences that the filter has never seen"):
        flt.calibrate(given, None)
    states, seen = two_sensors.walk_with_states(40, 1)
    with pytest.raises(ValueError, match="sequences that the filter has never seen"):
        flt.calibrate(states, seen, learned_from=np.ones(40, dtype=bool))
    with pytest.raises(ValueError, match=r"'radar'"):
        flt.calibrate(states, {"radar": np.zeros(40)})
    with pytest.raises(ValueError, match=r"39 states but 40 observations"):
        flt.calibrate(states[1:], seen)
