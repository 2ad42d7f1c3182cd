"""Section 6.2: data sets, methods, order of the cells, comparisons."""

import json

import numpy as np
import pytest
from scipy import stats

from kmcf.datasets import PAPER_MODELS
from kmcf.report import Verdict
from kmcf_lab.cells import Cell, Result
from kmcf_lab.kalman import kalman
from kmcf_lab.statistics import Interval
from kmcf_lab.synthetic.checks import compare, own_statements, statements
from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.measured import errors_of
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.study import compute, synthetic_cells
from kmcf_lab.synthetic.times import TIMED_STEPS, step_times, timed_names
from kmcf_lab.verdicts import above, below, near


def cell(method, trials=0, model="1a", n=40, repetition=0):
    where = {"model": model, "n": n, "repetition": repetition, "steps": 100, "seed": 0}
    return Cell("accuracy", {**where, "method": method, "trials": trials})


def test_methods_meet_the_same_data():
    first, again = simulate_data("2b", 50, 3, 20, 0), simulate_data("2b", 50, 3, 20, 0)
    np.testing.assert_array_equal(first.train.observations, again.train.observations)
    assert first.seed == again.seed
    more = simulate_data("2b", 60, 3, 20, 0)
    np.testing.assert_array_equal(first.test.states, more.test.states)
    assert len(more.train.states) == 60
    for other in (simulate_data("2b", 50, 4, 20, 0), simulate_data("2b", 50, 3, 20, 1)):
        assert not np.any(np.isin(first.test.states, other.test.states))
        assert not np.any(np.isin(first.train.states, other.train.states))
    assert not np.any(np.isin(first.test.states, first.train.states))


def test_methods_have_the_papers_settings():
    data = simulate_data("1b", 30, 0, 10, 0)
    made = {name: method.make(data) for name, method in METHODS.items()}
    for name in ("KMCF", "KMCF-low10", "KMCF-low20", "KMCF-sub50", "KMCF-sub100"):
        assert made[name].n_resample == 50
        assert type(made[name].observation_kernel).__name__ == "Gaussian"
    assert [made[f"KMCF-low{rank}"].rank for rank in (10, 20)] == [10, 20]
    assert [made[f"KMCF-sub{count}"].n_examples for count in (50, 100)] == [50, 100]
    assert made["kNN-PF"].n_particles == made["GP-PF"].n_particles == made["oracle"].n_particles == 5000
    assert made["importance"].rule == "importance"
    kbr = made["KBR"].fit(data.train.states, data.train.observations)
    predicted = kbr.forecast(kbr.start(), 2, [0.0, 0.0])[1]
    np.testing.assert_array_equal(predicted.states, data.moves.states[1:])
    assert len(predicted.states) == 1000


def test_tuning_keeps_what_a_method_is():
    data = simulate_data("1a", 40, 0, 10, 0)
    flt, result = METHODS["KMCF-low10"].fitted(data, 3)
    assert flt.rank == 10
    assert "rank" not in result.best_params
    assert result.trials[0].proposal.settings["delta"] == 9e-6
    flt, result = METHODS["kNN-PF"].fitted(data, 3)
    assert flt.n_particles == 5000
    assert flt.n_neighbors == result.best_params["n_neighbors"]
    assert METHODS["defaults"].fitted(data, 0)[1] is None


def test_the_oracle_is_as_good_as_the_kalman_filter():
    row = compute(cell("oracle"))[0]
    data = simulate_data("1a", 40, 0, 100, 0)
    means = kalman(data.test.observations).means
    exact = np.sqrt(np.mean((means - data.test.states[:, 0]) ** 2))
    assert row["rmse"] == pytest.approx(exact, rel=0.02)


def test_a_tuned_cell_tells_its_settings_and_repeats():
    first, again = compute(cell("KMCF", trials=3))[0], compute(cell("KMCF", trials=3))[0]
    assert first["rmse"] == again["rmse"]
    assert {"epsilon", "delta"} < set(json.loads(first["settings"]))
    assert first["validation_rmse"] <= first["untuned_validation_rmse"]


