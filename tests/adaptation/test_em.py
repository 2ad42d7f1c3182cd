"""EM through the smoother, against the exact EM of a linear Gaussian model, and least squares on the paths drawn."""

import numpy as np
import pytest
from smoothers import expectation_maximisation

import kmcf
from kmcf.adaptation.em import Complete, Moves, Smoothing, climb, extrapolated
from kmcf.adaptation.objective import objective_of
from kmcf.adaptation.parameters import read_parameters

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(120, random_state=0), MODEL.simulate(90, random_state=1)
WALK = kmcf.transitions.LinearGaussian(matrix=[[0.6]], covariance=[[4.0]])
BOUNDS = {"matrix": (0.0, 1.2), "covariance": (0.05, 20.0)}


def knowing(transition):
    """A particle filter that is told how the sensor behaves, so that EM has nothing else to be wrong about."""
    made = kmcf.baselines.ParticleFilter(
        transition, MODEL.log_likelihood, initial=MODEL.initial, n_particles=300, random_state=0
    )
    return made.fit(TRAIN.states, TRAIN.observations)


def test_a_step_goes_where_that_of_the_kalman_smoother_goes():
    flt = knowing(WALK)
    known = read_parameters(flt, BOUNDS, None, None)
    score = objective_of(flt, TEST.observations, None, None, objective="evidence", repeats=1)
    scores, complete = Smoothing(score, known, 0)(known.start)
    found = known.values(complete.best(known.start))
    matrix, covariance = expectation_maximisation(TEST.observations, 0.6, 4.0)
    assert found["matrix[0,0]"] == pytest.approx(matrix, abs=0.03)
    assert found["covariance[0,0]"] == pytest.approx(covariance, rel=0.08)
    run = flt.filter(TEST.observations)
    np.testing.assert_allclose(scores, run.log_evidence[1:])


@pytest.mark.slow
def test_it_ends_where_that_of_the_kalman_smoother_ends():
    flt = kmcf.KernelMonteCarloFilter(WALK, initial=MODEL.initial, n_particles=50, random_state=0)
    flt.fit(TRAIN.states, TRAIN.observations)
    found = kmcf.learn_transition(flt, TEST.observations, BOUNDS, method="em")
    matrix, covariance = expectation_maximisation(TEST.observations, 0.6, 4.0, rounds=200)
    for name, truth in (("matrix[0,0]", matrix), ("covariance[0,0]", covariance)):
        low, high = found.intervals[name]
        assert low < truth < high
    assert found.gain > 0
    assert found.summary()["method"] == "em"
    assert found.rows[0]["covariance[0,0]"] == pytest.approx(4.0)
    assert np.nansum(found.best_filter.filter(TEST.observations).prediction_score[1:]) == pytest.approx(
        found.rows[-1]["value"]
    )


def drawn(paths, transition, names):
    """What paths (S, T, d) would be after an E step."""
    known = read_parameters(kmcf.KernelMonteCarloFilter(transition), names, None, None)
    return known, Complete([[Moves(paths[:, :-1], paths[:, 1:], None, None)]], known)


def test_the_m_step_is_least_squares_for_linear_motion():
    rng = np.random.default_rng(0)
    paths = rng.normal(size=(7, 50, 1)).cumsum(axis=1)
    known, complete = drawn(paths, WALK, BOUNDS)
    found = known.values(complete.best(known.start))
    before, after = paths[:, :-1].ravel(), paths[:, 1:].ravel()
    slope = before @ after / (before @ before)
    assert found["matrix[0,0]"] == pytest.approx(slope, rel=1e-3)
    assert found["covariance[0,0]"] == pytest.approx(np.mean((after - slope * before) ** 2), rel=1e-3)


def test_where_nothing_is_missing_the_information_is_that_of_the_paths():
    path = np.random.default_rng(1).normal(size=(1, 401, 1)).cumsum(axis=1)
    known, complete = drawn(np.repeat(path, 5, axis=0), kmcf.transitions.GaussianRandomWalk(1.0), {"scale": (0.2, 5.0)})
    peak = complete.peak(complete.best(known.start))
    # The standard deviation's own relative error is 1 / sqrt(2 T); the unit cube is 25 wide in logarithms.
    assert np.sqrt(peak.covariance[0, 0]) * np.log(25.0) == pytest.approx(1.0 / np.sqrt(800.0), rel=0.01)
    assert peak.monte_carlo[0, 0] == pytest.approx(0.0, abs=1e-12)


class Pushed:
    """The user's own transition, with a density: control times gain, plus noise."""

    def __init__(self, gain):
        self.gain = gain

    def __call__(self, states, control, rng, elapsed=None):
        return 0.9 * states + self.gain * control + np.sqrt(0.5) * rng.normal(size=states.shape)

    def log_density(self, after, before, control=None, elapsed=None):
        return -((after - 0.9 * before - self.gain * control) ** 2)[:, 0] - 0.5 * np.log(np.pi)


