"""Studies as a whole."""

import time

import joblib
import numpy as np
import pytest
from tuning_cases import MODEL, U, run

import kmcf
from kmcf.support.search_space import LogNormal


def test_the_same_seed_gives_the_same_study():
    def numbers(seed):
        return [(row["value"], row["epsilon"]) for row in run(random_state=seed).rows]

    assert numbers(1) == numbers(1) != numbers(2)


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_parallel_trials_are_the_same_trials(backend):
    alone = run(n_trials=4, prune=False)
    with joblib.parallel_config(backend=backend):
        together = run(n_trials=4, n_jobs=2, prune=False)
    assert [t.value for t in together.trials] == pytest.approx([t.value for t in alone.trials], rel=1e-6)
    assert together.best_params == alone.best_params


def test_examples_without_order_can_use_a_metric():
    result = run(n_trials=2, sequential=False, criterion="metric", metric="kernel_score", controls=None)
    assert result.metric == "kernel_score"
    assert 0.0 < result.best_value < 1.0


@pytest.mark.slow
def test_learnt_kernels_are_a_choice():
    model = kmcf.datasets.paper_model("3a")
    data = model.simulate(80, random_state=0)
    given = kmcf.KernelMonteCarloFilter(model.transition)
    result = kmcf.tune(given, data.states, data.observations, n_trials=4, random_state=0)
    assert {row["observation_kernel"] for row in result.rows} <= {"plain", "learnt"}
    learnt = isinstance(result.best_filter.observation_kernel_, kmcf.kernels.Learned)
    assert learnt == (result.best_params["observation_kernel"] == "learnt")


def test_the_single_best_trial_can_be_had_as_it_is():
    result = run(n_trials=9, n_best=1, transfer=False, prune=False, random_state=1)
    best = min(result.trials, key=lambda trial: trial.value)
    assert best.number > 0
    assert result.best_params == best.proposal.settings
    assert result.best_filter.epsilon_ == best.proposal.settings["epsilon"]
    scaled = run(n_trials=9, n_best=1, prune=False, random_state=1)
    assert scaled.best_params["epsilon"] < result.best_params["epsilon"]  # there are more examples than in a fold


def test_a_callable_metric():
    result = run(n_trials=2, metric=lambda belief, state: abs(float(belief.mean()[0] - state[0])))
    assert 0.1 < result.best_value < 2.0


def test_the_time_budget_ends_a_study():
    def slow(states, control, rng):
        time.sleep(0.002)
        return MODEL.transition(states, control, rng)

    result = run(n_trials=1000, flt=kmcf.KernelMonteCarloFilter(slow), time_budget=0.3)
    assert 1 <= len(result.trials) < 20


def test_all_trials_failing_names_the_first_cause():
    calls = []

    def broken(states, control, rng):
        calls.append(1)
        raise ZeroDivisionError("no motion today")

    with pytest.raises(RuntimeError, match=r"all 10 trials so far failed.*ZeroDivisionError: no motion today"):
        run(n_trials=60, flt=kmcf.KernelMonteCarloFilter(broken, augment=False))
    assert len(calls) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trials": 0}, "n_trials = 0"),
        ({"n_best": 0}, "n_best = 0"),
        ({"folds": 1}, "at least two folds"),
        ({"time_budget": -1}, "time_budget = -1"),
        ({"criterion": "best"}, "criterion = 'best'"),
        ({"sampler": "grid"}, "sampler = 'grid'"),
        ({"groups": [1, 2]}, "one label per example, 60 in all, but got 2"),
        ({"controls": U[:3]}, "3 controls for 60 steps"),
        ({"space": {"epsilonn": LogNormal(1.0)}}, "nearest is 'epsilon'"),
        ({"metric": "rmsee"}, "did you mean 'rmse'"),
        ({"random_state": -1}, "random_state = -1"),
        ({"learned_from": [True] * 59}, "learned_from must hold True or False for each of 60 examples"),
        ({"corrected_at": np.ones(60)}, "corrected_at must hold True or False"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        run(**options)
