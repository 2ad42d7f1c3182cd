"""Which examples teach, and which steps are corrected."""

import numpy as np
import pytest
from kernels_by_hand import gaussian_matrix
from tuning_cases import MODEL, U, X, Y, flt, run, squared_errors

import kmcf
from kmcf.kernels import Gaussian


def test_some_examples_only_teach_and_some_steps_only_correct():
    taught, shown = np.arange(60) % 3 != 1, np.arange(60) % 4 == 3
    first, second = np.arange(30), np.arange(30, 60)
    errors = []
    for train, held_out in ((second, first), (first, second)):
        chosen = train[taught[train]]
        errors += squared_errors(chosen, held_out, shown=shown, epsilon=1e-3, delta=9e-6)
    result = run(n_trials=1, learned_from=taught, corrected_at=shown)
    assert result.untuned_value == pytest.approx(np.sqrt(np.mean(errors)), rel=1e-9)
    assert len(result.best_filter.states_) == taught.sum()
    assert run(n_trials=1).untuned_value != result.untuned_value


def test_moves_are_learnt_from_steps_that_are_no_examples():
    taught = np.arange(60) % 2 == 0
    learner = kmcf.baselines.KernelBayesFilter(initial=MODEL.initial)
    result = run(flt=learner, n_trials=1, learned_from=taught)
    assert result.rows[0]["status"] == "complete"
    assert len(result.best_filter.states_) == 30


def test_missing_observations_are_filtered_over():
    gaps = Y.copy()
    gaps[[3, 40]] = np.nan
    as_list = [None if np.isnan(y).any() else y for y in gaps]
    for observations in (gaps, as_list):
        result = kmcf.tune(flt(), X, observations, controls=U, n_trials=2, random_state=0)
        assert len(result.best_filter.states_) == 58


def test_a_precomputed_kernel_is_sliced():
    gram = gaussian_matrix(Y, Y, 1.5)
    plain = run(
        n_trials=3,
        flt=flt(observation_kernel=Gaussian(1.5), engine="exact", delta=1e-3),
        space={"observation_kernel__bandwidth": None},
    )
    sliced = kmcf.tune(
        flt(observation_kernel="precomputed", engine="exact", delta=1e-3),
        X,
        gram,
        controls=U,
        n_trials=3,
        random_state=5,
    )
    assert [t.value for t in sliced.trials] == pytest.approx([t.value for t in plain.trials], rel=1e-6)


def test_objects_as_states_and_observations():
    rng = np.random.default_rng(0)
    rooms = ["hall", "kitchen", "bath"]
    walk = [rooms[k] for k in np.repeat(rng.integers(3, size=15), 4)]
    seen = [room[0] if rng.random() < 0.8 else "?" for room in walk]

    def same(a, b):
        return np.array([[float(x == y) for y in b] for x in a])

    def move(states, control, rng):
        return [s if rng.random() < 0.8 else rooms[rng.integers(3)] for s in states]

    talk = kmcf.KernelMonteCarloFilter(move, state_kernel=same, observation_kernel=same)
    for metric in ("mode", "kernel_score"):
        result = kmcf.tune(talk, walk, seen, n_trials=3, metric=metric, random_state=0)
        assert set(result.best_params) == {"epsilon", "delta"}
        assert 0.0 <= result.best_value < 0.5


def test_bad_examples():
    with pytest.raises(ValueError, match="3 observed examples are too few for two folds"):
        kmcf.tune(flt(), X[:3], Y[:3])
    with pytest.raises(ValueError, match="60 states but 59 observations"):
        kmcf.tune(flt(), X, Y[:59])
    with pytest.raises(TypeError, match="tune takes a filter"):
        kmcf.tune("filter", X, Y)
    with pytest.raises(TypeError, match="states must be an array"):
        kmcf.tune(flt(), "abc", Y)
