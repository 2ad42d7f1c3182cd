"""Smoothing against smoothers that know the model, and what it promises for every input that a filter takes."""

import pickle

import every_filter
import numpy as np
import pytest
import two_sensors
from known_models import rmse
from sklearn.exceptions import NotFittedError
from smoothers import best_path_by_trying, forward_backward, rauch_tung_striebel

import kmcf

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(400, random_state=0), MODEL.simulate(150, random_state=1)


def make(**settings):
    return kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0, **settings)


@pytest.fixture(scope="module")
def flt():
    return make().fit(TRAIN.states, TRAIN.observations)


@pytest.fixture(scope="module")
def run(flt):
    return flt.smooth(TEST.observations)


class Weather:
    """Three states, three observations, all tables known; the examples are all pairs, as often as p(y | x) says."""

    TRANSITION = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]])
    COUNTS = np.array([[12, 6, 2], [4, 10, 6], [2, 4, 14]])
    SEEN = (0, 0, 2, None, 2, 2, 2)

    @classmethod
    def move(cls, states, control, rng):
        cumulated = cls.TRANSITION.cumsum(axis=1)[states[:, 0].astype(int)]
        return (rng.random((len(states), 1)) > cumulated).sum(axis=1, keepdims=True).astype(float)

    @classmethod
    def likelihoods(cls):
        table = cls.COUNTS / cls.COUNTS.sum(axis=1, keepdims=True)
        return np.array([np.ones(3) if y is None else table[:, y] for y in cls.SEEN])

    @classmethod
    def smoothed(cls):
        pairs = [(x, y) for x in range(3) for y in range(3) for _ in range(cls.COUNTS[x, y])]
        states, observations = (np.array(part, dtype=float)[:, None] for part in zip(*pairs, strict=True))
        same = kmcf.kernels.as_kernel(lambda a, b: (a == b.T).astype(float))
        flt = kmcf.KernelMonteCarloFilter(
            cls.move, state_kernel=same, observation_kernel=same, epsilon=1e-9, delta=1e-12, n_particles=20_000,
            n_resample=60, random_state=0,
        )  # fmt: skip
        return flt.fit(states, observations).smooth([None if y is None else [float(y)] for y in cls.SEEN])


@pytest.fixture(scope="module")
def weather():
    return Weather.smoothed()


def test_discrete_states_by_forward_backward(weather):
    expected = forward_backward(np.full(3, 1 / 3), Weather.TRANSITION, Weather.likelihoods())
    found = np.array([[belief.probability(lambda s, x=x: s[:, 0] == x) for x in range(3)] for belief in weather])
    np.testing.assert_allclose(found, expected, atol=0.03)
    filtered = np.array([[b.probability(lambda s, x=x: s[:, 0] == x) for x in range(3)] for b in weather.filtered])
    assert np.abs(filtered - expected).max() > 0.1  # what smoothing is about


def test_the_most_probable_path_of_discrete_states(weather):
    expected = best_path_by_trying(np.full(3, 1 / 3), Weather.TRANSITION, Weather.likelihoods())
    assert weather.best_path()[:, 0].tolist() == [float(x) for x in expected]


def test_paths_of_discrete_states_move_like_the_chain(weather):
    paths = weather.sample_paths(4000)[:, :, 0]
    expected = forward_backward(np.full(3, 1 / 3), Weather.TRANSITION, Weather.likelihoods())
    found = np.array([[np.mean(paths[:, t] == x) for x in range(3)] for t in range(paths.shape[1])])
    np.testing.assert_allclose(found, expected, atol=0.04)
    joint = weather.pairwise(2)
    before, after = weather[2].states[:, 0], weather[3].states[:, 0]
    for x in range(3):
        for y in range(3):
            drawn = np.mean((paths[:, 2] == x) & (paths[:, 3] == y))
            assert joint[np.ix_(before == x, after == y)].sum() == pytest.approx(drawn, abs=0.04)


