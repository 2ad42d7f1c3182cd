"""The sentences of Section 6.3 about errors, times and the number of examples, checked.

Draws of the examples are the independent units: all folds of a draw share its lap of the test, so their ratios are
averaged (in logarithms) before draws are compared. Bounds are those of Section 6.2, and every check says from which
ratio on it could have seen an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Statement
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.scores import Score, methods_of
from kmcf_lab.ratios import COMPETITIVE, MARGIN, SIMILAR, as_ratio, visible, written
from kmcf_lab.verdicts import above, below

SHORT = 3.0
"""Seconds: up to here (2.27 s) the paper calls kNN-PF competitive with KMCF, beyond (4.54 and 6.81 s) not."""
_SOURCE = "Section 6.3"
_LOW, _SUB = ("kmcf-low50", "kmcf-low100"), ("kmcf-sub150", "kmcf-sub300")


def statements(scores: Sequence[Score], measure: Measure) -> list[Statement]:
    """Check the paper's sentences, leaving out those about methods or intervals that were not run."""
    groups = [group for group in dict.fromkeys(one.group for one in scores) if group]
    if not groups:
        return []
    error = measure.primary
    checked = [
        _below(f"{_label(name)} performs better than the KBR filter.", name, "kbr", scores, error, 1 / MARGIN)
        for name in methods_of(scores)
        if name.startswith("kmcf")
    ]
    for group in groups:
        own = [one for one in scores if one.group == group]
        short = float(group.removesuffix(" s")) <= SHORT
        words = f"At {group} KMCF {'is competitive with' if short else 'outperforms'} kNN-PF."
        checked.append(_below(words, "kmcf", "knn-pf", own, error, COMPETITIVE if short else 1 / MARGIN))
    for name in (_LOW[1], _SUB[1]):
        checked.append(_below(f"{_label(name)} is competitive with KMCF.", name, "kmcf", scores, error, COMPETITIVE))
    for name in (_LOW[0], _SUB[0]):
        checked.append(_degrades(name, scores, error))
    large = [one for one in scores if one.examples == max(two.examples for two in scores)]
    for name in (*_LOW, *_SUB):
        checked.append(_below(f"{_label(name)} is faster than KMCF.", name, "kmcf", large, "milliseconds", 1 / SIMILAR))
    return [one for one in checked if one is not None]


def _label(name: str) -> str:
    return METHODS[name].label


def _below(claim: str, one: str, other: str, scores: Sequence[Score], quantity: str, bound: float) -> Statement | None:
    """Judge the claim that a number of one method, divided by another's, is below a bound."""
    logs = ratios_of_draws(one, other, scores, quantity)
    if not len(logs):
        return None
    ratio, mine, theirs = as_ratio(logs), _mean(one, other, scores, quantity), _mean(other, one, scores, quantity)
    unit = "ms" if quantity == "milliseconds" else "m"
    numbers = f"{mine:.3g} against {theirs:.3g} {unit}; {_label(one)} ÷ {_label(other)} {written(ratio)}"
    return Statement(claim, below(ratio, bound), f"{numbers}{_of(logs)}; {visible(ratio, 'below', bound)}", _SOURCE)


def _degrades(name: str, scores: Sequence[Score], quantity: str) -> Statement | None:
    """Judge whether a method's own error grows from the fewest examples it was run with to the most."""
    sizes = sorted({one.examples for one in scores if one.method == name})
    if len(sizes) < 2:
        return None
    ends = [_by_draw(name, [one for one in scores if one.examples == n], quantity) for n in (sizes[0], sizes[-1])]
    draws = [draw for draw in ends[1] if draw in ends[0]]
    logs = np.array([ends[1][draw] - ends[0][draw] for draw in draws])
    against = ratios_of_draws(name, "kmcf", [one for one in scores if one.examples == sizes[-1]], quantity)
    ratio = as_ratio(logs)
    numbers = f"its error with {sizes[-1]} ÷ with {sizes[0]} examples {written(ratio)}{_of(logs)}"
    numbers += f"; {visible(ratio, 'above', MARGIN)}"
    if len(against):
        numbers += f"; ÷ KMCF's with {sizes[-1]}: {written(as_ratio(against))}"
    claim = f"{_label(name)} degrades as the sample size increases."
    return Statement(claim, above(ratio, MARGIN), numbers, _SOURCE)


def _of(logs: FloatArray) -> str:
    return f" over {len(logs)} draw{'s' * (len(logs) != 1)}"


def ratios_of_draws(one: str, other: str, scores: Sequence[Score], quantity: str) -> FloatArray:
    """Return the logarithm of the ratio of two methods' numbers, averaged over the folds of a draw that have both."""
    values = {(s.method, s.fold, s.repetition): s.value(quantity) for s in scores}
    draws: dict[int, list[float]] = {}
    for method, fold, draw in values:
        if method == one and (other, fold, draw) in values:
            ratio = values[(one, fold, draw)] / values[(other, fold, draw)]
            draws.setdefault(draw, []).append(float(np.log(ratio)))
    return np.array([np.mean(draws[draw]) for draw in sorted(draws)])


def _by_draw(name: str, scores: Sequence[Score], quantity: str) -> dict[int, float]:
    """Return the logarithm of a method's number, averaged over the folds of each draw."""
    draws: dict[int, list[float]] = {}
    for one in scores:
        if one.method == name:
            draws.setdefault(one.repetition, []).append(float(np.log(one.value(quantity))))
    return {draw: float(np.mean(values)) for draw, values in sorted(draws.items())}


def _mean(one: str, other: str, scores: Sequence[Score], quantity: str) -> float:
    """Average one method's number over the folds that another has, too."""
    known = {(s.fold, s.repetition) for s in scores if s.method == other}
    values = [s.value(quantity) for s in scores if s.method == one and (s.fold, s.repetition) in known]
    return float(np.mean(values))
