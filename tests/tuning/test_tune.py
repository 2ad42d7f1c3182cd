"""Tuning as a whole, against cross validation written out by hand."""

import time

import joblib
import matplotlib as mpl
import numpy as np
import pytest
from formulas import gaussian_matrix

import kmcf
from kmcf.kernels import Gaussian, Kernel
from kmcf.support.search_space import Category, Integer, LogNormal
from kmcf.tuning.transfer import transferred

mpl.use("agg")
MODEL = kmcf.datasets.paper_model("1b")
DATA = MODEL.simulate(60, random_state=0)
X, Y, U = DATA.states, DATA.observations, DATA.controls


def flt(**settings):
    return kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, **settings)


def squared_errors(train, held_out, seed=5, shown=None, **settings):
    """Fit and filter by hand; the held-out part is a sequence of its own."""
    fitted = flt(random_state=seed, **settings).fit(X[train], Y[train])
    belief, errors = fitted.start(stream=held_out[0] // 30), []
    for t in held_out:
        belief = fitted.step(belief, Y[t] if shown is None or shown[t] else None, U[t])
        errors.append(float(np.sum((belief.mean() - X[t]) ** 2)))
    return errors


def run(n_trials=4, **options):
    options = {"controls": U, "random_state": 5, **options}
    return kmcf.tune(options.pop("flt", flt()), X, Y, n_trials=n_trials, **options)


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


def test_the_result_combines_the_best_and_is_fitted_on_everything():
    result = run(n_trials=15, prune=False)
    best = sorted(result.rows, key=lambda row: row["value"])[:5]
    for name in ("state_kernel__multiplier", "epsilon", "delta"):
        mean = np.exp(np.mean([np.log(row[name]) for row in best]))
        assert result.best_params[name] == pytest.approx(transferred({name: mean}, 30, 60)[name])
    assert len(result.best_filter.states_) == 60
    assert result.best_filter.epsilon_ == result.best_params["epsilon"]
    assert result.best_filter.initial is not None
    assert result.best_filter.random_state == 5
    assert run(flt=flt(random_state=77)).best_filter.random_state == 77


def test_the_same_seed_gives_the_same_study():
    def numbers(seed):
        return [(row["value"], row["epsilon"]) for row in run(random_state=seed).rows]

    assert numbers(1) == numbers(1) != numbers(2)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_trials_are_the_same_trials(backend):
    alone = run(n_trials=4, prune=False)
    with joblib.parallel_config(backend=backend):
        together = run(n_trials=4, n_jobs=2, prune=False)
    assert [t.value for t in together.trials] == pytest.approx([t.value for t in alone.trials], rel=1e-6)
    assert together.best_params == alone.best_params


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
    from formulas import algorithm_1

    from kmcf.tuning.examples import read_tuning_examples
    from kmcf.tuning.folds import make_folds

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


def test_examples_without_order_can_use_a_metric():
    result = run(n_trials=2, sequential=False, criterion="metric", metric="kernel_score", controls=None)
    assert result.metric == "kernel_score"
    assert 0.0 < result.best_value < 1.0


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


class CountingKernel(Kernel):
    """A Gaussian kernel that counts how many values it computed."""

    computed = 0

    def evaluate(self, a, b):
        CountingKernel.computed += len(a) * len(b)
        return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))


def test_kernel_matrices_are_reused_where_only_the_regularisers_change():
    space = {"state_kernel__multiplier": None}
    given = flt(observation_kernel=CountingKernel(), engine="exact")
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


def test_hopeless_trials_are_pruned_and_good_ones_are_not():
    space = {"epsilon": Category((1e-3, 1e-3, 1e-3, 1e6)), "delta": None, "state_kernel__multiplier": None}
    space["observation_kernel__kernel__multiplier"] = None
    result = run(n_trials=25, space=space)
    ends = {(row["epsilon"], row["status"]) for row in result.rows[10:]}
    assert (1e6, "pruned") in ends
    assert (1e-3, "pruned") not in ends
    assert run(n_trials=25, space=space, prune=False).best_params == result.best_params


