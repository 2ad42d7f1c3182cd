"""The judge of the ABC comparison, against made-up results."""

import numpy as np

from kmcf_lab.abc.checks import comparisons, log_ratio, statements
from kmcf_lab.abc.report import _summary, abc_report
from kmcf_lab.cells import Cell, Result
from kmcf_lab.tables import rows_of


def made(ratio):
    """Results in which KMCF has this times the error of ABC."""
    rng = np.random.default_rng(0)
    results = []
    for repetition in range(6):
        for budget in (100, 200):
            theirs = np.exp(0.05 * rng.normal())
            rows = tuple(
                {"method": method, "length": 10, "size": 1, "rmse": error}
                for method, error in (("KMCF", ratio * theirs * np.exp(0.02 * rng.normal())), ("ABC", theirs))
            )
            where = {"model": "1a", "repetition": repetition, "budget": budget}
            results.append(Result(Cell("budget", where), rows, 0.0, "x"))
    return results


def test_the_verdict_follows_the_numbers():
    assert [statements(made(ratio))[0].verdict.value for ratio in (0.8, 1.25)] == ["holds", "does not hold"]
    assert "0.8" in statements(made(0.8))[0].numbers


def test_ratios_are_within_repetitions():
    ratios = log_ratio(rows_of(made(0.5), "budget"), "1a", 10, 100, "ABC")
    assert len(ratios) == 6
    np.testing.assert_allclose(ratios, np.log(0.5), atol=0.08)


def test_the_report_names_losses_too(results):
    report = abc_report(results, "kmcf reproduce abc")
    assert "the larger one in" in report.summary
    assert len(statements(results)) == 2 + 2 * 2


def test_every_single_comparison_is_named():
    found = comparisons(rows_of(made(1.25), "budget"))
    assert list(found) == ["ABC on 1a, T = 10, 100 simulations", "ABC on 1a, T = 10, 200 simulations"]
    assert all(one.low > 1.0 for one in found.values())
    assert "Lost: ABC on 1a" in _summary([*rows_of(made(1.25), "budget")])
