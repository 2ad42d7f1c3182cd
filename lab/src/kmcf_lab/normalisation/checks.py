"""What Section 4.3 says about the sum of the weights, checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Statement, Verdict
from kmcf_lab.cells import Result, Row
from kmcf_lab.normalisation.study import SCHEDULES
from kmcf_lab.statistics import Interval, confidence, detectable, factor, slope
from kmcf_lab.tables import chosen, column, grid, rows_of
from kmcf_lab.verdicts import above

SOURCE = "Section 4.3, normalization of weights"
FLAT, SMALL = -0.1, 0.1
"""A power of n that counts as no decrease (a factor of 1.2 over 8 n), and the least correlation worth the name."""
VARIANTS = {
    "unnormalised, same settings": "with the settings tuned for the normalised filter",
    "unnormalised, own settings": "tuned for itself",
    "unnormalised, divided when read": "estimates divided by the sum, everything else without",
}
"""What is compared with the normalised filter."""


def models_of(rows: Sequence[Row]) -> list[str]:
    """Return the models that were computed."""
    return sorted({str(row["model"]) for row in rows})


def log_ratios(rows: Sequence[Row], model: str, variant: str) -> FloatArray:
    """Return log(error of a variant ÷ error of the normalised filter), one for each data set of a model."""
    here = sorted(chosen(rows, model=model), key=lambda row: int(row["repetition"]))
    return np.log(column(here, variant) / column(here, "normalised"))


def overall(rows: Sequence[Row], variant: str) -> FloatArray:
    """Average the logarithms of the ratios over the models, one number per repetition."""
    return np.mean([log_ratios(rows, model, variant) for model in models_of(rows)], axis=0)


def statements(results: Sequence[Result]) -> list[Statement]:
    """Check the sentences on normalisation."""
    return [*_benefit(rows_of(results, "errors")), *_sums(rows_of(results, "sums")), _warning(results)]


def _benefit(rows: Sequence[Row]) -> list[Statement]:
    judged = []
    for variant, about in list(VARIANTS.items())[:2]:
        ratios = overall(rows, variant)
        per_model = "; ".join(f"{m} {factor(confidence(log_ratios(rows, m, variant)))}" for m in models_of(rows))
        numbers = (
            f"without ÷ with: {per_model}; geometric mean {factor(confidence(ratios))}; above 1 holds, "
            f"an effect of {detectable(ratios):.1%} would be seen in four of five such experiments"
        )
        claim = f"Normalisation of the weights is beneficial to the filtering performance (without it, {about})."
        judged.append(Statement(claim, above(confidence(ratios), 0.0), numbers, SOURCE))
    return judged


def _sums(rows: Sequence[Row]) -> list[Statement]:
    """Judge the convergence to 1 by the power of n with which |Σw − 1| falls, on every model."""
    judged = []
    for schedule in SCHEDULES:
        powers, away = {}, []
        for model in models_of(rows):
            sizes, values = grid(chosen(rows, model=model, schedule=schedule), "n", "typically_away")
            powers[model] = slope(sizes, values)
            away.append(np.exp(np.mean(np.log(values), axis=0)))
        first, *_, last = np.exp(np.mean(np.log(away), axis=0))
        numbers = (
            f"median |Σw − 1| over the steps, geometric mean over models: {first:.2g} at n = {sizes[0]:.0f}, "
            f"{last:.2g} at n = {sizes[-1]:.0f}; powers of n: {'; '.join(f'{m} {one}' for m, one in powers.items())}; "
            f"below 0 on every model holds, above {FLAT:g} on one does not".replace("-", "−")
        )
        claim = f"The sum of the weights converges to 1 (regularisers {_WORDS[schedule]})."
        judged.append(Statement(claim, _all_fall(list(powers.values())), numbers, SOURCE))
    return judged


def _all_fall(powers: Sequence[Interval]) -> Verdict:
    if any(one.low > FLAT for one in powers):
        return Verdict.FAILS
    return Verdict.HOLDS if all(one.high < 0.0 for one in powers) else Verdict.UNCLEAR


_WORDS = {"held": "held fixed", "shrinking": "that shrink with n"}


def _warning(results: Sequence[Result]) -> Statement:
    """Judge that estimates are worse where the sum is far from 1, by rank correlations within runs."""
    rows = rows_of(results, "errors")
    per_model = {model: column(chosen(rows, model=model), "rank_correlation") for model in models_of(rows)}
    interval = confidence(np.mean(list(per_model.values()), axis=0))
    shown = "; ".join(f"{model} {np.mean(values):.2f}".replace("-", "−") for model, values in per_model.items())
    numbers = (
        f"rank correlation of |Σw − 1| and absolute error within a run: {shown}; mean {interval}; above {SMALL:g}, "
        "which is called a small effect, holds"
    )
    claim = "If the sum of the weights is far from 1, the estimate is not accurate."
    return Statement(claim, above(interval, SMALL), numbers, SOURCE)