def test_the_most_wanted_cells_come_first():
    cells = synthetic_cells(PAPER_MODELS, (100, 200, 800), list(METHODS), 12)
    assert len({one.digest for one in cells}) == len(cells)
    accuracy = [one.coordinates for one in cells if one.study == "accuracy"]
    assert len(accuracy) == 8 * 3 * len(METHODS) * 12
    first = accuracy[: 8 * 10 * len(METHODS)]
    assert {(where["n"], where["repetition"] < 10) for where in first} == {(200, True)}
    assert {where["repetition"] for where in accuracy[-8 * 3 * len(METHODS) * 2 :]} == {10, 11}
    assert cells[len(first)].study == "times"
    trials = {where["n"]: where["trials"] for where in accuracy if where["method"] == "KMCF"}
    assert trials[800] * 2 == trials[200] == trials[100]
    starts = {where["method"]: where.get("delta") for where in accuracy}
    assert {name for name, delta in starts.items() if delta == 9e-6} == {"KBR", *(m for m in METHODS if "KMCF" in m)}


@pytest.mark.parametrize(
    ("models", "sizes", "methods", "words"),
    [
        (["5a"], [100], ["KMCF"], "unknown model '5a'"),
        (["1a"], [100], ["EKF"], "unknown method 'EKF'"),
        (["1a"], [5], ["KMCF"], "at least 20"),
        (["1a", "1a"], [100], ["KMCF"], "each once"),
        ([], [100], ["KMCF"], "choose among"),
    ],
)
def test_bad_choices_are_refused(models, sizes, methods, words):
    with pytest.raises(ValueError, match=words):
        synthetic_cells(models, sizes, methods, 2)


def test_times_are_measured_for_all():
    data = simulate_data("1b", 40, 0, TIMED_STEPS + 1, 0)
    names = timed_names(["KMCF", "KBR", "oracle"])
    assert "KMCF, literal" in names
    assert "KMCF-low20, n × r" not in names
    rows = step_times(data, names)
    assert [row["method"] for row in rows] == names
    assert all(0 < row["milliseconds"] < 1000 for row in rows)


# Made-up results with known truths


def made_up(errors, models=PAPER_MODELS, sizes=(100, 200), repetitions=12, times=None):
    """Give every method its mean error by ``errors(model, n, method)``, with common and own noise."""
    rng, results = np.random.default_rng(0), []
    for model in models:
        for n in sizes:
            for repetition in range(repetitions):
                common = rng.normal(scale=0.2)
                for method in METHODS:
                    value = errors(model, n, method) * np.exp(common + 0.02 * rng.normal())
                    row = {"rmse": value, "fit_seconds": 1.0, "rejected": 0}
                    results.append(Result(cell(method, 0, model, n, repetition), (row,), 1.0, "0"))
    for model in ("1a", "1b", "3a") if times else ():
        for n in sizes:
            for repetition in range(3):
                rows = [
                    {"method": name, "milliseconds": times(model, n, name) * np.exp(0.01 * rng.normal())}
                    for name in timed_names(list(METHODS))
                ]
                where = Cell("times", {"model": model, "n": n, "repetition": repetition})
                results.append(Result(where, tuple(rows), 1.0, "0"))
    return results


def as_the_paper_says(model, n, method):
    level = 0.8 if model.endswith("b") and method != "KBR" else 1.3 if model.endswith("b") else 1.0
    linear, vector = model in ("1a", "1b"), model in ("3a", "3b")
    factors = {
        "GP-PF": 0.9 if linear else 2.0,
        "KBR": 1.3,
        "kNN-PF": 1.5,
        "KMCF-low10": 30.0,
        "KMCF-sub50": 1.5 if vector else 1.06,
        "KMCF-sub100": 1.3 if vector else 1.02,
        "KMCF-low20": 1.3 if vector else 1.02,
        "oracle": 0.5,
    }
    return level * factors.get(method, 1.0)


def times_as_the_paper_says(model, n, method):
    if "sub" in method or method == "kNN-PF":
        return 1.0
    if "low" in method:
        return n / 100
    return (n / 50) ** 2 * {"KMCF, literal, no resampling": 0.5, "KBR": 0.8, "KBR, literal": 0.8}.get(method, 1.0)