def test_categories_and_integers():
    space = {"n_resample": Integer(20), "rule": Category(("kbr", "importance"))}
    result = run(n_trials=12, space=space)
    assert {row["rule"] for row in result.rows} == {"kbr", "importance"}
    assert result.best_filter.n_resample == result.best_params["n_resample"]
    assert result.best_filter.rule == result.best_params["rule"]


def test_learnt_kernels_are_a_choice():
    model = kmcf.datasets.paper_model("3a")
    data = model.simulate(80, random_state=0)
    given = kmcf.KernelMonteCarloFilter(model.transition)
    result = kmcf.tune(given, data.states, data.observations, n_trials=4, random_state=0)
    assert {row["observation_kernel"] for row in result.rows} <= {"plain", "learnt"}
    learnt = isinstance(result.best_filter.observation_kernel_, kmcf.kernels.Learned)
    assert learnt == (result.best_params["observation_kernel"] == "learnt")


def test_optuna_takes_over():
    optuna = pytest.importorskip("optuna")
    plain = run(n_trials=12, sampler="optuna")
    assert plain.trials[0].proposal.settings["epsilon"] == pytest.approx(1e-3)
    assert [t.value for t in run(n_trials=12, sampler="optuna").trials[:5]] == [t.value for t in plain.trials[:5]]
    own = run(n_trials=3, sampler=optuna.samplers.RandomSampler(seed=1))
    assert len(own.table) == 3


def test_a_callable_metric():
    result = run(n_trials=2, metric=lambda belief, state: abs(float(belief.mean()[0] - state[0])))
    assert 0.1 < result.best_value < 2.0


def test_the_time_budget_ends_a_study():
    def slow(states, control, rng):
        time.sleep(0.002)
        return MODEL.transition(states, control, rng)

    result = run(n_trials=1000, flt=kmcf.KernelMonteCarloFilter(slow), time_budget=0.3)
    assert 1 <= len(result.trials) < 20


def test_table_and_picture(monkeypatch):
    result = run(n_trials=6)
    table = result.table
    assert list(table["trial"]) == list(range(6))
    assert list(table["value"]) == [t.value for t in result.trials]
    assert len(result.plot()) == 4
    assert "6 trials" in repr(result)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    records = result.table
    assert len(records) == 6
    assert records["epsilon"].tolist() == [row["epsilon"] for row in result.rows]


def test_the_progress_bar_shows_the_best_value(capsys):
    result = run(n_trials=3, progress=True)
    assert f"best {result.best_value:.4g}" in capsys.readouterr().err


def test_a_failing_trial_does_not_end_the_study():
    result = run(n_trials=20, space={"n_resample": Category((100, -1))}, prune=False)
    assert {t.status for t in result.trials} == {"complete", "failed"}
    failed = next(t for t in result.trials if t.status == "failed")
    assert "n_resample = -1" in failed.error
    assert result.best_params["n_resample"] == 100


def test_all_trials_failing_names_the_first_cause():
    calls = []

    def broken(states, control, rng):
        calls.append(1)
        raise ZeroDivisionError("no motion today")

    with pytest.raises(RuntimeError, match=r"all 10 trials so far failed.*ZeroDivisionError: no motion today"):
        run(n_trials=60, flt=kmcf.KernelMonteCarloFilter(broken))
    assert len(calls) == 10


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "word", np.array([1.5, 2.5])])
def test_a_metric_that_returns_nan(bad):
    def odd(belief, state):
        return bad

    with pytest.raises(ValueError, match=r"metric 'odd' returned (nan|inf|None|word|\[1\.5 2\.5\]) for example 0"):
        run(metric=odd)


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


def test_bad_examples():
    with pytest.raises(ValueError, match="3 observed examples are too few for two folds"):
        kmcf.tune(flt(), X[:3], Y[:3])
    with pytest.raises(ValueError, match="60 states but 59 observations"):
        kmcf.tune(flt(), X, Y[:59])
    with pytest.raises(TypeError, match="tune takes a filter"):
        kmcf.tune("filter", X, Y)
    with pytest.raises(TypeError, match="states must be an array"):
        kmcf.tune(flt(), "abc", Y)
