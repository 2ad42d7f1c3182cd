"""What Section 6.2 says about computation times, checked on medians per step of interleaved runs.

What the paper timed is labelled "as printed", herding included; our engines are judged beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kmcf.report import Statement, Verdict
from kmcf_lab.cells import Result
from kmcf_lab.ratios import SIMILAR, as_ratio, visible, written
from kmcf_lab.statistics import Interval, slope
from kmcf_lab.synthetic.measured import Measured, scaling_of, times_of
from kmcf_lab.synthetic.scaling import ALGORITHM_5, STABLE_STEP, WHOLE_STEP
from kmcf_lab.synthetic.times import (
    NO_HERDING,
    OUR_HERDING,
    OUR_KBR,
    OUR_KMCF,
    PRINTED_KBR,
    PRINTED_KMCF,
)
from kmcf_lab.verdicts import above, below, near

MOSTLY = 0.5
"""A cost is due to a part of the step if the step without it takes less than this share of the time."""
FLAT = 0.15
"""A power of n is the one claimed if its interval lies within this distance of it."""
_SOURCE = "Section 6.2, computation time"
_LOW, _SUB = ("KMCF-low10", "KMCF-low20"), ("KMCF-sub50", "KMCF-sub100")


def time_statements(results: Sequence[Result]) -> list[Statement]:
    """Check the paper's sentences about times, as far as they were measured."""
    times, scaling = times_of(results), scaling_of(results)
    if not times.values:
        return _growth(scaling)
    largest = times.sizes[-1]
    ends = dict.fromkeys((times.sizes[0], largest))
    return [
        *(one for n in ends for one in _against_kernel_bayes(times, n)),
        *(one for n in ends for one in _resampling(times, n)),
        *_reduced(times, largest),
        *_growth(scaling),
        *_scaling(times),
        *_neighbours(times, largest),
        *_other_models(times),
    ]


def _judged(claim: str, what: str, ratio: Interval | None, bound: float, *, under: bool) -> list[Statement]:
    if ratio is None:
        return []
    numbers = f"{what}: {written(ratio)}; {visible(ratio, 'below' if under else 'above', bound)}"
    return [Statement(claim, (below if under else above)(ratio, bound), numbers, _SOURCE)]


def _against_kernel_bayes(times: Measured, n: int) -> list[Statement]:
    judged = []
    for first, second, words in ((PRINTED_KMCF, PRINTED_KBR, "as printed"), (OUR_KMCF, OUR_KBR, "our engines")):
        claim = f"KMCF was competitive with or even slower than the KBR filter ({words}, n = {n})."
        ratio = _ratio(times, first, second, n)
        judged += _judged(claim, "KMCF ÷ KBR", ratio, 1 / SIMILAR, under=False)
    return judged


def _resampling(times: Measured, n: int) -> list[Statement]:
    judged = []
    for whole, words in ((PRINTED_KMCF, "herding as printed"), (OUR_HERDING, "our incremental herding")):
        claim = f"This is due to the resampling step in KMCF ({words}, n = {n})."
        what = "without ÷ with resampling, the rest as printed"
        judged += _judged(claim, what, _ratio(times, NO_HERDING, whole, n), MOSTLY, under=True)
    return judged


def _reduced(times: Measured, n: int) -> list[Statement]:
    """Compare the speed-ups with the paper's filter, all as printed, and with ours."""
    printed = {name: f"{name}, herding as printed" for name in _LOW} | {name: f"{name}, as printed" for name in _SUB}
    judged = []
    for method in (*_LOW, *_SUB):
        for name, whole, words in (
            (printed[method], PRINTED_KMCF, "the paper's KMCF, both as printed"),
            (method, OUR_KMCF, "our engine for the same filter"),
        ):
            claim = f"The speeding-up methods reduced the costs of KMCF: {method}, against {words}."
            ratio = _ratio(times, name, whole, n)
            judged += _judged(claim, f"{name} ÷ {whole}, both at n = {n}", ratio, 1 / SIMILAR, under=True)
    return judged