@pytest.mark.slow
def test_a_gain_of_controls_is_found_on_model_1b_with_your_own_density_and_with_times():
    model = kmcf.datasets.paper_model("1b")  # whose gain is 1 / sqrt(2)
    train, test = model.simulate(100, random_state=0), model.simulate(70, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(Pushed(0.0), initial=model.initial, n_particles=40, random_state=0)
    flt.fit(train.states, train.observations)
    given = {"controls": test.controls, "make": Pushed, "start": {"gain": 0.0}, "method": "em"}
    found = kmcf.learn_transition(flt, test.observations, {"gain": (-2.0, 2.0)}, **given)
    low, high = found.intervals["gain"]
    assert low < np.sqrt(0.5) < high
    assert high - low < 1.0
    ready = kmcf.transitions.LinearGaussian(matrix=[[0.9]], covariance=[[0.5]], control_matrix=[[0.1]])
    twin = flt.with_transition(ready)
    same = kmcf.learn_transition(
        twin, test.observations, {"control_matrix": (-2.0, 2.0)}, controls=test.controls, method="em",
        times=np.arange(70.0),
    )  # fmt: skip
    assert same.estimates["control_matrix[0,0]"] == pytest.approx(found.estimates["gain"], abs=0.15)


def test_without_a_density_a_sentence_says_what_to_do():
    flt = kmcf.KernelMonteCarloFilter(lambda states, control, rng: states, n_particles=20, random_state=0)
    flt.fit(TRAIN.states[:50], TRAIN.observations[:50])
    make = {"make": lambda scale: lambda states, control, rng: states + scale * rng.normal(size=states.shape)}
    with pytest.raises(TypeError, match=r"log_density.*method='evidence'"):
        kmcf.learn_transition(flt, TEST.observations, {"scale": (0.5, 2.0)}, method="em", **make)
    with pytest.raises(ValueError, match="'evidence' or 'em'"):
        kmcf.learn_transition(flt, TEST.observations, {"scale": (0.5, 2.0)}, method="mcmc", **make)


def test_too_few_steps_are_told_after_one_smoothed_run():
    flt = knowing(WALK)
    known = read_parameters(flt, BOUNDS, None, None)
    score = objective_of(flt, TEST.observations[:30], None, None, objective="score", repeats=1)
    ticks = []

    def refuse(first):
        raise ValueError("too few")

    with pytest.raises(ValueError, match="too few"):
        climb(Smoothing(score, known, 0), known.start, refuse, lambda: ticks.append(1))
    assert not ticks


def test_extrapolation_stays_within_the_bounds():
    assert extrapolated(np.array([0.5]), np.array([0.8]), np.array([1.0]))[0] <= 1.0


class Nearly(Pushed):
    """Steps whose size is nearly certain."""

    def __init__(self, speed):
        self.speed = speed

    def __call__(self, states, control, rng, elapsed=None):
        return states + self.speed + 1e-3 * rng.normal(size=states.shape)

    def log_density(self, after, before, control=None, elapsed=None):
        return -0.5e6 * ((after - before - self.speed) ** 2)[:, 0]


def test_a_motion_without_noise_leaves_em_where_it_is_and_a_warning_says_so():
    flt = kmcf.KernelMonteCarloFilter(Pushed(0.0), n_particles=20, random_state=0)
    flt.fit(TRAIN.states[:60], TRAIN.observations[:60])
    held = {"make": Nearly, "start": {"speed": 0.0}, "method": "em"}
    with pytest.warns(kmcf.LearningWarning, match=r"no clear end.*'evidence'"):
        found = kmcf.learn_transition(flt, TEST.observations[:30], {"speed": (-3.0, 3.0)}, **held)
    assert np.isnan(found.intervals["speed"]).all()


@pytest.mark.parametrize("value", [lambda count: 0.0, lambda count: np.full(count, np.nan)])
def test_a_density_that_returns_nonsense_is_named(value):
    moves = Moves(np.zeros((2, 3, 1)), np.zeros((2, 3, 1)), None, None)
    with pytest.raises(ValueError, match="must return 6 numbers"):
        moves.log_densities(lambda after, before, control, elapsed: value(len(after)))


class Broken(Nearly):
    """Steps with a density that is not a number."""

    def log_density(self, after, before, control=None, elapsed=None):
        return np.full(len(after), np.nan)


def test_such_a_density_stops_em_after_one_smoothed_run():
    flt = kmcf.KernelMonteCarloFilter(Pushed(0.0), n_particles=20, random_state=0)
    flt.fit(TRAIN.states[:60], TRAIN.observations[:60])
    settings = {"make": Broken, "start": {"speed": 0.0}, "method": "em"}
    with pytest.raises(ValueError, match="must return"):
        kmcf.learn_transition(flt, TEST.observations[:30], {"speed": (-3.0, 3.0)}, **settings)


def test_where_a_density_ends_beside_the_estimate_there_are_no_intervals():
    moves = Moves(np.zeros((4, 3, 1)), np.zeros((4, 3, 1)), None, None)

    class Edge:
        def transition(self, place):
            return self

        def __init__(self):
            self.asked = 0

        def log_density(self, after, before, control=None, elapsed=None):
            self.asked += 1
            return np.full(len(after), np.nan if self.asked < 3 else -1.0)

    peak = Complete([[moves]], Edge()).peak(np.array([0.5]))
    assert peak.covariance is None
