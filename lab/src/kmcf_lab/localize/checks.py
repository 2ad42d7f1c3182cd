"""The sentences of Section 6.3 about errors, times and the number of examples, checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Statement, Verdict
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.scores import Score, methods_of
from kmcf_lab.statistics import estimate

COMPETITIVE = 1.15
"""We call an error competitive if it is at most this many times the other."""
SHORT = 3.0
"""Seconds: up to here (2.27 s) the paper calls kNN-PF competitive with KMCF, beyond (4.54 and 6.81 s) not."""
_SOURCE = "Section 6.3"


def statements(scores: Sequence[Score], measure: Measure) -> list[Statement]:
    """Check the paper's sentences, leaving out those about methods or intervals that were not run.

    Folds of the same interval, number of examples and repetition are compared one by one.
    """
    groups = [group for group in dict.fromkeys(one.group for one in scores) if group]
    kinds = [name for name in methods_of(scores) if name.startswith("kmcf")]
    checked = [
        _better(name, "kbr", scores, measure, f"{METHODS[name].label} performs better than the KBR filter.")
        for name in kinds
    ]
    for group in groups:
        own = [one for one in scores if one.group == group]
        if float(group.removesuffix(" s")) <= SHORT:
            checked.append(_competitive("kmcf", "knn-pf", own, measure, f"At {group} KMCF is competitive with kNN-PF."))
        else:
            checked.append(_better("kmcf", "knn-pf", own, measure, f"At {group} KMCF outperforms kNN-PF."))
    if groups:
        for name in ("kmcf-low100", "kmcf-sub300"):
            words = f"{METHODS[name].label} is competitive with KMCF."
            checked.append(_competitive(name, "kmcf", scores, measure, words))
        large = [one for one in scores if one.examples == max(two.examples for two in scores)]
        for name in ("kmcf-low50", "kmcf-sub150"):
            words = f"{METHODS[name].label} degrades as the sample size increases: worse than KMCF at the largest n."
            checked.append(_better("kmcf", name, large, measure, words))
        for name in ("kmcf-low50", "kmcf-low100", "kmcf-sub150", "kmcf-sub300"):
            checked.append(
                _better(name, "kmcf", large, measure, f"{METHODS[name].label} is faster than KMCF.", "milliseconds")
            )
    return [one for one in checked if one is not None] if groups else []


def _pairs(one: str, other: str, scores: Sequence[Score], name: str) -> tuple[np.ndarray, np.ndarray]:
    values = {(s.method, s.fold, s.repetition): s.value(name) for s in scores}
    both = [key[1:] for key in values if key[0] == one and (other, *key[1:]) in values]
    return np.array([values[(one, *key)] for key in both]), np.array([values[(other, *key)] for key in both])


def _better(
    one: str, other: str, scores: Sequence[Score], measure: Measure, claim: str, name: str = ""
) -> Statement | None:
    """Compare in pairs: a mean difference beyond two standard errors decides; a single pair decides nothing."""
    mine, theirs = _pairs(one, other, scores, name or measure.primary)
    if not len(mine):
        return None
    difference = estimate(mine - theirs)
    clear = abs(difference.value) > 2.0 * difference.error if np.isfinite(difference.error) else False
    verdict = (Verdict.HOLDS if difference.value < 0 else Verdict.FAILS) if clear else Verdict.UNCLEAR
    unit = "ms" if name == "milliseconds" else "m"
    pairs = f"{len(mine)} pair{'s' * (len(mine) != 1)}"
    numbers = f"{mine.mean():.3g} against {theirs.mean():.3g} {unit}, difference {difference} ({pairs})"
    return Statement(claim, verdict, numbers, _SOURCE)


def _competitive(one: str, other: str, scores: Sequence[Score], measure: Measure, claim: str) -> Statement | None:
    mine, theirs = _pairs(one, other, scores, measure.primary)
    if not len(mine):
        return None
    ratio = float(mine.mean() / theirs.mean())
    verdict = Verdict.HOLDS if ratio <= COMPETITIVE else Verdict.FAILS
    means = f"{mine.mean():.3g} against {theirs.mean():.3g} m"
    numbers = f"{means}: {ratio:.2f} times, at most {COMPETITIVE} counts as competitive"
    return Statement(claim, verdict, numbers, _SOURCE)
