"""When an observation resembles no example: the prediction is kept, the step is marked, one warning says so."""

import warnings

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Gaussian


def push(states, control, rng):
    return 0.9 * states + 0.3 * rng.normal(size=states.shape)


def fitted(**settings):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(50, 1))
    Y = X + 0.1 * rng.normal(size=X.shape)
    settings = {"state_kernel": Gaussian(0.5), "observation_kernel": Gaussian(0.5)} | settings
    return kmcf.KernelMonteCarloFilter(push, random_state=1, **settings).fit(X, Y)


def caught(function, *arguments, **keywords):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        result = function(*arguments, **keywords)
    return result, [w for w in record if issubclass(w.category, kmcf.RejectedStepWarning)]


FAR = 100.0


# --- rejected steps ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["kbr", "importance"])
@pytest.mark.parametrize("engine", ["literal", "exact"])
def test_a_far_observation_keeps_the_prediction(rule, engine):
    flt = fitted(rule=rule, engine=engine, reject=True)
    run, _ = caught(flt.filter, [0.1, 0.2, FAR, 0.3])
    unseen = flt.filter([0.1, 0.2, None, 0.3])
    np.testing.assert_array_equal(run.rejected, [False, False, True, False])
    np.testing.assert_array_equal(run.missing, [False] * 4)
    np.testing.assert_array_equal(unseen.missing, [False, False, True, False])
    np.testing.assert_array_equal(run.mean, unseen.mean)
    np.testing.assert_array_equal(run[2].states, unseen[2].states)
    np.testing.assert_array_equal(np.isnan(run.weight_sum), [False, False, True, False])
    assert np.isnan(run.herding_loss[2])
    assert run.observation_coverage[2] < 1e-8
    assert np.isfinite(run.mean).all()


def test_a_far_first_observation_keeps_the_initial_draws():
    flt = fitted()
    run, issued = caught(flt.filter, [FAR, 0.1])
    np.testing.assert_array_equal(run[0].states, flt.start().states)
    assert run.rejected[0]
    assert len(issued) == 1


def through_a_matrix(G, row):
    """One step whose similarities are set by hand, with regularisers too small to matter."""
    flt = kmcf.KernelMonteCarloFilter(
        push,
        initial=lambda size, rng: np.array([0.0, 1.0, 2.0]),
        state_kernel=Gaussian(0.1),
        observation_kernel="precomputed",
        epsilon=1e-6,
        delta=1e-13,
        rule="importance",
        engine="literal",
        reject=True,
        random_state=0,
    ).fit(np.array([0.0, 1.0, 2.0]), G)
    return caught(flt.step, flt.start(), row)[0]


@pytest.mark.parametrize(("similarity", "rejected"), [(0.9e-8, True), (1.1e-8, False)])
def test_the_limit_is_a_similarity_of_1e_minus_8_of_the_largest_diagonal(similarity, rejected):
    """The weights sum to about one all the while: w = k / G for a diagonal G."""
    belief = through_a_matrix(np.diag([4.0, 4e-8, 4.0]), np.array([0.0, 4.0 * similarity, 0.0]))
    assert belief.report.observation_coverage == pytest.approx(similarity)
    assert belief.report.rejected is rejected


@pytest.mark.parametrize(("total", "rejected"), [(0.99e-3, True), (1.01e-3, False), (-0.5, True)])
def test_the_limit_is_a_weight_sum_of_1e_minus_3(total, rejected, monkeypatch):
    monkeypatch.setattr("kmcf.bayes_rule.base.MOST_NEGATIVE_MASS", np.inf)  # here they cancel on purpose
    belief = through_a_matrix(np.eye(3), np.array([0.5, total - 0.5, 0.0]))
    assert belief.report.observation_coverage == pytest.approx(0.5)
    assert belief.report.rejected is rejected
    if not rejected:
        assert belief.report.weight_sum == pytest.approx(total, rel=1e-3)
        assert belief.weights.sum() == pytest.approx(1.0)


def test_weights_that_sum_to_nearly_nothing_are_not_normalised():
    """The observation is known but the prior says it cannot be: w scales with delta, so a huge delta rejects."""
    usual = fitted(delta=1e-4).filter([0.1, 0.2])
    assert not usual.rejected.any()
    assert (usual.weight_sum > 1e-3).all()
    flt = fitted(delta=1e6)
    run, issued = caught(flt.filter, [0.1, 0.2])
    assert run.rejected.all()
    assert (run.observation_coverage > 0.5).all()
    assert len(issued) == 1
    np.testing.assert_array_equal(run.mean, flt.filter([None, None]).mean)


def test_one_warning_per_filter_call():
    flt = fitted()
    observations = [FAR, 0.1, FAR, FAR, 0.2]
    for _ in range(2):
        run, issued = caught(flt.filter, observations)
        assert run.rejected.sum() == 3
        assert len(issued) == 1
    assert "3 of 5" in str(issued[0].message)
    assert "step 1" in str(issued[0].message)