def test_the_linear_gaussian_limit(run):
    means, variances, _ = rauch_tung_striebel(TEST.observations)
    exact, found = rmse(means, TEST.states[:, 0]), rmse(run.mean, TEST.states)
    assert rmse(run.mean[:, 0], means) < 0.3  # of a posterior standard deviation of 0.68
    assert found < rmse(run.filtered.mean, TEST.states)
    assert found < 1.12 * exact
    assert np.median(run.covariance[:, 0, 0]) == pytest.approx(np.median(variances), rel=0.25)


def test_more_examples_come_closer_to_the_kalman_smoother():
    train = MODEL.simulate(2500, random_state=3)
    many = make(n_particles=1000, tolerance="auto").fit(train.states, train.observations).smooth(TEST.observations)
    means, _, _ = rauch_tung_striebel(TEST.observations)
    assert rmse(many.mean[:, 0], means) < 0.2


def test_paths_have_the_spread_of_the_exact_ones(run):
    _, variances, cross = rauch_tung_striebel(TEST.observations)
    paths = run.sample_paths(300)
    assert paths.shape == (300, 150, 1)
    moves = paths[:, 1:, 0] - 0.9 * paths[:, :-1, 0]
    exact = variances[1:] + 0.81 * variances[:-1] - 1.8 * cross
    assert np.mean(moves.var(axis=0)) == pytest.approx(exact.mean(), rel=0.35)
    np.testing.assert_array_equal(paths, run.sample_paths(300))
    assert (paths != run.sample_paths(300, random_state=1)).any()


