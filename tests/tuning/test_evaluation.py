"""Trials, against cross validation written out by hand; what they share."""

import numpy as np
import pytest
from bayes_rules import algorithm_1
from kernels_by_hand import gaussian_matrix
from tuning_cases import U, X, Y, flt, run, squared_errors

import kmcf
from kmcf.kernels import Gaussian, Kernel
from kmcf.support.search_space import Category
from kmcf.tuning.examples import read_tuning_examples
from kmcf.tuning.folds import make_folds


def test_trials_are_two_fold_cross_validations():
    first, second = list(range(30)), list(range(30, 60))
    result = run()
    for row in result.rows:
        settings = {
            "state_kernel": Gaussian(multiplier=row["state_kernel__multiplier"]),
            "observation_kernel": kmcf.kernels.AsinhScaled(
                Gaussian(multiplier=row["observation_kernel__kernel__multiplier"])
            ),
            "epsilon": row["epsilon"],
            "delta": row["delta"],
        }
        errors = squared_errors(second, first, **settings) + squared_errors(first, second, **settings)
        assert row["value"] == pytest.approx(np.sqrt(np.mean(errors)), rel=1e-9)


def test_the_first_trial_is_the_untuned_filter():
    errors = squared_errors(list(range(30, 60)), list(range(30)), epsilon=1e-3, delta=9e-6)
    errors += squared_errors(list(range(30)), list(range(30, 60)), epsilon=1e-3, delta=9e-6)
    result = run(n_trials=1)
    assert result.untuned_value == result.best_value == pytest.approx(np.sqrt(np.mean(errors)), rel=1e-9)


def test_whole_sequences_are_left_out():
    groups = ["a"] * 20 + ["b"] * 25 + ["c"] * 15
    total = []
    for stream, (label, fold) in enumerate([("b", range(20, 45)), ("a", range(20)), ("c", range(45, 60))]):
        train = [t for t in range(60) if groups[t] != label]
        fitted = flt(random_state=5, epsilon=1e-3, delta=9e-6).fit(X[train], Y[train])
        belief = fitted.start(stream)
        for t in fold:
            belief = fitted.step(belief, Y[t], U[t])
            total.append(float(np.sum((belief.mean() - X[t]) ** 2)))
    assert run(n_trials=1, groups=groups).untuned_value == pytest.approx(np.sqrt(np.mean(total)), rel=1e-9)


def test_examples_without_order_use_the_embedding_criterion():
    """Fukumizu et al. 2013, Section 4.2, written out with the literal Algorithm 1 on two folds."""
    kernels = {"state_kernel": Gaussian(1.0), "observation_kernel": Gaussian(1.5)}
    given = flt(engine="exact", epsilon=1e-2, delta=1e-3, **kernels)
    found = run(n_trials=1, flt=given, sequential=False, folds=2, controls=None).untuned_value
    width = 0.5 * np.median(np.abs(X - X.T)[np.triu_indices(60, 1)])
    distances = []
    for fold in make_folds(read_tuning_examples(given, X, Y, None, None), sequential=False, folds=2, seed=5):
        train, held_out = fold.training, np.concatenate(fold.sequences)
        G_X, G_Y = gaussian_matrix(X[train], X[train], 1.0), gaussian_matrix(Y[train], Y[train], 1.5)
        prior = G_X.mean(axis=1)  # the training states as prior
        average = np.zeros(60)
        for i in held_out:
            k_y = gaussian_matrix(Y[train], Y[[i]], 1.5)[:, 0]
            average[train] += algorithm_1(k_y, prior, G_X, G_Y, 1e-2, 1e-3) / len(held_out)
        average[held_out] -= 1.0 / len(held_out)
        distances.append(average @ gaussian_matrix(X, X, width) @ average)
    assert found == pytest.approx(np.sqrt(np.mean(distances)), rel=1e-4)


class CountingKernel(Kernel):
    """A Gaussian kernel that counts how many values it computed."""

    computed = 0

    def evaluate(self, a, b):
        CountingKernel.computed += len(a) * len(b)
        return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))


def test_kernel_matrices_are_reused_where_only_the_regularisers_change():
    space = {"state_kernel__multiplier": None}
    # A filter that looks for the state elsewhere compares the observation once more.
    given = flt(observation_kernel=CountingKernel(), engine="exact", relocate=False)
    CountingKernel.computed = 0
    run(n_trials=1, flt=given, space=space)
    one = CountingKernel.computed
    run(n_trials=5, flt=given, space=space, prune=False)
    four_more = CountingKernel.computed - 2 * one
    steps = 60 * 30  # every step compares one observation with the 30 examples of its fold
    assert four_more <= 4 * steps


