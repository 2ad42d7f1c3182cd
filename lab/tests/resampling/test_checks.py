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
    judged = statements(results)
    assert len(judged) == 17
    assert sum(one.verdict.value == "holds" for one in judged) >= 14
    # A mean of six errors with a heavy tail may miss what a mean of twenty shows.
    failing = {one.claim for one in judged if one.verdict.value == "does not hold"}
    assert failing <= {"With A = 5 the error of m̂_P stays almost the same while λ changes Σw²."}


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
                row |= {"Res-KH_q": 9 * ridge**2, "inside": 0.5, "truncated_inside": 0.5, "negative": 0}
                row |= {"small_weights": 0.5, "small_picks": 0.5, "largest_at": 1.0}
                row |= {"outside_net": 0.5, "outside_gross": 1.0}
                made.append(Result(Cell(study, {"ridge": ridge, "repetition": r}), (row,), 0.0, "x"))
    verdicts = {one.claim: one.verdict.value for one in statements(made)}
    assert len(verdicts) == 17
    for claim in (
        "The error after herding is not affected by Σw².",
        "After herding the error on m_Q is much smaller than without resampling.",
        "Almost all herded samples lie within two standard deviations of P.",
        "Some of the samples after truncation lie where the density of P is very small.",
        "Herding discarded samples with very small weights.",
        "Samples with large weights are located around the mean of P.",
        "Some of the weights are negative.",
        "Outside two standard deviations positive and negative weights balance, up to P's own mass there.",
        "Truncation is worse than herding …",
        "With A = 5 the error of m̂_P stays almost the same while λ changes Σw².",
        "After herding the error on m_Q can be less than that of m̂_P on m_P.",
    ):
        assert verdicts[claim] == "does not hold"


def test_a_slight_effect_is_no_effect(results):
    """Claims of "much", "parallel" and "worse" need effects of the size they state, not merely the right sign."""
    made = []
    for result in results:
        row = dict(result.rows[0])
        row["Res-KH_q"] = row["error_of_estimate"] ** 0.2
        row["Res-Trunc_q"] = 1.03 * row["Res-KH_q"]
        row["woRes_q"] = 1.5 * row["Res-KH_q"]
        made.append(Result(result.cell, (row,), 0.0, "x"))
    verdicts = {one.claim: one.verdict.value for one in statements(made)}
    assert verdicts["It changes in parallel with the error of m̂_P."] == "does not hold"
    assert verdicts["Truncation is worse than herding …"] == "does not hold"
    assert verdicts["After herding the error on m_Q is much smaller than without resampling."] == "does not hold"


def test_the_shape_of_the_weights_is_counted_literally():
    draw = resampling.draw(1e-6, 1.0, np.random.default_rng(3))
    row = draw.errors()
    outside = [(x, w) for x, w in zip(draw.points, draw.weights, strict=True) if abs(x) > 0.2]
    assert row["outside_net"] == pytest.approx(sum(w for _, w in outside))
    assert row["outside_gross"] == pytest.approx(sum(abs(w) for _, w in outside))
    largest = max(abs(w) for w in draw.weights)
    small = {x for x, w in zip(draw.points, draw.weights, strict=True) if abs(w) < 0.01 * largest}
    assert row["small_weights"] == pytest.approx(len(small) / 100)
    assert row["small_picks"] == pytest.approx(sum(x in small for x in draw.samples["Res-KH"]) / 100)
    assert row["truncated_inside"] == pytest.approx(sum(abs(x) <= 0.2 for x in draw.samples["Res-Trunc"]) / 100)
