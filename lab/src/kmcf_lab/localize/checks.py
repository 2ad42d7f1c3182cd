"""The sentences of Section 6.3 about errors, times and the number of examples, checked.

Draws of the examples are the independent units: all folds of a draw share its lap of the test, so their ratios are
averaged (in logarithms) before draws are compared. Bounds are those of Section 6.2, and every check says from which
ratio on it could have seen an effect. What the paper says of all results is refuted by a single interval and number of
examples that clearly contradicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Statement, Verdict
from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.problem import Measure
from kmcf_lab.localize.scores import Score
from kmcf_lab.ratios import COMPETITIVE, MARGIN, SIMILAR, as_ratio, visible, written
from kmcf_lab.verdicts import above, below

SHORT = 3.0
"""Seconds: up to here (2.27 s) the paper calls kNN-PF competitive with KMCF, beyond (4.54 and 6.81 s) not."""
MUCH = 1.5
"""We call an error much larger if it is larger by more than a half."""
_SOURCE, _OURS = "Section 6.3", "not in the paper"
_LOW, _SUB = ("kmcf-low50", "kmcf-low100"), ("kmcf-sub150", "kmcf-sub300")


def statements(scores: Sequence[Score], measure: Measure) -> list[Statement]:
    """Check the paper's sentences, leaving out those about methods or intervals that were not run."""
    groups = [group for group in dict.fromkeys(one.group for one in scores) if group]
    if not groups:
        return []
    error = measure.primary
    checked = [
        _everywhere(f"{_label(name)} performs better than the KBR filter.", name, "kbr", scores, error)
        for name in ("kmcf", *_LOW, *_SUB)
    ]
    for group in groups:
        own = [one for one in scores if one.group == group]
        short = float(group.removesuffix(" s")) <= SHORT
        words = f"At {group} KMCF {'is competitive with' if short else 'outperforms'} kNN-PF."
        checked.append(_below(words, "kmcf", "knn-pf", own, error, COMPETITIVE if short else 1 / MARGIN))
    checked += [_multimodal(name, scores) for name in ("kmcf", "kbr")]
    for name in (_LOW[1], _SUB[1]):
        checked.append(_below(f"{_label(name)} is competitive with KMCF.", name, "kmcf", scores, error, COMPETITIVE))
    for name in (_LOW[0], _SUB[0]):
        checked.append(_degrades(name, scores, error))
    most = max(one.examples for one in scores)
    large = [one for one in scores if one.examples == most]
    checked.append(_much_worse(*_SUB, large, error))
    for name in (*_LOW, *_SUB):
        checked.append(_below(f"{_label(name)} is faster than KMCF.", name, "kmcf", large, "milliseconds", 1 / SIMILAR))
    return [one for one in checked if one is not None]


def own_statements(scores: Sequence[Score], measure: Measure) -> list[Statement]:
    """Check what one would hope of ours beside the paper's methods, where intervals were run."""
    if not any(one.group for one in scores):
        return []
    claims = (
        ("Our filter is competitive with the paper's.", "ours", "kmcf", COMPETITIVE),
        *(
            (
                f"Our low-rank engine of rank {r} is better than Algorithm 5 as printed.",
                *(f"ours-low{r}", f"kmcf-low{r}", 1 / MARGIN),
            )
            for r in (50, 100)
        ),
    )
    checked = (_below(claim, one, other, scores, measure.primary, bound) for claim, one, other, bound in claims)
    return [replace(one, source=_OURS) for one in checked if one is not None]


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


def _everywhere(claim: str, one: str, other: str, scores: Sequence[Score], quantity: str) -> Statement | None:
    """Judge the claim that one method is better, on average; a setting where it clearly is not refutes it."""
    pooled = _below(claim, one, other, scores, quantity, 1 / MARGIN)
    if pooled is None:
        return None
    of_setting: dict[tuple[str, int], list[Score]] = {}
    for score in scores:
        of_setting.setdefault((score.group, score.examples), []).append(score)
    logs = {where: ratios_of_draws(one, other, some, quantity) for where, some in of_setting.items()}
    logs = {where: values for where, values in logs.items() if len(values)}
    strict = {where: as_ratio(values, 1.0 - 0.05 / len(logs)) for where, values in logs.items()}
    clearly_not = {where: ratio for where, ratio in strict.items() if ratio.low > 1 / MARGIN}
    against = [f"{group}, n = {n}: {written(ratio)}" for (group, n), ratio in clearly_not.items()]
    if not against:
        return pooled
    return replace(pooled, verdict=Verdict.FAILS, numbers=f"{pooled.numbers}; but not at {'; '.join(against)}")


