"""What Section 6.2 says about accuracy, sentence by sentence, checked by paired tests.

The bound of every check and the effect it can see are printed with it: :mod:`kmcf_lab.synthetic.comparisons`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from kmcf.report import Statement, Verdict
from kmcf.report.numbers import shown
from kmcf_lab.cells import Result
from kmcf_lab.ratios import COMPETITIVE, MARGIN, Side, as_ratio, visible, written
from kmcf_lab.statistics import Interval
from kmcf_lab.synthetic.comparisons import Comparison, across, compare, compare_models
from kmcf_lab.synthetic.measured import ORACLE, WITH_MORE, Measured, errors_of, more_of, pool, values_of
from kmcf_lab.synthetic.more import GIVEN, TIMES
from kmcf_lab.synthetic.study import REFERENCE
from kmcf_lab.synthetic.time_checks import time_statements
from kmcf_lab.verdicts import above, below

UNSTABLE, OFTEN = 2.0, 0.1
"""We call a method unstable if in more than a tenth of the data sets its error is over twice that at full rank."""
LINEAR, VECTOR = ("1a", "1b"), ("3a", "3b")
PAIRS = (("1a", "1b"), ("2a", "2b"), ("3a", "3b"), ("4a", "4b"))
RIVALS = ("kNN-PF", "GP-PF", "KBR")
_SOURCE = "Section 6.2, results in RMSE"
_GIVEN = "Section 6.2, settings"
_OURS = "not in the paper"


def statements(results: Sequence[Result]) -> list[Statement]:
    """Check every sentence of the paper's discussion for which there are numbers."""
    return [*error_statements(errors_of(results)), *more_statements(more_of(results)), *time_statements(results)]


def error_statements(errors: Measured) -> list[Statement]:
    """Check the sentences about errors."""
    return [*_methods(errors), *_controls(errors), *_reductions(errors)]


def more_statements(errors: Measured) -> list[Statement]:
    """Check that the rivals do not gain from more particles or moves than the paper gives them."""
    judged = []
    for method, what in GIVEN.items():
        compared = compare(errors, method + WITH_MORE, method, errors.models)
        claim = f"{method} did not improve with more than {what}."
        judged += _ratio(claim, f"with {TIMES} times as many ÷ with {what}", compared, "above", 1 / MARGIN, _GIVEN)
    return judged


def own_statements(results: Sequence[Result]) -> list[Statement]:
    """Check what we say about the methods that are not in the paper."""
    errors = errors_of(results)
    every, scalar = errors.models, _without(errors, VECTOR)
    claims = (
        ("Untuned, our filter is better than the paper's, tuned.", "ours (untuned)", "KMCF", every, 1 / MARGIN),
        (
            "The importance-weighted rule is no worse than Kernel Bayes' Rule.",
            *("ours, importance (untuned)", "ours (untuned)", every, MARGIN),
        ),
        (
            "For ten-dimensional observations a learnt kernel is better.",
            *("ours, learnt kernel", "KMCF", VECTOR, 1 / MARGIN),
        ),
        ("For a single number a learnt kernel is no worse.", "ours, learnt kernel", "KMCF", scalar, MARGIN),
        (
            "Untuned, our filter comes close to one that knows the likelihood.",
            *("ours (untuned)", ORACLE, every, COMPETITIVE),
        ),
        *(
            (
                f"Our low-rank engine of rank {r} is better than Algorithm 5 as printed.",
                *(f"low-rank, stable {r}", f"KMCF-low{r}", every, 1 / MARGIN),
            )
            for r in (10, 20)
        ),
        *(
            (
                f"Our low-rank engine of rank {r} is competitive with the paper's filter at full rank.",
                *(f"low-rank, stable {r}", "KMCF", every, COMPETITIVE),
            )
            for r in (10, 20)
        ),
    )
    judged = []
    for claim, first, second, models, bound in claims:
        judged += _ratio(claim, f"{first} ÷ {second}", compare(errors, first, second, models), "below", bound, _OURS)
    claim = "Our low-rank engine of rank 10 is not unstable."
    return judged + _unstable(errors, "low-rank, stable 10", claim, _OURS, wanted=False)


