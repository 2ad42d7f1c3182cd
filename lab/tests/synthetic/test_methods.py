"""The methods of Section 6.2 and their settings."""

import numpy as np
import pytest

from kmcf.tuning import tune
from kmcf.tuning.space import make_space
from kmcf_lab.quiet import quiet
from kmcf_lab.synthetic import methods
from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.methods import METHODS, PRINTED


def test_the_papers_methods_are_as_printed():
    data = simulate_data("1b", 30, 0, 10, 0)
    made = {name: method.make(data) for name, method in METHODS.items()}
    for name in PRINTED:
        if "KMCF" in name:
            assert made[name].n_resample == 50
            assert made[name].resample_threshold == 0.0  # Algorithm 3 resamples at every step
            assert type(made[name].observation_kernel).__name__ == "Gaussian"
            assert made[name].rejecting_ is False
    assert made["KBR"].reject is False
    assert {name: (made[name].engine, made[name].rank) for name in PRINTED if "low" in name} == {
        "KMCF-low10": ("literal", 10),
        "KMCF-low20": ("literal", 20),
    }
    assert [made[f"KMCF-sub{count}"].n_examples for count in (50, 100)] == [50, 100]
    assert [made[f"KMCF-{kind}"].resampling for kind in ("woRes", "ResTrunc")] == ["none", "multinomial"]
    assert made["kNN-PF"].n_particles == made["GP-PF"].n_particles == made["oracle"].n_particles == 5000
    assert made["GP-PF"].n_hyperparameter_examples is None
    assert made["GP-PF"].n_restarts > 0
    kbr = made["KBR"].fit(data.train.states, data.train.observations)
    predicted = kbr.forecast(kbr.start(), 2, [0.0, 0.0])[1]
    np.testing.assert_array_equal(predicted.states, data.moves.states[1:])
    assert len(predicted.states) == 1000


def test_ours_have_names_of_their_own():
    ours = {name for name, method in METHODS.items() if not method.printed}
    assert ours == {
        *("oracle", "ours (untuned)", "ours, importance (untuned)", "ours, learnt kernel"),
        *("low-rank, stable 10", "low-rank, stable 20"),
    }
    data = simulate_data("1a", 30, 0, 10, 0)
    assert METHODS["ours, importance (untuned)"].make(data).rule == "importance"
    assert METHODS["low-rank, stable 10"].make(data).engine == "auto"
    assert METHODS["low-rank, stable 10"].make(data).rejecting_


@pytest.mark.parametrize("model", ["1a", "2b"])
def test_the_exact_engine_is_the_literal_one_to_rounding(model):
    data = simulate_data(model, 60, 0, 40, 0)
    runs = [
        methods.paper_filter(data, engine=engine)
        .fit(data.train.states, data.train.observations)
        .filter(data.test.observations, data.test.controls)
        for engine in ("exact", "literal")
    ]
    np.testing.assert_allclose(runs[0].mean, runs[1].mean, rtol=1e-6, atol=1e-8)
    assert not runs[0].rejected.any()


@pytest.mark.parametrize("model", ["1a", "1b"])
def test_every_method_has_the_same_number_of_trials_per_parameter(model):
    data = simulate_data(model, 40, 0, 10, 0)
    for name, method in METHODS.items():
        if method.parameters == 0:
            assert method.trials(model) == 0
            continue
        held = (*method.held, *(("control_multiplier",) if method.with_control and model == "1a" else ()))
        with quiet():
            space = make_space(method.make(data), data.train.states, data.train.observations, dict.fromkeys(held, None))
        assert method.trials(model, per_parameter=7) == 7 * len(space.names()), name


def test_tuning_keeps_what_a_method_is():
    data = simulate_data("1a", 40, 0, 10, 0)
    flt, result = METHODS["KMCF-low10"].fitted(data, 3)
    assert (flt.rank, flt.engine) == (10, "literal")
    assert "rank" not in result.best_params
    assert result.trials[0].proposal.settings["delta"] == 9e-6
    flt, result = METHODS["kNN-PF"].fitted(data, 3)
    assert flt.n_particles == 5000
    assert flt.n_neighbors == result.best_params["n_neighbors"]
    assert METHODS["ours (untuned)"].fitted(data, 0)[1] is None


def test_the_papers_methods_take_the_best_trial_and_ours_combine():
    data = simulate_data("1a", 60, 0, 10, 0)
    method = METHODS["KMCF"]
    _, printed = method.fitted(data, 6)
    flt = method.make(data).set_params(delta=method.delta)
    settings = {"n_trials": 6, "prune": False, "random_state": data.seed, "space": dict.fromkeys(method.held)}
    with quiet():
        whole = tune(flt, data.train.states, data.train.observations, **settings)
    assert {trial.status for trial in whole.trials} == {"complete"}
    best = min(whole.trials, key=lambda trial: trial.value)
    assert (printed.best_params, printed.best_value) == (best.proposal.settings, best.value)
    _, ours = METHODS["low-rank, stable 20"].fitted(data, 6)
    assert ours.best_params not in [trial.proposal.settings for trial in ours.trials]
