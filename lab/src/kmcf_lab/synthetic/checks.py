"""What Section 6.2 says about accuracy, sentence by sentence, checked by paired tests.

Ratios of errors are compared on the same data sets. A statement about several models holds if it holds for their
geometric mean (95 % interval over repetitions) and its opposite is significant on none of them (5 % for all together).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.report import Statement, Verdict
from kmcf.report.numbers import shown
from kmcf_lab.cells import Result
from kmcf_lab.statistics import Interval, confidence
from kmcf_lab.synthetic.measured import ORACLE, Measured, as_ratio, errors_of, pool, values_of, written
from kmcf_lab.synthetic.study import REFERENCE
from kmcf_lab.synthetic.time_checks import time_statements
from kmcf_lab.verdicts import above

COMPETITIVE = 1.1
"""We call an error competitive if it is at most 10 % larger."""
UNSTABLE = 2.0
"""We call a method unstable where its error is more than twice that of the same method at full rank."""
LINEAR, VECTOR = ("1a", "1b"), ("3a", "3b")
PAIRS = (("1a", "1b"), ("2a", "2b"), ("3a", "3b"), ("4a", "4b"))
RIVALS = ("kNN-PF", "GP-PF", "KBR")
_SOURCE = "Section 6.2, results in RMSE"
_OURS = "not in the paper"


@dataclass(frozen=True)
class Comparison:
    """Ratios of errors on some models: for each model, and their geometric mean."""

    each: Mapping[str, Interval]
    pooled: Interval
    strict: Mapping[str, Interval]
    """The intervals whose error probability is 5 % for all models together."""

    def verdict_below(self, bound: float) -> Verdict:
        """Judge the claim that all ratios are below a bound."""
        if self.pooled.low > bound or any(one.low > bound for one in self.strict.values()):
            return Verdict.FAILS
        return Verdict.HOLDS if self.pooled.high < bound else Verdict.UNCLEAR

    def verdict_above(self, bound: float) -> Verdict:
        """Judge the claim that all ratios are above a bound."""
        if self.pooled.high < bound or any(one.high < bound for one in self.strict.values()):
            return Verdict.FAILS
        return Verdict.HOLDS if self.pooled.low > bound else Verdict.UNCLEAR

    def __str__(self) -> str:
        parts = [f"{model} {written(one)}" for model, one in self.each.items()]
        return "; ".join(parts if len(parts) == 1 else [*parts, f"geometric mean {written(self.pooled)}"])


def compare(
    errors: Measured, first: str, second: str, models: Sequence[str], sizes: Sequence[int] | None = None
) -> Comparison | None:
    """Compare two methods on the same data sets; None if nothing was computed."""
    logs = {
        model: ratios
        for model in models
        if (ratios := errors.log_ratios(model, first, second, errors.sizes if sizes is None else sizes))
    }
    return _comparison(logs)


def compare_models(errors: Measured, method: str, pairs: Sequence[tuple[str, str]]) -> Comparison | None:
    """Compare a method's errors on models with controls and without, at equal numbers of examples."""
    logs = {f"{after} ÷ {before}": _across(errors, method, before, after) for before, after in pairs}
    return _comparison({name: ratios for name, ratios in logs.items() if ratios})


def _across(errors: Measured, method: str, before: str, after: str) -> dict[int, float]:
    collected: dict[int, list[float]] = {}
    for n in errors.sizes:
        one, other = errors.values.get((after, n, method), {}), errors.values.get((before, n, method), {})
        for repetition in one.keys() & other.keys():  # the data are independent: any pairing will do
            collected.setdefault(repetition, []).append(float(np.log(one[repetition] / other[repetition])))
    return {repetition: float(np.mean(values)) for repetition, values in sorted(collected.items())}


def _comparison(logs: Mapping[str, Mapping[int, float]]) -> Comparison | None:
    pooled = values_of(pool(list(logs.values())))
    if not len(pooled):
        return None
    values = {name: values_of(ratios) for name, ratios in logs.items()}
    level = 1.0 - 0.05 / len(values)
    return Comparison(
        {name: as_ratio(ratios) for name, ratios in values.items()},
        as_ratio(pooled),
        {name: as_ratio(ratios, level) for name, ratios in values.items()},
    )