def _ratio(
    claim: str, what: str, compared: Comparison | None, side: Side, bound: float, source: str = _SOURCE
) -> list[Statement]:
    """Judge a ratio, if it was computed, and say what it could have shown."""
    if compared is None:
        return []
    numbers = f"{what}: {compared}; {visible(compared.pooled, side, bound)}"
    return [Statement(claim, compared.verdict(side, bound), numbers, source)]


def _without(errors: Measured, models: Sequence[str]) -> list[str]:
    return [model for model in errors.models if model not in models]


def _methods(errors: Measured) -> list[Statement]:
    judged, rest = [], _without(errors, LINEAR)
    for rival in ("KMCF", "kNN-PF", "KBR"):
        claim = f"GP-PF performed the best for 1a and 1b: better than {rival}."
        judged += _ratio(claim, f"GP-PF ÷ {rival}", compare(errors, "GP-PF", rival, LINEAR), "below", 1 / MARGIN)
    claim = "For the other models GP-PF performed poorly: not even competitively with KMCF."
    judged += _ratio(claim, "GP-PF ÷ KMCF", compare(errors, "GP-PF", "KMCF", rest), "above", COMPETITIVE)
    for rival in RIVALS:
        claim = f"For these models KMCF performed the best or competitively: compared with {rival}."
        judged += _ratio(claim, f"KMCF ÷ {rival}", compare(errors, "KMCF", rival, rest), "below", COMPETITIVE)
    claim = "KMCF-low10 was numerically unstable and gave very large errors."
    return [*judged, *_kernel_bayes(errors), *_unstable(errors, "KMCF-low10", claim, _SOURCE)]


def _kernel_bayes(errors: Measured) -> list[Statement]:
    """Judge "worse for most of the models": by the geometric mean, and by how many models show it."""
    compared = compare(errors, "KBR", "KMCF", errors.models)
    if compared is None:
        return []
    worse = sum(one.value > MARGIN for one in compared.each.values())
    surely = sum(one.low > MARGIN for one in compared.each.values())
    surely_not = sum(one.high < MARGIN for one in compared.each.values())
    most = len(compared.each) / 2
    verdict = above(compared.pooled, MARGIN)
    if verdict is Verdict.HOLDS and worse <= most:
        verdict = Verdict.FAILS if surely_not >= most else Verdict.UNCLEAR
    numbers = (
        f"KBR ÷ KMCF: {compared}; {visible(compared.pooled, 'above', MARGIN)}; more than 5 % worse on {worse} of "
        f"{len(compared.each)} models, surely on {surely}, surely not on {surely_not}"
    )
    return [Statement("The KBR filter performed worse than KMCF for most of the models.", verdict, numbers, _SOURCE)]


def _unstable(errors: Measured, method: str, claim: str, source: str, *, wanted: bool = True) -> list[Statement]:
    """Judge instability by the share of data sets whose error is far above that of the same filter at full rank."""
    compared = compare(errors, method, "KMCF", errors.models)
    if compared is None:
        return []
    ratios = [
        (float(np.exp(log)), f"{model}, n = {n}")
        for model in errors.models
        for n in errors.sizes
        for log in errors.log_ratios(model, method, "KMCF", [n]).values()
    ]
    many, (largest, place) = sum(ratio > UNSTABLE for ratio, _ in ratios), max(ratios)
    share = share_of(many, len(ratios))
    numbers = (
        f"{method} ÷ KMCF: {compared}; more than {UNSTABLE:g} in {many} of {len(ratios)} data sets, a share of "
        f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}], at most {shown(largest)} ({place}); unstable is a "
        f"share above {OFTEN:.0%}, seen from {_smallest_share(len(ratios)):.0%}"
    )
    return [Statement(claim, (above if wanted else below)(share, OFTEN), numbers, source)]


def share_of(count: int, total: int) -> Interval:
    """Return a share with its exact 95 % interval (Clopper and Pearson), data sets counted as independent.

    Examples
    --------
    >>> share_of(0, 20)
    Interval(value=0.0, low=0.0, high=0.168...)
    """
    exact = stats.binomtest(count, total).proportion_ci(0.95, method="exact")
    return Interval(count / total, float(exact.low), float(exact.high))


