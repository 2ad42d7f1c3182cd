"""The local engine in the filter: a walk through a world that is large compared with the state kernel."""

import dataclasses

import numpy as np
import pytest
from bayes_rules import algorithm_1

import kmcf
from kmcf.bayes_rule import Examples, LocalRule, RuleSettings, fit_rule
from kmcf.bayes_rule.local_choice import fit_local
from kmcf.herding.herding import Herd
from kmcf.kernels import Gaussian
from kmcf.support.alerts import HighRankWarning

SIDE, N, T = 40.0, 1600, 12
rng = np.random.default_rng(0)
FREQUENCIES, PHASES = rng.normal(size=(2, 6)), rng.uniform(0, 6, size=6)
STATES = rng.uniform(0, SIDE, size=(N, 2))
PATH = 20.0 + np.cumsum(0.5 * rng.normal(size=(T, 2)), axis=0)


def observe(states, rng):
    return np.sin(0.4 * states @ FREQUENCIES + PHASES) + 0.1 * rng.normal(size=(len(states), 6))


OBSERVATIONS, SEEN = observe(STATES, rng), observe(PATH, rng)


def walk(states, _control, rng):
    return states + 0.5 * rng.normal(size=states.shape)


def start(size, rng):
    return 20.0 + rng.normal(size=(size, 2))


def fitted(n=N, **settings):
    settings = {"state_kernel": Gaussian(1.0), "observation_kernel": Gaussian(0.8), "delta": 1e-4} | settings
    flt = kmcf.KernelMonteCarloFilter(
        walk, initial=start, n_particles=100, random_state=0, **{"engine": "local", "tolerance": "auto"} | settings
    )
    return flt.fit(STATES[:n], OBSERVATIONS[:n])


def test_it_follows_the_walk_and_answers_as_the_exact_engine_does():
    local, exact = (fitted(engine=engine, n=500, tolerance=1e-6).filter(SEEN) for engine in ("local", "exact"))
    # Herding may pick another point on a near-tie, so the runs agree to Monte Carlo error, not to tolerance.
    np.testing.assert_allclose(local.mean, exact.mean, atol=0.15)
    np.testing.assert_allclose(local.mean[0], exact.mean[0], atol=1e-3)  # the first step has the same particles
    assert np.linalg.norm(fitted().filter(SEEN).mean - PATH, axis=1).mean() < 0.5


def test_one_step_is_algorithm_1():
    flt = fitted(n=400, tolerance=1e-8)
    particles = flt.start().states
    belief = flt.step(flt.start(), SEEN[0])
    G_X, G_Y = Gaussian(1.0)(STATES[:400]), Gaussian(0.8)(OBSERVATIONS[:400])
    m_pi, k_y = Gaussian(1.0)(STATES[:400], particles).mean(axis=1), Gaussian(0.8)(OBSERVATIONS[:400], SEEN[:1])[:, 0]
    weights = algorithm_1(k_y, m_pi, G_X, G_Y, flt.epsilon_, flt.delta_)
    np.testing.assert_allclose(belief.mean(), weights @ STATES[:400] / weights.sum(), atol=1e-4)
    assert belief.report.weight_sum == pytest.approx(weights.sum(), abs=1e-4)
    assert len(belief.states) == len(belief.weights) < 400


def test_beliefs_are_read_off_saved_and_continued_like_any_other(tmp_path):
    flt = fitted()
    run = flt.filter(SEEN)
    belief = flt.start()
    for y in SEEN[:3]:
        belief = flt.step(belief, y)
    np.testing.assert_array_equal(belief.mean(), run.mean[2])
    assert belief.states[int(np.argmax(belief.weights))] == pytest.approx(belief.mode())
    flt.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=walk, initial=start)
    assert loaded.engine_ == "local"
    np.testing.assert_array_equal(loaded.filter(SEEN).mean, run.mean)


def test_further_examples_are_found_too():
    flt = fitted(n=800)
    flt.partial_fit(STATES[800:], OBSERVATIONS[800:])
    np.testing.assert_allclose(flt.filter(SEEN).mean, fitted().filter(SEEN).mean, atol=1e-9)


def test_where_there_is_no_example_the_prediction_stays():
    flt = fitted(n=100).set_params(initial=lambda size, rng: np.full((size, 2), 1e4))
    with pytest.warns(UserWarning, match="was not used"):
        belief = flt.step(flt.start(), SEEN[0])
    assert belief.report.rejected
    np.testing.assert_array_equal(belief.mean(), [1e4, 1e4])


def test_auto_takes_it_where_few_examples_are_near():
    herd = Herd(100)
    settings = RuleSettings("auto", "kbr", 1e-3, 1e-4, None, (None, None), 1000, herd, herd)
    states = np.random.default_rng(1).uniform(0, 200, size=(3000, 2))
    seen = Gaussian(0.3).on_examples(observe(states, rng))
    narrow, wide = (Examples(states, Gaussian(width).on_examples(states), seen) for width in (1.0, 100.0))
    assert fit_rule(narrow, settings).engine == "local"
    assert isinstance(fit_rule(narrow, settings).rule, LocalRule)
    assert fit_rule(wide, dataclasses.replace(settings, rank=(20, 20))).engine != "local"
    assert fit_local(wide, settings) is None


def test_more_examples_near_than_a_step_solves_for_is_said():
    with pytest.warns(HighRankWarning, match="more than the 30 that a step"):
        flt = fitted(rank=30)
    run = flt.filter(SEEN)
    assert all(len(belief.states) <= 30 for belief in run)
    assert np.linalg.norm(run.mean - PATH, axis=1).mean() < 0.5


def test_a_share_of_the_trace_is_refused():
    with pytest.raises(ValueError, match="largest number of examples that a step solves for"):
        fitted(rank=0.9)
