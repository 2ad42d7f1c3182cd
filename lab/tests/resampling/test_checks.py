"""Section 6.1 against the paper's numbers; the judge against made-up results."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell, Result
from kmcf_lab.resampling import study as resampling
from kmcf_lab.resampling.checks import quoted, statements, sweep, typical_result


@pytest.mark.parametrize("place", range(5))
def test_the_papers_numbers_lie_within_our_draws(results, place):
    one = quoted(results)[place]
    assert one.paper == (8.49e-10, 0.125, 4.74e-5, 0.00827, 0.0538)[place]
    assert 0.02 <= one.rank <= 0.98
    assert one.low <= one.median <= one.high


def test_every_sentence_is_judged_and_most_hold(results):
    verdicts = [one.verdict.value for one in statements(results)]
    assert len(verdicts) == 11
    assert verdicts.count("holds") >= 9
    assert "does not hold" not in verdicts


def test_the_sweep_covers_decades_of_squared_weights(results):
    averages = sweep(results)
    assert averages.sum_of_squares.max() / averages.sum_of_squares.min() > 1e2
    assert averages.means["woRes"][0] > 100 * averages.means["Res-KH"][0]


def test_the_pictured_draw_is_typical_and_can_be_drawn_again(results):
    result = typical_result(results)
    again = resampling.draw_of(result.cell).errors()
    assert again == pytest.approx(result.rows[0])
    for one, row in zip(quoted(results), [again[key] for key, _, _ in resampling.QUOTED], strict=True):
        assert one.pictured == pytest.approx(row)
        assert one.low <= one.pictured <= one.high


def test_wrong_claims_are_not_confirmed():
    """The judge itself: made-up results in which herding is the worst must not let the paper's sentences hold."""
    rng = np.random.default_rng(0)
    made = []
    for study, ridges in (("demonstration", [1.0]), ("sweep", [1.0, 2.0, 3.0])):
        for ridge in ridges:
            for r in range(12):
                noise = np.exp(0.05 * rng.normal(size=8))
                row = dict(zip(("sum_of_squares", "error_of_estimate"), (ridge, 1.0) * noise[:2], strict=True))
                row |= {
                    f"{m}_{x}": v
                    for (m, x), v in zip(
                        [(m, x) for m in resampling.METHODS for x in "pq"],
                        (1, 0.1, 9, 9, 1, 0.1) * noise[2:],
                        strict=True,
                    )
                }
                row |= {"Res-KH_q": 9 * ridge**2, "inside": 0.5, "negative": 0}
                made.append(Result(Cell(study, {"ridge": ridge, "repetition": r}), (row,), 0.0, "x"))
    verdicts = {one.claim: one.verdict.value for one in statements(made)}
    assert verdicts["The error after herding is not affected by Σw²."] == "does not hold"
    assert verdicts["After herding the error on m_Q is much smaller than without resampling."] == "does not hold"
    assert verdicts["Some of the weights are negative."] == "does not hold"
    assert verdicts["Truncation is worse than herding …"] == "does not hold"