def _smallest_share(total: int) -> float:
    """Return the smallest share that so many data sets could show to be more than the limit."""
    enough = (count for count in range(total + 1) if share_of(count, total).low > OFTEN)
    return next(enough, total + 1) / total


def _controls(errors: Measured) -> list[Statement]:
    judged, what = [], "with ÷ without"
    for method in ("KMCF", "kNN-PF", "GP-PF", ORACLE):
        claim = f"The performance of {method} improved for the models with controls."
        if method == ORACLE:
            claim = "The information of the control input is helpful in general: the oracle improved."
        judged += _ratio(claim, what, compare_models(errors, method, PAIRS), "below", 1 / MARGIN)
    compared = compare_models(errors, "KBR", PAIRS)
    if compared is not None:
        claim = "The KBR filter did not improve for the models with controls."
        numbers = f"{what}: {compared}; {visible(compared.pooled, 'above', 1 / MARGIN)}"
        judged.append(Statement(claim, above(compared.pooled, 1 / MARGIN), numbers, _SOURCE))
    return judged + _gained(errors)


def _gained(errors: Measured) -> list[Statement]:
    """Compare what controls gain: the KBR filter must learn the transition, which is harder with controls."""
    per_pair = []
    for before, after in PAIRS:
        kbr, kmcf = (across(errors, method, before, after) for method in ("KBR", "KMCF"))
        per_pair.append({repetition: kbr[repetition] - kmcf[repetition] for repetition in kbr.keys() & kmcf.keys()})
    claim = "Learning a transition with controls can be harder: controls help the KBR filter less than KMCF."
    what = "(with ÷ without of KBR) ÷ (with ÷ without of KMCF)"
    return _single(claim, what, values_of(pool([one for one in per_pair if one])))


def _single(claim: str, what: str, logs: np.ndarray) -> list[Statement]:
    """Judge the claim that one ratio is above 1, by more than the margin."""
    if not len(logs):
        return []
    ratio = as_ratio(logs)
    numbers = f"{what}: {written(ratio)}; {visible(ratio, 'above', MARGIN)}"
    return [Statement(claim, above(ratio, MARGIN), numbers, _SOURCE)]


def _reductions(errors: Measured) -> list[Statement]:
    """Check the cheaper variants where there are more examples than they keep."""
    sizes = [n for n in errors.sizes if n >= REFERENCE]
    judged, scalar, both = [], _without(errors, VECTOR), ("KMCF-low20", "KMCF-sub100")
    for method in both:
        claim = f"{method} was competitive with KMCF for 1a, 2a, 4a, 1b, 2b, 4b."
        compared = compare(errors, method, "KMCF", scalar, sizes)
        judged += _ratio(claim, f"{method} ÷ KMCF", compared, "below", COMPETITIVE)
    compared = compare(errors, "KMCF-sub50", "KMCF-sub100", errors.models, sizes)
    if compared is not None:
        numbers = f"KMCF-sub50 ÷ KMCF-sub100: {compared}; {visible(compared.pooled, 'above', MARGIN)}"
        claim = "KMCF-sub50 was slightly worse than KMCF-sub100."
        judged.append(Statement(claim, above(compared.pooled, MARGIN), numbers, _SOURCE))
    for method in both:
        compared = compare(errors, method, "KMCF", VECTOR, sizes)
        judged += _ratio(f"For 3a and 3b {method} was worse than KMCF.", f"{method} ÷ KMCF", compared, "above", MARGIN)
    return judged + [one for method in both for one in _dimension(errors, method, sizes)]


def _dimension(errors: Measured, method: str, sizes: Sequence[int]) -> list[Statement]:
    groups = [
        pool([errors.log_ratios(model, method, "KMCF", sizes) for model in models])
        for models in ([m for m in VECTOR if m in errors.models], _without(errors, VECTOR))
    ]
    common = sorted(groups[0].keys() & groups[1].keys())
    extra = np.array([groups[0][repetition] - groups[1][repetition] for repetition in common])
    claim = f"If the dimension is high, r needs to be large: {method} loses more on 3a and 3b than on the others."
    return _single(claim, "its ratio to KMCF on 3a, 3b ÷ the same on the others", extra)
