"""What Section 6.2 says about computation times, checked on medians per step of interleaved runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.report import Statement, Verdict
from kmcf_lab.cells import Result
from kmcf_lab.statistics import Interval, slope
from kmcf_lab.synthetic.measured import Measured, as_ratio, times_of, written
from kmcf_lab.verdicts import above, below, near

SIMILAR = 1.5
"""We call times competitive or similar up to this factor."""
FLAT = 0.15
"""We call times almost the same over sample sizes if their power of n is smaller than this."""
_SOURCE = "Section 6.2, computation time"
_REDUCED = ("KMCF-low10", "KMCF-low20", "KMCF-sub50", "KMCF-sub100")


def time_statements(results: Sequence[Result]) -> list[Statement]:
    """Check the paper's sentences about times, as far as they were measured."""
    times = times_of(results)
    if not times.values:
        return []
    largest = times.sizes[-1]
    judged = [*_against_kernel_bayes(times, largest), *_resampling(times, largest)]
    for method in _REDUCED:
        ratio = _ratio(times, method, "KMCF, literal", largest)
        if ratio is not None:
            numbers = f"{method} ÷ KMCF, both at n = {largest}: {written(ratio)}"
            claim = f"The speeding-up methods reduced the costs of KMCF: {method}."
            judged.append(Statement(claim, below(ratio, 1.0), numbers, _SOURCE))
    return [*judged, *_scaling(times), *_neighbours(times, largest), *_other_models(times)]


def _against_kernel_bayes(times: Measured, n: int) -> list[Statement]:
    judged = []
    for kind, words in ((", literal", "as printed"), ("", "our engines")):
        ratio = _ratio(times, f"KMCF{kind}", f"KBR{kind}", n)
        if ratio is not None:
            claim = f"KMCF was competitive with or even slower than the KBR filter ({words})."
            numbers = f"KMCF ÷ KBR at n = {n}: {written(ratio)}; above {1 / SIMILAR:.2g} holds"
            judged.append(Statement(claim, above(ratio, 1 / SIMILAR), numbers, _SOURCE))
    return judged


def _resampling(times: Measured, n: int) -> list[Statement]:
    ratio = _ratio(times, "KMCF, literal, no resampling", "KMCF, literal", n)
    if ratio is None:
        return []
    numbers = f"without ÷ with resampling at n = {n}, as printed: {written(ratio)}; below {1 / SIMILAR:.2g} holds"
    claim = "This is due to the resampling step in KMCF."
    return [Statement(claim, below(ratio, 1 / SIMILAR), numbers, _SOURCE)]


def _scaling(times: Measured) -> list[Statement]:
    judged = []
    for method in ("KMCF-low20, n × r", "KMCF-low10", "KMCF-low20"):
        power = _power(times, method)
        if power is not None:
            ours = " (our engine: sums over examples are taken once)" if "n × r" not in method else ""
            verdict = near(power, 1.0, FLAT)
            numbers = f"power of n {power}; linear is 1"
            judged.append(Statement(f"{method} scaled linearly in n{ours}.", verdict, numbers, _SOURCE))
    for method in ("KMCF-sub50", "KMCF-sub100"):
        power = _power(times, method)
        if power is not None:
            claim = f"The cost of {method} remained almost the same over sample sizes."
            judged.append(Statement(claim, near(power, 0.0, FLAT), f"power of n {power}; constant is 0", _SOURCE))
    return judged


def _neighbours(times: Measured, n: int) -> list[Statement]:
    judged = []
    for method in ("KMCF-sub50", "KMCF-sub100"):
        ratio = _ratio(times, method, "kNN-PF", n)
        if ratio is not None:
            claim = f"{method} is competitive with kNN-PF."
            numbers = f"{method} ÷ kNN-PF at n = {n}: {written(ratio)}; below {SIMILAR:g} holds"
            judged.append(Statement(claim, below(ratio, SIMILAR), numbers, _SOURCE))
    return judged


def _other_models(times: Measured) -> list[Statement]:
    """Compare ten-dimensional observations with one-dimensional ones; the data are independent: any pairing will do."""
    judged = []
    n = max((key[1] for key in times.values if key[0] == "3a"), default=0)
    for method, words in (("KMCF, literal", "as printed"), ("KMCF", "our engine")):
        ours, theirs = times.values.get(("3a", n, method), {}), times.values.get(("1a", n, method), {})
        common = sorted(ours.keys() & theirs.keys())
        if common:
            ratio = as_ratio(np.array([np.log(ours[k] / theirs[k]) for k in common]))
            inside, outside = ratio.high < SIMILAR and ratio.low > 1 / SIMILAR, above(ratio, SIMILAR)
            verdict = Verdict.HOLDS if inside else Verdict.FAILS if outside is Verdict.HOLDS else Verdict.UNCLEAR
            claim = f"Times for the other models are similar: KMCF on 3a and on 1a ({words})."
            numbers = f"3a ÷ 1a at n = {n}: {written(ratio)}; within a factor of {SIMILAR:g} holds"
            judged.append(Statement(claim, verdict, numbers, _SOURCE))
    return judged


def _scalar(times: Measured) -> list[str]:
    """Return the models whose times the paper shows, or all if none of them was timed."""
    return [model for model in times.models if model in ("1a", "1b")] or times.models


def _ratio(times: Measured, first: str, second: str, n: int) -> Interval | None:
    logs = [v for model in _scalar(times) for v in times.log_ratios(model, first, second, [n]).values()]
    return as_ratio(np.array(logs)) if logs else None


def _power(times: Measured, method: str) -> Interval | None:
    """Return the power of n with which times grow, from repetitions that have all sizes; None for a single size."""
    sizes = times.sizes
    lines: list[list[float]] = []
    for model in _scalar(times):
        by_size = [times.values.get((model, n, method), {}) for n in sizes]
        for repetition in set.intersection(*(set(one) for one in by_size)):
            lines.append([one[repetition] for one in by_size])
    if len(sizes) < 2 or not lines:
        return None
    return slope(np.array(sizes, dtype=np.float64), np.array(lines))
