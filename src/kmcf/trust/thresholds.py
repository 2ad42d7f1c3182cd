"""Where signals stop being usual: thresholds at a stated rate of false alarms, from steps that went well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.trust.signals import MARGINS, REASONS, signals_of

RATE = 0.01
"""The share of good steps that may raise an alarm, for whatever reason."""
TAIL = 0.1
"""Beyond this share of the largest values, quantiles are extrapolated by an exponential tail."""
CAUTION = 0.5
"""Thresholds aim at this part of the rate, since a few hundred steps say little about the tails."""
LONGER = {"rarity": "long_rarity", "observation_drift": "long_drift", "observation_shift": "long_shift"}
"""Signals that change slowly, and the columns with longer sequences of them."""
FEWEST = 20
"""Signals with fewer values than this get no threshold."""


@dataclass(frozen=True)
class Thresholds:
    """One threshold per signal (infinite: the signal is not used), and what is usual."""

    levels: Mapping[str, float]
    scales: Mapping[str, float]
    """How fast each signal's tail falls off, to compare by how much thresholds are exceeded."""
    usual: tuple[float, float, float]
    """The usual log distance, innovation and rarity of an observation."""
    rate: float = RATE

    @classmethod
    def none(cls) -> Self:
        """Return thresholds that nothing exceeds."""
        return cls({}, {}, (0.0, 0.0, 0.0))

    def decide(self, columns: Mapping[str, Any]) -> tuple[BoolArray, Any]:
        """Say which of T steps raise an alarm, and why: the signal that exceeds its threshold by most.

        Parameters
        ----------
        columns : mapping
            As for :func:`~kmcf.trust.signals.signals_of`.
        """
        found = signals_of(columns, self.usual)
        names = [name for name in REASONS if np.isfinite(self.levels.get(name, np.inf))]
        shape = np.shape(columns["observation_distance"])
        if not names:
            return np.zeros(shape, dtype=bool), np.full(shape, "", dtype=LABEL)
        excess = np.stack([(found[name] - self.levels[name]) / self.scales[name] for name in names])
        excess = np.nan_to_num(excess, nan=-np.inf)
        alarm = np.asarray((excess > 0.0).any(axis=0))
        labels = np.array([REASONS[name] for name in names], dtype=LABEL)
        return alarm, np.where(alarm, labels[excess.argmax(axis=0)], "")

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {
            "levels": dict(self.levels), "scales": dict(self.scales), "usual": list(self.usual), "rate": self.rate
        }  # fmt: skip

    @classmethod
    def restored(cls, kept: Mapping[str, Any]) -> Self:
        """Read what a file kept."""
        names = set(kept["levels"])
        if not names <= set(REASONS) or names != set(kept["scales"]) or len(kept["usual"]) != 3:
            raise ValueError(f"its alarms have thresholds for {sorted(names)}, which are not those of this version.")
        levels, scales = ({name: float(kept[part][name]) for name in kept[part]} for part in ("levels", "scales"))
        usual = tuple(float(value) for value in kept["usual"])
        return cls(levels, scales, usual, float(kept["rate"]))  # type: ignore[arg-type]


LABEL = f"<U{max(len(reason) for reason in REASONS.values())}"
"""The type of arrays of reasons."""


class Tail(NamedTuple):
    """The upper end of a sample: its quantile at 1 − TAIL, and the mean excess over it."""

    start: float
    excess: float
    number: int

    def quantile(self, share: float) -> float:
        """Return what is exceeded by ``share`` ≤ TAIL of the values, if the tail is exponential."""
        # Few excesses may have come out too small by chance: one standard error is added.
        return self.start + self.excess * (1.0 + self.number**-0.5) * float(np.log(TAIL / share))


def tail_of(values: FloatArray) -> Tail:
    """Describe the upper tail of a sample.

    Examples
    --------
    >>> values = -np.log(1.0 - (np.arange(1000) + 0.5) / 1000)  # exponential
    >>> round(tail_of(values).start, 1), round(tail_of(values).excess, 1)
    (2.3, 1.0)
    """
    start = float(np.quantile(values, 1.0 - TAIL))
    above = values[values > start] - start
    return Tail(start, float(above.mean()) if len(above) else 0.0, max(len(above), 1))


def thresholds_from(columns: Mapping[str, Any], rate: float = RATE) -> Thresholds:
    """Set the thresholds such that together they alarm in about ``rate`` of good steps.

    All signals get the same share α. Signals go together, so α lies between the rate divided by their number and the
    rate: it is read off at the level where a tenth of the steps exceed some threshold, which a few hundred steps tell
    well, and scaled down from there.

    Parameters
    ----------
    columns : mapping
        The columns of steps that went well, one array each, as for :func:`~kmcf.trust.signals.signals_of`; of runs on
        known states, say, or of a rehearsal. The columns named in ``LONGER``, if given, hold slow signals along longer
        sequences.
    rate : float
        The share of good steps that may raise an alarm.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> good = {name: rng.normal(size=500) for name in ("observation_distance", "relative_evidence")}
    >>> good |= {"ess": np.full(500, 10.0), "support_size": np.full(500, 100.0), "negative_mass": np.zeros(500)}
    >>> good |= {"observation_shift": np.zeros(500), "state_coverage": np.ones(500), "running": np.zeros((500, 5))}
    >>> alarm, reason = thresholds_from(good).decide(good)
    >>> bool(alarm.mean() <= 0.01)
    True
    """
    usual = usual_of(columns)
    signals = signals_of(columns, usual)
    found = {name: values[np.isfinite(values)] for name, values in signals.items()}
    tails = {name: tail_of(values) for name, values in found.items() if len(values) >= FEWEST}
    share = common_share(signals, tails) * CAUTION * rate / TAIL
    for name, longer in LONGER.items():
        if longer in columns and name in tails:
            tails[name] = tail_of(np.asarray(columns[longer]))
    levels, scales = {}, {}
    for name, tail in tails.items():
        levels[name] = tail.quantile(share) + MARGINS[name]
        scales[name] = max(tail.excess, MARGINS[name])
    return Thresholds(levels, scales, usual, rate)


def usual_of(columns: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the median log distance, innovation and rarity; the last two from their running means."""
    running = np.asarray(columns["running"])
    running = running[running[:, 3] > 0]
    return (
        _middle(np.asarray(columns["observation_distance"])),
        _middle(running[:, 1] / running[:, 3]),
        _middle(running[:, 2] / running[:, 4]),
    )


def common_share(signals: Mapping[str, FloatArray], tails: Mapping[str, Tail]) -> float:
    """Return the share α at which a tenth (TAIL) of the steps have a signal among its own α largest values."""
    ranks = []
    for name in tails:
        values = signals[name]
        known = np.isfinite(values)
        rank = np.ones(len(values))
        ordered = np.sort(values[known])
        rank[known] = 1.0 - np.searchsorted(ordered, values[known], side="left") / max(known.sum(), 1)
        ranks.append(rank)
    if not ranks:
        return TAIL
    return float(np.clip(np.quantile(np.min(ranks, axis=0), TAIL), TAIL / len(ranks), TAIL))


def _middle(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else 0.0