def test_one_warning_for_a_batch_and_for_many_sequences():
    flt = fitted()
    batch = np.array([[0.1, FAR], [FAR, 0.2]])[..., None]
    run, issued = caught(flt.filter, batch)
    np.testing.assert_array_equal(run.rejected, [[False, True], [True, False]])
    assert len(issued) == 1
    _, issued = caught(flt.filter_many, [[0.1, FAR], [FAR]])
    assert len(issued) == 1


def test_one_warning_along_a_chain_of_steps():
    flt = fitted()

    def chain():
        belief = flt.start()
        for y in (0.1, FAR, 0.2, FAR, None, FAR):
            belief = flt.step(belief, y)
        return belief

    belief, issued = caught(chain)
    assert len(issued) == 1
    assert belief.rejections == 3
    _, again = caught(chain)
    assert len(again) == 1


def test_the_warning_says_what_to_do_and_points_at_the_callers_line():
    flt = fitted()
    for call in (
        lambda: flt.filter([FAR]),
        lambda: flt.filter(np.full((2, 3, 1), FAR)),
        lambda: flt.filter_many([[FAR]]),
        lambda: flt.step(flt.start(), FAR),
    ):
        _, issued = caught(call)
        message = str(issued[0].message)
        assert "prediction was kept" in message
        assert "bandwidth" in message
        assert "delta" in message
        assert issued[0].filename == __file__


def test_nothing_is_said_when_all_is_well():
    _, issued = caught(fitted().filter, [0.1, None, 0.2])
    assert issued == []


def test_the_filter_recovers_after_rejections():
    flt = fitted()
    run, _ = caught(flt.filter, [1.0, 1.0, FAR, FAR, FAR, 1.0, 1.0])
    assert abs(run.mean[-1, 0] - 1.0) < 0.3


# --- coverage ---------------------------------------------------------------------------------------------------------


def test_observation_coverage_is_the_similarity_to_the_closest_example():
    flt = fitted(engine="exact")
    X = flt.states_
    rng = np.random.default_rng(0)
    Y = rng.uniform(-2, 2, size=(50, 1)) + 0.1 * rng.normal(size=X.shape)
    ys = [0.0, 1.0, 2.5, 3.0, 4.0]
    run, _ = caught(flt.filter, ys)
    expected = [np.exp(-np.min((Y - y) ** 2) / (2 * 0.25)) for y in ys]
    np.testing.assert_allclose(run.observation_coverage, expected, rtol=1e-9)


def test_state_coverage_is_the_mean_similarity_to_the_closest_example():
    start = np.linspace(-4, 4, 50)[:, None]
    flt = fitted(engine="exact", initial=lambda size, rng: start)
    expected = np.mean([np.exp(-np.min((flt.states_ - x) ** 2) / (2 * 0.25)) for x in start[:, 0]])
    for y in (0.3, None):
        belief = flt.step(flt.start(), y)
        assert belief.report.state_coverage == pytest.approx(expected, rel=1e-9)
    assert belief.report.coverage == belief.report.state_coverage  # without observation only the states count


@pytest.mark.parametrize("engine", ["lowrank", "compressed"])
def test_low_rank_engines_measure_coverage_by_their_closest_pivot(engine):
    ys = [0.0, 1.0, None, 2.5, 3.0, 4.0]
    exact, _ = caught(fitted(engine="exact").filter, ys)
    low, _ = caught(fitted(engine=engine).filter, ys)
    for name in ("observation_coverage", "state_coverage"):
        a, b = getattr(low, name), getattr(exact, name)
        known = ~np.isnan(b)
        assert (a[known] <= b[known] + 1e-9).all()
        assert (a[known] >= b[known] - 0.1).all()


def test_coverage_is_the_smaller_of_the_two_and_falls_with_the_distance():
    flt = fitted()
    run, _ = caught(flt.filter, [0.0, None, 2.8, 3.5])
    np.testing.assert_array_equal(run.coverage, np.fmin(run.observation_coverage, run.state_coverage))
    assert np.isnan(run.observation_coverage[1])
    assert run.coverage[0] > 0.9 > run.coverage[2] > run.coverage[3]
    assert ((run.coverage >= 0) & (run.coverage <= 1)).all()


def test_states_that_leave_the_examples_show_in_the_coverage():
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s + 1.0, random_state=0, n_resample=20)
    flt.fit(np.linspace(0, 1, 20), np.linspace(0, 1, 20))
    ahead = flt.forecast(flt.start(), 6)
    assert ahead.state_coverage[0] > 0.99
    assert (np.diff(ahead.state_coverage) < 0).all()
    assert ahead.state_coverage[-1] < 1e-6


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")  # random data: now and then weights cancel
def test_scaled_kernels_have_the_same_coverage():
    ys = [0.0, 2.4, 3.0]
    plain = fitted().filter(ys).coverage
    scaled = fitted(state_kernel=7 * Gaussian(0.5), observation_kernel=0.3 * Gaussian(0.5)).filter(ys).coverage
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)