def statements(results: Sequence[Result]) -> list[Statement]:
    """Check every sentence of the paper's discussion for which there are numbers."""
    errors = errors_of(results)
    return [*_methods(errors), *_controls(errors), *_reductions(errors), *time_statements(results)]


def own_statements(results: Sequence[Result]) -> list[Statement]:
    """Check what we say about the methods that are not in the paper."""
    errors, judged = errors_of(results), []
    claims = (
        ("The untuned defaults are no worse than the tuned filter.", "defaults", "KMCF", errors.models),
        ("The importance-weighted rule is no worse than Kernel Bayes' Rule.", "importance", "defaults", errors.models),
        ("For ten-dimensional observations a learnt kernel is better.", "learnt", "KMCF", VECTOR),
        ("For a single number a learnt kernel is no worse.", "learnt", "KMCF", _without(errors, VECTOR)),
        ("Untuned defaults come close to a filter that knows the likelihood.", "defaults", ORACLE, errors.models),
    )
    for claim, first, second, models in claims:
        compared = compare(errors, first, second, models)
        if compared is not None:
            bound = 1.0 if "better" in claim else COMPETITIVE if second == ORACLE else 1.02
            numbers = f"{first} ÷ {second}: {compared}; below {bound:g} holds"
            judged.append(Statement(claim, compared.verdict_below(bound), numbers, _OURS))
    return judged


def _without(errors: Measured, models: Sequence[str]) -> list[str]:
    return [model for model in errors.models if model not in models]


def _methods(errors: Measured) -> list[Statement]:
    judged = []
    others, rest = ("KMCF", "kNN-PF", "KBR"), _without(errors, LINEAR)
    for rival in others:
        compared = compare(errors, "GP-PF", rival, LINEAR)
        if compared is not None:
            claim = f"GP-PF performed the best for 1a and 1b: better than {rival}."
            judged.append(Statement(claim, compared.verdict_below(1.0), f"GP-PF ÷ {rival}: {compared}", _SOURCE))
    compared = compare(errors, "GP-PF", "KMCF", rest)
    if compared is not None:
        claim = "For the other models GP-PF performed poorly."
        judged.append(Statement(claim, compared.verdict_above(1.0), f"GP-PF ÷ KMCF: {compared}", _SOURCE))
    for rival in RIVALS:
        compared = compare(errors, "KMCF", rival, rest)
        if compared is not None:
            claim = f"For these models KMCF performed the best or competitively: compared with {rival}."
            numbers = f"KMCF ÷ {rival}: {compared}; below {COMPETITIVE:g} is competitive"
            judged.append(Statement(claim, compared.verdict_below(COMPETITIVE), numbers, _SOURCE))
    return judged + _kernel_bayes(errors) + _low10(errors)


def _kernel_bayes(errors: Measured) -> list[Statement]:
    compared = compare(errors, "KBR", "KMCF", errors.models)
    if compared is None:
        return []
    intervals = compared.each.values()
    worse, surely = sum(one.value > 1.0 for one in intervals), sum(one.low > 1.0 for one in intervals)
    better = sum(one.high < 1.0 for one in intervals)
    verdict = above(compared.pooled, 1.0)
    if verdict is Verdict.HOLDS and worse <= len(compared.each) / 2:
        verdict = Verdict.UNCLEAR
    numbers = (
        f"KBR ÷ KMCF: {compared}; worse on {worse} of {len(compared.each)} models, significantly on {surely}, "
        f"significantly better on {better}"
    )
    return [Statement("The KBR filter performed worse than KMCF for most of the models.", verdict, numbers, _SOURCE)]


def _low10(errors: Measured) -> list[Statement]:
    compared = compare(errors, "KMCF-low10", "KMCF", errors.models)
    if compared is None:
        return []
    ratios = [
        (np.exp(log), f"{model}, n = {n}")
        for model in errors.models
        for n in errors.sizes
        for log in errors.log_ratios(model, "KMCF-low10", "KMCF", [n]).values()
    ]
    many, (largest, where) = sum(ratio > UNSTABLE for ratio, _ in ratios), max(ratios)
    numbers = (
        f"KMCF-low10 ÷ KMCF: {compared}; more than {UNSTABLE:g} in {many} of {len(ratios)} data sets, at most "
        f"{shown(float(largest))} ({where}); a geometric mean above {UNSTABLE:g} holds"
    )
    claim = "KMCF-low10 was numerically unstable and gave very large errors."
    return [Statement(claim, above(compared.pooled, UNSTABLE), numbers, _SOURCE)]