def test_reused_matrices_give_the_same_values():
    held = {"state_kernel__multiplier": None, "observation_kernel__kernel__multiplier": None}
    for row in run(n_trials=5, space=held, prune=False).rows:
        alone = run(n_trials=1, flt=flt(epsilon=row["epsilon"], delta=row["delta"])).untuned_value
        assert alone == pytest.approx(row["value"], rel=1e-9)


@pytest.mark.slow
def test_hopeless_trials_are_pruned_and_good_ones_are_not():
    space = {"epsilon": Category((1e-3, 1e-3, 1e-3, 1e6)), "delta": None, "state_kernel__multiplier": None}
    space["observation_kernel__kernel__multiplier"] = None
    result = run(n_trials=25, space=space)
    ends = {(row["epsilon"], row["status"]) for row in result.rows[10:]}
    assert (1e6, "pruned") in ends
    assert (1e-3, "pruned") not in ends
    assert run(n_trials=25, space=space, prune=False).best_params == result.best_params


def test_trials_far_behind_the_first_are_pruned_at_once():
    def few_states(belief, state):
        return 100.0 / len(belief.states) + float(state[0]) ** 2

    result = run(n_trials=4, metric=few_states, space={"n_examples": Category((20, 5))})
    ends = {(row["n_examples"], row["status"]) for row in result.rows}
    assert ends == {(20, "complete"), (5, "pruned")}


@pytest.mark.parametrize("n_best", [1, 3])
def test_pruning_what_cannot_win_changes_no_result(n_best):
    whole, certain = (run(n_trials=15, n_best=n_best, prune=prune, random_state=2) for prune in (False, "certain"))
    assert certain.best_params == whole.best_params
    assert certain.best_value == whole.best_value
    pruned = [row for row in certain.rows if row["status"] == "pruned"]
    assert pruned
    worse = sorted(row["value"] for row in whole.rows)[n_best]
    values = {row["trial"]: row["value"] for row in whole.rows}
    assert all(values[row["trial"]] >= worse for row in pruned)


def test_bad_words_for_pruning_are_refused():
    with pytest.raises(ValueError, match="prune = 'sure'; it must be True, False or 'certain'"):
        run(n_trials=2, prune="sure")
    for metric in ("negative_log_density", lambda belief, state: 0.0):
        with pytest.raises(ValueError, match="needs losses that are never negative"):
            run(n_trials=2, prune="certain", metric=metric)


def test_nothing_is_certain_where_proposals_depend_on_how_trials_end(tmp_path):
    with pytest.raises(ValueError, match="prune = 'certain' is for sampler='random'"):
        run(n_trials=2, prune="certain", sampler="optuna", study=tmp_path / "study.jsonl")
    assert not (tmp_path / "study.jsonl").exists()


def test_a_metric_of_the_users_may_promise_that_it_is_not_negative():
    def distance(belief, state):
        return float(np.abs(belief.mean() - state).sum())

    distance.nonnegative = True
    whole, certain = (
        run(n_trials=8, n_best=1, prune=how, metric=distance, random_state=3) for how in (False, "certain")
    )
    assert certain.best_params == whole.best_params
    assert any(row["status"] == "pruned" for row in certain.rows)


def test_a_metric_of_the_users_sees_alarms():
    seen = []

    def watching(belief, state):
        seen.append((belief.watch is not None, belief.alarm))
        return 0.0

    run(n_trials=1, metric=watching)
    assert all(watched for watched, _ in seen)


def test_a_failing_trial_does_not_end_the_study():
    result = run(n_trials=20, space={"n_resample": Category((100, -1))}, prune=False)
    assert {t.status for t in result.trials} == {"complete", "failed"}
    failed = next(t for t in result.trials if t.status == "failed")
    assert "n_resample = -1" in failed.error
    assert result.best_params["n_resample"] == 100


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "word", np.array([1.5, 2.5])])
def test_a_metric_that_returns_nan(bad):
    def odd(belief, state):
        return bad

    with pytest.raises(ValueError, match=r"metric 'odd' returned (nan|inf|None|word|\[1\.5 2\.5\]) for example 0"):
        run(metric=odd)
