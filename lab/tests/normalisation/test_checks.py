"""The judge of Section 4.3 against made-up results."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell, Result
from kmcf_lab.normalisation.checks import VARIANTS, statements
from kmcf_lab.statistics import confidence, detectable


def made(ratio, power, correlation):
    """Results with this ratio of errors, power of n and rank correlation."""
    rng = np.random.default_rng(0)
    results = []
    for repetition in range(6):
        for model in ("1a", "2a"):
            where = {"model": model, "repetition": repetition}
            row = {"normalised": 1.0, "rank_correlation": correlation + 0.05 * rng.normal()}
            row |= {name: ratio * np.exp(0.02 * rng.normal()) for name in VARIANTS}
            results.append(Result(Cell("errors", where), (row,), 0.0, "x"))
            for n in (50, 100, 200):
                sums = [(s, 0.1 * (n / 50) ** power * np.exp(0.1 * rng.normal())) for s in ("held", "shrinking")]
                rows = tuple({"schedule": schedule, "typically_away": away} for schedule, away in sums)
                results.append(Result(Cell("sums", {**where, "n": n}), rows, 0.0, "x"))
    return results


@pytest.mark.parametrize(
    ("ratio", "power", "correlation", "verdict"), [(1.2, -0.5, 0.3, "holds"), (0.8, 0.5, -0.3, "does not hold")]
)
def test_verdicts_follow_the_numbers(ratio, power, correlation, verdict):
    assert [one.verdict.value for one in statements(made(ratio, power, correlation))] == [verdict] * 5


def test_the_smallest_visible_effect_is_seen_in_four_of_five_experiments():
    rng = np.random.default_rng(0)
    noise = 0.1 * rng.normal(size=(4000, 12))
    effect = np.log1p(np.mean([detectable(one) for one in noise]))
    seen = np.mean([confidence(one + effect).low > 0.0 for one in noise[:1000]])
    assert 0.7 < seen < 0.9