def test_what_the_paper_saw_would_hold():
    results = made_up(as_the_paper_says, sizes=(100, 200, 400), times=times_as_the_paper_says)
    found = statements(results)
    assert len(found) == 9 + 6 + 7 + 16  # methods, controls, reductions, times
    assert {one.claim: one.verdict for one in found if one.verdict is not Verdict.HOLDS} == {}


def test_the_opposite_would_not():
    def opposite(model, n, method):
        return 1.0 / as_the_paper_says(model, n, method)

    def opposite_times(model, n, method):
        slow = {"KBR": 30.0, "KBR, literal": 30.0, "kNN-PF": 0.001}.get(method, 1.0)
        return slow * (2.0 if model == "3a" else 1.0) * {True: (n / 100) ** 2, False: 1.0}["sub" in method]

    results = made_up(opposite, sizes=(100, 200, 400), times=opposite_times)
    by_chance = ("oracle improved", "reduced the costs", "due to the resampling")
    found = [one for one in statements(results) if not any(words in one.claim for words in by_chance)]
    competitive = [
        one for one in found if "competitive with KMCF" in one.claim or "competitively: compared" in one.claim
    ]
    assert {one.verdict for one in found if one not in competitive} == {Verdict.FAILS}


def test_equal_methods_cannot_be_told_apart():
    results = made_up(lambda model, n, method: 1.0)
    by_claim = {one.claim: one.verdict for one in statements(results)}
    assert by_claim["The KBR filter performed worse than KMCF for most of the models."] is Verdict.UNCLEAR
    assert by_claim["For these models KMCF performed the best or competitively: compared with KBR."] is Verdict.HOLDS


def test_comparisons_are_paired_tests():
    errors = errors_of(made_up(as_the_paper_says, sizes=(200,)))
    ours, theirs = ([errors.values["2a", 200, name][r] for r in range(12)] for name in ("KBR", "KMCF"))
    expected = stats.ttest_rel(np.log(ours), np.log(theirs)).confidence_interval(0.95)
    found = compare(errors, "KBR", "KMCF", ["2a"])
    np.testing.assert_allclose(found.each["2a"][1:], np.exp([expected.low, expected.high]), rtol=1e-12)
    assert str(found.each["2a"]) == str(found.pooled)


def test_one_clear_exception_refutes_a_statement_about_all():
    def exception(model, n, method):
        return 3.0 if (model, method) == ("4b", "KMCF") else as_the_paper_says(model, n, method)

    by_claim = {one.claim: one.verdict for one in statements(made_up(exception))}
    assert by_claim["For the other models GP-PF performed poorly."] is Verdict.FAILS


def test_parts_of_the_results_are_enough():
    results = made_up(as_the_paper_says, models=("3a",), repetitions=1)
    some = [one for one in results if one.cell.coordinates["method"] in ("KMCF", "kNN-PF")]
    found = statements(some) + own_statements(some)
    assert [one.verdict for one in found] == [Verdict.UNCLEAR]
    assert statements([]) == own_statements([]) == []


def test_ratios_and_means_are_over_repetitions():
    errors = errors_of(made_up(as_the_paper_says, repetitions=5))
    ours, oracle = (np.array([errors.values["3b", 200, m][r] for r in range(5)]) for m in ("KMCF", "oracle"))
    assert errors.mean("3b", 200, "KMCF").value == pytest.approx(ours.mean())
    assert errors.mean("3b", 200, "KMCF").error == pytest.approx(stats.sem(ours))
    assert errors.ratio("3b", 200, "KMCF").value == pytest.approx((ours / oracle).mean())
    assert errors.overall_ratio(200, "KMCF").value == pytest.approx(2.0, rel=0.03)
    assert errors.mean("3b", 999, "KMCF") is None


@pytest.mark.parametrize(
    ("interval", "verdicts"),
    [
        ((0.5, 0.4, 0.6), ("holds", "does not hold", "does not hold")),
        ((1.5, 1.4, 1.6), ("does not hold", "holds", "does not hold")),
        ((1.0, 0.95, 1.05), ("not distinguishable", "not distinguishable", "holds")),
        ((1.0, -np.inf, np.inf), ("not distinguishable",) * 3),
    ],
)
def test_verdicts(interval, verdicts):
    given = Interval(*interval)
    assert (below(given, 1.0).value, above(given, 1.0).value, near(given, 1.0, 0.1).value) == verdicts