def _controls(errors: Measured) -> list[Statement]:
    judged = []
    for method in ("KMCF", "kNN-PF", "GP-PF", ORACLE):
        compared = compare_models(errors, method, PAIRS)
        if compared is not None:
            claim = f"The performance of {method} improved for the models with controls."
            if method == ORACLE:
                claim = "The information of the control input is helpful in general: the oracle improved."
            judged.append(Statement(claim, compared.verdict_below(1.0), f"with ÷ without: {compared}", _SOURCE))
    compared = compare_models(errors, "KBR", PAIRS)
    if compared is not None:
        claim = "The KBR filter did not improve for the models with controls."
        judged.append(Statement(claim, above(compared.pooled, 1.0), f"with ÷ without: {compared}", _SOURCE))
    return judged + _gained(errors)


def _gained(errors: Measured) -> list[Statement]:
    """Compare what controls gain: the KBR filter must learn the transition, which is harder with controls."""
    per_pair = []
    for before, after in PAIRS:
        kbr, kmcf = (_across(errors, method, before, after) for method in ("KBR", "KMCF"))
        per_pair.append({repetition: kbr[repetition] - kmcf[repetition] for repetition in kbr.keys() & kmcf.keys()})
    gained = values_of(pool([one for one in per_pair if one]))
    if not len(gained):
        return []
    verdict = above(confidence(gained), 0.0)
    numbers = f"(with ÷ without of KBR) ÷ (with ÷ without of KMCF): {written(as_ratio(gained))}; above 1 holds"
    claim = "Learning a transition with controls can be harder: controls help the KBR filter less than KMCF."
    return [Statement(claim, verdict, numbers, _SOURCE)]


def _reductions(errors: Measured) -> list[Statement]:
    """Check the cheaper variants where there are more examples than they keep."""
    sizes = [n for n in errors.sizes if n >= REFERENCE]
    judged, scalar = [], _without(errors, VECTOR)
    for method in ("KMCF-low20", "KMCF-sub100"):
        compared = compare(errors, method, "KMCF", scalar, sizes)
        if compared is not None:
            claim = f"{method} was competitive with KMCF for 1a, 2a, 4a, 1b, 2b, 4b."
            numbers = f"{method} ÷ KMCF: {compared}; below {COMPETITIVE:g} is competitive"
            judged.append(Statement(claim, compared.verdict_below(COMPETITIVE), numbers, _SOURCE))
    compared = compare(errors, "KMCF-sub50", "KMCF-sub100", errors.models, sizes)
    if compared is not None:
        claim = "KMCF-sub50 was slightly worse than KMCF-sub100."
        numbers = f"KMCF-sub50 ÷ KMCF-sub100: {compared}"
        judged.append(Statement(claim, compared.verdict_above(1.0), numbers, _SOURCE))
    for method in ("KMCF-low20", "KMCF-sub100"):
        compared = compare(errors, method, "KMCF", VECTOR, sizes)
        if compared is not None:
            claim = f"For 3a and 3b {method} was worse than KMCF."
            judged.append(Statement(claim, compared.verdict_above(1.0), f"{method} ÷ KMCF: {compared}", _SOURCE))
    return judged + [one for method in ("KMCF-low20", "KMCF-sub100") for one in _dimension(errors, method, sizes)]


def _dimension(errors: Measured, method: str, sizes: Sequence[int]) -> list[Statement]:
    groups = [
        pool([errors.log_ratios(model, method, "KMCF", sizes) for model in models])
        for models in ([m for m in VECTOR if m in errors.models], _without(errors, VECTOR))
    ]
    common = sorted(groups[0].keys() & groups[1].keys())
    if not common:
        return []
    extra = np.array([groups[0][repetition] - groups[1][repetition] for repetition in common])
    verdict = above(confidence(extra), 0.0)
    claim = f"If the dimension is high, r needs to be large: {method} loses more on 3a and 3b than on the others."
    numbers = f"its ratio to KMCF on 3a, 3b ÷ the same on the others: {written(as_ratio(extra))}; above 1 holds"
    return [Statement(claim, verdict, numbers, _SOURCE)]