def _growth(scaling: Measured) -> list[Statement]:
    """Judge growth where n is large enough for it."""
    judged = []
    for method, words in (
        (ALGORITHM_5, "Algorithm 5 alone, rank 20"),
        (WHOLE_STEP, "the whole step of KMCF-low20: n particles, our herding"),
        (STABLE_STEP, "our low-rank engine of rank 20, at most 1000 particles, no sums taken beforehand"),
    ):
        judged += _power_statement(f"Low rank scaled linearly in n: {words}.", scaling, method, 1.0, upper=True)
    return judged


def _scaling(times: Measured) -> list[Statement]:
    judged = []
    for method in _LOW:
        claim = f"{method} scaled linearly in n (herding as printed, n up to {times.sizes[-1]})."
        judged += _power_statement(claim, times, f"{method}, herding as printed", 1.0, upper=True)
    for method in _SUB:
        claim = f"The cost of {method} remained almost the same over sample sizes."
        judged += _power_statement(claim, times, method, 0.0)
    return judged


def _power_statement(
    claim: str, times: Measured, method: str, expected: float, *, upper: bool = False
) -> list[Statement]:
    """Judge a power of n; growth is judged on the upper half of the sizes, where fixed costs matter least."""
    sizes = sorted({key[1] for key in times.values if key[2] == method})
    if upper and len(sizes) > 2:
        sizes = sizes[len(sizes) // 2 :]
    power = _power(times, method, sizes)
    if power is None:
        return []
    half = power.high - power.value
    known = f"known to ± {half:.2f}" if math.isfinite(half) else "its uncertainty is unknown"
    numbers = f"power of n {power} over n = {sizes[0]} to {sizes[-1]}, {known}; holds within {expected:g} ± {FLAT:g}"
    return [Statement(claim, near(power, expected, FLAT), numbers, _SOURCE)]


def _neighbours(times: Measured, n: int) -> list[Statement]:
    judged = []
    for method in _SUB:
        ratio = _ratio(times, method, "kNN-PF", n)
        what = f"{method} ÷ kNN-PF at n = {n}"
        judged += _judged(f"{method} is competitive with kNN-PF.", what, ratio, SIMILAR, under=True)
    return judged


def _other_models(times: Measured) -> list[Statement]:
    """Compare ten-dimensional observations with one-dimensional ones; the data are independent: any pairing will do."""
    judged = []
    n = max((key[1] for key in times.values if key[0] == "3a"), default=0)
    for method, words in ((PRINTED_KMCF, "as printed"), (OUR_KMCF, "our engine")):
        ours, theirs = times.values.get(("3a", n, method), {}), times.values.get(("1a", n, method), {})
        common = sorted(ours.keys() & theirs.keys())
        if common:
            ratio = as_ratio(np.array([np.log(ours[k] / theirs[k]) for k in common]))
            inside = ratio.high < SIMILAR and ratio.low > 1 / SIMILAR
            outside = ratio.low > SIMILAR or ratio.high < 1 / SIMILAR
            verdict = Verdict.HOLDS if inside else Verdict.FAILS if outside else Verdict.UNCLEAR
            claim = f"Times for the other models are similar: KMCF on 3a and on 1a ({words})."
            numbers = f"3a ÷ 1a at n = {n}: {written(ratio)}; holds between {1 / SIMILAR:.2f} and {SIMILAR:.2f}"
            judged.append(Statement(claim, verdict, numbers, _SOURCE))
    return judged


def _scalar(times: Measured) -> list[str]:
    """Return the models whose times the paper shows, or all if none of them was timed."""
    return [model for model in times.models if model in ("1a", "1b")] or times.models


def _ratio(times: Measured, first: str, second: str, n: int) -> Interval | None:
    logs = [v for model in _scalar(times) for v in times.log_ratios(model, first, second, [n]).values()]
    return as_ratio(np.array(logs)) if logs else None


def _power(times: Measured, method: str, sizes: Sequence[int]) -> Interval | None:
    """Return the power of n with which times grow, from repetitions that have all sizes; None for a single size."""
    lines: list[list[float]] = []
    for model in _scalar(times):
        by_size = [times.values.get((model, n, method), {}) for n in sizes]
        for repetition in set.intersection(*(set(one) for one in by_size)) if by_size else ():
            lines.append([one[repetition] for one in by_size])
    if len(sizes) < 2 or not lines:
        return None
    return slope(np.array(sizes, dtype=np.float64), np.array(lines))