def test_controls_are_used_backwards():
    model = kmcf.datasets.paper_model("1b")
    train, test = model.simulate(400, random_state=0), model.simulate(150, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    found = flt.fit(train.states, train.observations).smooth(test.observations, test.controls)
    means, _, _ = rauch_tung_striebel(test.observations, test.controls)
    assert rmse(found.mean[:, 0], means) < 0.35
    assert rmse(found.mean, test.states) < rmse(found.filtered.mean, test.states)


def test_missing_observations_are_filled_from_both_sides(flt):
    seen = TEST.observations.copy()
    seen[40:44] = np.nan
    found = flt.smooth(seen)
    means, variances, _ = rauch_tung_striebel(seen)
    assert found.missing[40:44].all()
    assert np.abs(found.mean[40:44, 0] - means[40:44]).max() < 0.6
    ahead = found.filtered.covariance[43, 0, 0]
    assert found.covariance[43, 0, 0] < 0.7 * ahead
    np.testing.assert_allclose(found.covariance[40:44, 0, 0], variances[40:44], rtol=0.6)


def test_nothing_observed_later_changes_little(flt):
    seen = [*TEST.observations[:30], None, None, None]
    found = flt.smooth(seen)
    deviation = np.sqrt(found.filtered.covariance[29, 0, 0])
    assert abs(found.mean[29, 0] - found.filtered.mean[29, 0]) < 0.15 * deviation
    np.testing.assert_array_equal(found.mean[-1], found.filtered.mean[-1])


def test_times_are_told_to_the_transition():
    def walk(states, control, rng, elapsed):
        return states + np.sqrt(elapsed) * rng.normal(size=states.shape)

    rng = np.random.default_rng(0)
    states = rng.uniform(-6, 6, size=(400, 1))
    flt = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(states, states + rng.normal(size=states.shape))
    observations = [[0.0], None, [4.0]]
    late = flt.smooth(observations, times=[0.0, 1.0, 10.0])
    soon = flt.smooth(observations, times=[0.0, 9.0, 10.0])
    assert late.mean[1, 0] < 1.5 < 2.0 < soon.mean[1, 0]  # nearer to what is nearer in time
    np.testing.assert_array_equal(late.times, [0.0, 1.0, 10.0])


def test_angles_stay_angles():
    def turn(states, control, rng):
        return states + 0.3 * rng.normal(size=states.shape)

    rng = np.random.default_rng(0)
    states = rng.uniform(-np.pi, np.pi, size=(300, 1))
    seen = np.hstack([np.cos(states), np.sin(states)]) + 0.3 * rng.normal(size=(300, 2))
    flt = kmcf.KernelMonteCarloFilter(turn, angles=[0], random_state=0).fit(states, seen)
    truth = np.cumsum(0.3 * rng.normal(size=80)) + np.pi
    shown = np.stack([np.cos(truth), np.sin(truth)], axis=1) + 0.3 * rng.normal(size=(80, 2))
    found = flt.smooth(shown)
    errors = [np.abs(np.angle(np.exp(1j * (one.mean[:, 0] - truth)))).mean() for one in (found, found.filtered)]
    assert errors[0] < errors[1]
    assert np.abs(found.mean).max() <= np.pi


@pytest.mark.parametrize(
    "settings",
    [
        {"engine": "literal"},
        {"engine": "exact", "rule": "importance"},
        {"engine": "lowrank", "resampling": "multinomial"},
        {"engine": "exact", "resampling": "none"},
        {"engine": "local"},
        {"support": "particles"},
        {"support": "both"},
    ],
    ids=str,
)
def test_every_way_to_filter(settings):
    found = make(**settings).fit(TRAIN.states[:150], TRAIN.observations[:150]).smooth(TEST.observations[:60])
    assert rmse(found.mean, TEST.states[:60]) < 1.05 * rmse(found.filtered.mean, TEST.states[:60])
    for belief in found:
        assert belief.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", every_filter.FILTERS)
def test_other_filters_are_smoothed_or_say_why_not(name):
    flt = every_filter.fitted(name)
    seen, controls = every_filter.TEST.observations, every_filter.TEST.controls
    if name in ("KBR", "kNN regression", "NAI"):
        with pytest.raises(TypeError, match="cannot be smoothed: "):
            flt.smooth(seen, controls)
        return
    found = flt.smooth(seen, controls)
    assert found.mean.shape == found.filtered.mean.shape == (12, 1)
    assert found.sample_paths(3).shape == (3, 12, 1)
    assert (found.mean[:-1] != found.filtered.mean[:-1]).any()


def test_a_batch_is_smoothed_sequence_by_sequence(flt):
    batch = np.stack([TEST.observations[:20], TEST.observations[20:40]])
    found = flt.smooth(batch)
    assert found.is_batch
    assert found.is_smoothed
    assert found.mean.shape == found.filtered.mean.shape == (2, 20, 1)
    assert found.sample_paths(4).shape == (2, 4, 20, 1)
    np.testing.assert_array_equal(found[0].mean, flt.smooth(batch[0]).mean)
    many = flt.smooth_many([batch[0], batch[1][:7]])
    np.testing.assert_array_equal(many[0].mean, found[0].mean)
    assert [len(one) for one in many] == [20, 7]


def test_states_that_are_objects():
    places, rng = ["hall", "stairs", "roof"], np.random.default_rng(0)

    def climb(states, control, rng):
        steps = rng.integers(-1, 2, size=len(states))
        return [places[int(np.clip(places.index(s) + step, 0, 2))] for s, step in zip(states, steps, strict=True)]

    states = [places[k % 3] for k in range(60)]
    heights = np.array([[float(places.index(s))] for s in states]) + 0.7 * rng.normal(size=(60, 1))
    same = kmcf.kernels.as_kernel(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
    flt = kmcf.KernelMonteCarloFilter(climb, state_kernel=same, random_state=0).fit(states, heights)
    found = flt.smooth([[2.0], [2.0], [1.0], [0.0], [0.0]])
    assert found.mode[0] == "roof"
    assert found.best_path()[-1] == "hall"
    assert len(found.sample_paths(2)) == 2
    assert set(found.sample_paths(2)[0]) <= set(places)


def far_away(name, seed, support, lag=None):
    """Examples at |x| < 2, and states that go to 6 and −6."""
    model, rng = kmcf.datasets.paper_model(name), np.random.default_rng(seed)
    states = rng.uniform(-2, 2, size=(150, 1))
    truth = (6.0 * np.sin(0.1 * np.arange(100) + seed) + 0.3 * rng.normal(size=100))[:, None]
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, support=support, random_state=seed)
    return flt.fit(states, model.observe(states, rng)).smooth(model.observe(truth, rng), lag=lag), truth


@pytest.mark.filterwarnings("ignore:.* observations were not used")
@pytest.mark.parametrize("support", ["examples", "particles", "both"])
@pytest.mark.parametrize("name", ["1a", "2a"])
def test_far_from_the_examples_smoothing_does_no_harm(name, support):
    found, truth = far_away(name, 0, support)
    assert rmse(found.mean, truth) < 1.01 * rmse(found.filtered.mean, truth)


def test_beliefs_that_cannot_be_smoothed_are_the_filters(tmp_path):
    found, _ = far_away("1a", 1, "particles")
    kept, away = found.unsmoothed, np.abs(found.filtered.mean[:, 0])
    assert kept[away > 4.5].mean() > 0.8 > 0.1 > kept[away < 2.0].mean()
    assert not kept[-1]  # nothing came later
    for name in ("mean", "covariance", "interval", "ess", "mode"):
        np.testing.assert_array_equal(getattr(found, name)[kept], getattr(found.filtered, name)[kept])
    assert [belief.unsmoothed for belief in found] == kept.tolist()
    assert [belief.final for belief in found] == (~kept & (np.arange(100) < 99)).tolist()
    found.save(tmp_path / "run.npz")
    np.testing.assert_array_equal(kmcf.load(tmp_path / "run.npz").unsmoothed, kept)
    np.testing.assert_array_equal(found.to_dataframe()["unsmoothed"], kept)
    np.testing.assert_array_equal(found.to_xarray()["unsmoothed"], kept)
    assert "left as filtered" in found._repr_html_()
    with pytest.raises(LookupError, match="no step was smoothed"):
        _ = found.filtered.unsmoothed


def test_among_the_examples_nearly_all_beliefs_are_smoothed(run):
    assert run.unsmoothed.mean() < 0.03


def test_a_fixed_lag_keeps_beliefs_too():
    found, _ = far_away("1a", 1, "particles", lag=2)
    assert 0.3 < found.unsmoothed.mean() < 0.9
    np.testing.assert_array_equal(found.mean[found.unsmoothed], found.filtered.mean[found.unsmoothed])


def test_the_same_sequence_twice_gives_the_same(flt, run):
    np.testing.assert_array_equal(flt.smooth(TEST.observations).mean, run.mean)
    np.testing.assert_array_equal(run.filtered.mean, flt.filter(TEST.observations).mean)


def test_what_is_the_filters_own(run):
    for name in ("weight_sum", "coverage", "log_evidence", "alarm", "alarm_reason", "rejected", "missing", "time"):
        np.testing.assert_array_equal(getattr(run, name), getattr(run.filtered, name))
    assert run[3].alarm_reason == run.filtered[3].alarm_reason
    assert not run.filtered.is_smoothed
    assert "smoothed" in repr(run)
    assert "SmoothedBelief" in repr(run[0])


def test_a_step_does_not_start_from_a_smoothed_belief(flt, run):
    with pytest.raises(ValueError, match="later observations, which a step would use twice"):
        flt.step(run[3], [0.0])
    assert len(flt.forecast(run[-1], 2)) == 2


def test_what_cannot_be_had(flt, run):
    with pytest.raises(LookupError, match=r"flt\.smooth"):
        run.filtered.sample_paths(3)
    with pytest.raises(TypeError, match="every path has probability zero"):
        run.best_path()
    with pytest.raises(ValueError, match="size = 0"):
        run.sample_paths(0)
    with pytest.raises(IndexError, match="t = 149"):
        run.pairwise(149)
    with pytest.raises(LookupError, match="kept a fixed lag"):
        flt.smooth(TEST.observations[:5], lag=1).sample_paths(2)
    with pytest.raises(LookupError, match="from a file"):
        pickle.loads(pickle.dumps(run)).sample_paths(2)
    for lag in (-1, 1.5, True):
        with pytest.raises(ValueError, match="lag = "):
            flt.smooth(TEST.observations, lag=lag)
    with pytest.raises(NotFittedError):
        make().smooth(TEST.observations)


def test_several_sensors():
    flt = kmcf.KernelMonteCarloFilter(two_sensors.move, initial=two_sensors.initial, random_state=0)
    flt.fit(two_sensors.examples(200, seed=0))
    rng = np.random.default_rng(1)
    states = np.empty(80)
    for t in range(80):
        states[t] = 1.2 * rng.normal() if t == 0 else 0.9 * states[t - 1] + 0.6 * rng.normal()
    wifi, camera = (states + noise * rng.normal(size=80) for noise in two_sensors.NOISES)
    camera[np.arange(80) % 3 > 0] = np.nan
    found = flt.smooth({"wifi": wifi, "camera": camera})
    assert rmse(found.mean[:, 0], states) < rmse(found.filtered.mean[:, 0], states)


def test_calibration_has_factors_of_its_own_for_smoothed_beliefs(tmp_path):
    flt = make().fit(TRAIN.states[:80], TRAIN.observations[:80])
    before = flt.smooth(TEST.observations[:6])
    flt.calibrate(TRAIN.states[200:320], TRAIN.observations[200:320])
    after = flt.smooth(TEST.observations[:6])
    np.testing.assert_array_equal(after.mean, before.mean)
    known, raw, median = flt.calibration_.smoothed, before[2], before[2].quantile([0.5])[0]
    lower, upper = known.arms(np.array([0.95]), median - raw.interval()[:1], raw.interval()[1:] - median)
    np.testing.assert_allclose(after.interval[2], np.concatenate([median - lower, median + upper]))
    assert (after.filtered.interval != before.filtered.interval).any()
    assert np.array_equal(after.filtered.interval, flt.filter(TEST.observations[:6]).interval)
    assert np.array_equal(after.interval[-1], after.filtered.interval[-1])  # nothing was observed later
    flt.save(tmp_path / "model.kmcf")
    again = kmcf.load(tmp_path / "model.kmcf", transition=MODEL.transition, initial=MODEL.initial)
    np.testing.assert_allclose(again.smooth(TEST.observations[:6]).interval, after.interval)


def test_calibration_without_smoothing_leaves_smoothed_intervals_as_computed():
    flt = make().fit(TRAIN.states[:80], TRAIN.observations[:80])
    before, known = flt.smooth(TEST.observations[:6]), (TRAIN.states[200:320], TRAIN.observations[200:320])
    whole = flt.calibrate(*known).calibration_
    flt.calibrate(*known, smooth=False)
    assert flt.calibration_.smoothed is None
    np.testing.assert_array_equal(flt.calibration_.corrected.factors, whole.corrected.factors)
    after = flt.smooth(TEST.observations[:6])
    np.testing.assert_array_equal(after.interval[:-1], before.interval[:-1])
    assert (after.filtered.interval != before.filtered.interval).any()


@pytest.mark.slow
def test_calibrated_smoothed_intervals_hold_what_they_say():
    model = kmcf.datasets.paper_model("2a")
    train, other, test = (model.simulate(size, random_state=(3, size)) for size in (150, 300, 310))
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, n_particles=100, random_state=0)
    flt.fit(train.states, train.observations)

    def inside(**lag):
        run = flt.smooth(test.observations, **lag)
        return np.mean((test.states >= run.interval[:, 0]) & (test.states <= run.interval[:, 1]))

    raw = inside()
    flt.calibrate(other.states, other.observations)
    assert abs(inside() - 0.95) < min(0.04, 0.5 * abs(raw - 0.95))
    assert inside(lag=2) == pytest.approx(0.95, abs=0.04)


def test_a_filter_that_cannot_be_smoothed_is_calibrated_all_the_same():
    flt = kmcf.baselines.KNNRegression().fit(TRAIN.states, TRAIN.observations)
    assert flt.calibrate(TRAIN.states, TRAIN.observations).calibration_.smoothed is None