def _much_worse(one: str, other: str, scores: Sequence[Score], quantity: str) -> Statement | None:
    """Judge the claim that a method's error is much larger than another's."""
    logs = ratios_of_draws(one, other, scores, quantity)
    if not len(logs):
        return None
    ratio = as_ratio(logs)
    numbers = f"{_label(one)} ÷ {_label(other)} {written(ratio)}{_of(logs)}; {visible(ratio, 'above', MUCH)}"
    return Statement(f"{_label(one)} is much worse than {_label(other)}.", above(ratio, MUCH), numbers, _SOURCE)


def _degrades(name: str, scores: Sequence[Score], quantity: str) -> Statement | None:
    """Judge whether a method's own error grows from the fewest examples it was run with to the most."""
    sizes = sorted({one.examples for one in scores if one.method == name})
    if len(sizes) < 2:
        return None
    logs = _growth(name, scores, quantity, sizes[0], sizes[-1])
    if not len(logs):
        return None
    against = ratios_of_draws(name, "kmcf", [one for one in scores if one.examples == sizes[-1]], quantity)
    ratio = as_ratio(logs)
    numbers = f"its error with {sizes[-1]} ÷ with {sizes[0]} examples {written(ratio)}{_of(logs)}"
    numbers += f"; {visible(ratio, 'above', MARGIN)}"
    if len(against):
        numbers += f"; ÷ KMCF's with {sizes[-1]}: {written(as_ratio(against))}"
    claim = f"{_label(name)} degrades as the sample size increases."
    return Statement(claim, above(ratio, MARGIN), numbers, _SOURCE)


def _multimodal(name: str, scores: Sequence[Score]) -> Statement | None:
    """Judge the claim that a method's mode is a better estimate than its mean, where both were recorded."""
    own = [one for one in scores if one.method == name and np.isfinite(one.rmse_of_mean)]
    mode, mean = ({(one.repetition, one.fold): one.value(what) for one in own} for what in ("rmse", "rmse_of_mean"))
    logs = _averaged(mode, mean)
    if not len(logs):
        return None
    ratio, averages = as_ratio(logs), [float(np.mean(list(values.values()))) for values in (mode, mean)]
    claim = f"{_label(name)}: posteriors are so multimodal that the mode is a better estimate than the mean."
    numbers = f"{averages[0]:.3g} against {averages[1]:.3g} m; mode ÷ mean {written(ratio)}{_of(logs)}"
    bound = 1 / MARGIN
    return Statement(claim, below(ratio, bound), f"{numbers}; {visible(ratio, 'below', bound)}", _SOURCE)


def _of(logs: FloatArray) -> str:
    return f" over {len(logs)} draw{'s' * (len(logs) != 1)}"


def ratios_of_draws(one: str, other: str, scores: Sequence[Score], quantity: str) -> FloatArray:
    """Return the logarithm of the ratio of two methods' numbers, averaged over the folds of a draw that have both."""
    own, theirs = (
        {(s.repetition, s.fold): s.value(quantity) for s in scores if s.method == method} for method in (one, other)
    )
    return _averaged(own, theirs)


def _growth(name: str, scores: Sequence[Score], quantity: str, few: int, many: int) -> FloatArray:
    """Return the logarithm of the ratio of a method's numbers with many and with few examples, at equal intervals."""
    more, fewer = (
        {(s.repetition, s.group): s.value(quantity) for s in scores if (s.method, s.examples) == (name, n)}
        for n in (many, few)
    )
    return _averaged(more, fewer)


def _averaged(upper: Mapping[tuple[int, str], float], lower: Mapping[tuple[int, str], float]) -> FloatArray:
    """Return the logarithms of ratios, averaged over what a draw has in both."""
    draws: dict[int, list[float]] = {}
    for (draw, where), value in upper.items():
        if (draw, where) in lower:
            draws.setdefault(draw, []).append(float(np.log(value / lower[draw, where])))
    return np.array([np.mean(draws[draw]) for draw in sorted(draws)])


def _mean(one: str, other: str, scores: Sequence[Score], quantity: str) -> float:
    """Average one method's number over the folds that another has, too."""
    known = {(s.fold, s.repetition) for s in scores if s.method == other}
    values = [s.value(quantity) for s in scores if s.method == one and (s.fold, s.repetition) in known]
    return float(np.mean(values))
