"""Where signals stop being usual: thresholds at a stated rate of false alarms, from steps that went well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtri

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.trust.signals import MARGINS, MEMORIES, REASONS, signals_of
from kmcf.trust.surprise import PARTS, Surprise, added_up, surprises_of

RATE = 0.01
"""The share of good steps that may raise an alarm, for whatever reason."""
TAIL = 0.1
"""Beyond this share of the largest values, quantiles are extrapolated by an exponential tail."""
CAUTION = 0.5
"""Thresholds aim at this part of the rate, since a few hundred steps say little about the tails."""
LONGER = {"rarity": "long_rarity", "observation_drift": "long_drift", "observation_shift": "long_shift"}
"""Signals that change slowly, and the columns with longer sequences of them."""
NORMAL_POWERS = {"residual_shift": 2.0 / 3.0}
"""Signals with nearly normal powers: the cube root of a mean of squares is, by Wilson and Hilferty's approximation."""
HALVINGS = 12
"""So often shares are halved at most, until few enough good steps raise an alarm."""
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
    parts: Mapping[str, Surprise] = field(default_factory=dict)
    """What is usual of the signals that are added up to ``leaving``."""

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
        found = all_signals(columns, self.usual, self.parts)
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
            "levels": dict(self.levels), "scales": dict(self.scales), "usual": list(self.usual), "rate": self.rate,
            "parts": {name: list(part) for name, part in self.parts.items()},
        }  # fmt: skip

    @classmethod
    def restored(cls, kept: Mapping[str, Any]) -> Self:
        """Read what a file kept."""
        names, parts = set(kept["levels"]), kept.get("parts", {})
        if not set(parts) <= set(PARTS) or any(len(part) != 3 for part in parts.values()):
            raise ValueError(f"its alarms add up {sorted(parts)}, which this version does not.")
        if not names <= set(REASONS) or names != set(kept["scales"]) or len(kept["usual"]) != 3:
            raise ValueError(f"its alarms have thresholds for {sorted(names)}, which are not those of this version.")
        levels, scales = ({name: float(kept[part][name]) for name in kept[part]} for part in ("levels", "scales"))
        usual = tuple(float(value) for value in kept["usual"])
        known = {name: Surprise(*(float(value) for value in part)) for name, part in parts.items()}
        return cls(levels, scales, usual, float(kept["rate"]), known)  # type: ignore[arg-type]


LABEL = f"<U{max(len(reason) for reason in REASONS.values())}"
"""The type of arrays of reasons."""


class Tail(NamedTuple):
    """The upper end of a sample: its quantile at 1 − TAIL, and the mean excess over it."""

    start: float
    excess: float
    number: float
    """How many independent excesses those that were seen are worth."""

    def quantile(self, share: float) -> float:
        """Return what is exceeded by ``share`` ≤ TAIL of the values, if the tail is exponential."""
        # Few excesses may have come out too small by chance: one standard error is added.
        return self.start + self.excess * (1.0 + self.number**-0.5) * float(np.log(TAIL / share))


class NormalTail(NamedTuple):
    """The upper end of a sample of which a power is nearly normal: mean and standard deviation of that power."""

    middle: float
    deviation: float
    number: float
    """How many independent values those that were seen are worth."""
    power: float

    @property
    def excess(self) -> float:
        """How much farther the tail reaches from one to two standard deviations above the mean."""
        return self._at(2.0) - self._at(1.0)

    def quantile(self, share: float) -> float:
        """Return what is exceeded by ``share`` of the values."""
        height = float(ndtri(1.0 - share))
        # As for other tails, one standard error is added: that of mean and deviation together.
        return self._at(height + ((1.0 + 0.5 * height**2) / self.number) ** 0.5)

    def _at(self, height: float) -> float:
        return float(max(self.middle + height * self.deviation, 0.0) ** (1.0 / self.power))


def signal_tail(name: str, values: FloatArray) -> Tail | NormalTail:
    """Describe the upper tail of a signal, as what it is suggests.

    Examples
    --------
    >>> values = np.sqrt((np.random.default_rng(0).normal(size=(40_000, 5)) ** 2).mean(axis=1))
    >>> bool(0.003 < np.mean(values > signal_tail("residual_shift", values).quantile(0.005)) < 0.007)
    True
    """
    memory, power = MEMORIES.get(name, 0.0), NORMAL_POWERS.get(name)
    if power is None:
        return tail_of(values, memory)
    number = max(len(values) * (1.0 - memory) / (1.0 + memory), 1.0)
    return NormalTail(float(np.mean(values**power)), float(np.std(values**power)), number, power)


def tail_of(values: FloatArray, memory: float = 0.0) -> Tail:
    """Describe the upper tail of a sample, of running means that keep ``memory`` of themselves in each step.

    Such means resemble each other: (1 + memory) / (1 − memory) of them are worth one.

    Examples
    --------
    >>> values = -np.log(1.0 - (np.arange(1000) + 0.5) / 1000)  # exponential
    >>> round(tail_of(values).start, 1), round(tail_of(values).excess, 1)
    (2.3, 1.0)
    >>> round(tail_of(values, memory=0.9).number, 1)
    5.3
    """
    start = float(np.quantile(values, 1.0 - TAIL))
    above = values[values > start] - start
    number = len(above) * (1.0 - memory) / (1.0 + memory)
    return Tail(start, float(above.mean()) if len(above) else 0.0, max(number, 1.0))


def thresholds_from(columns: Mapping[str, Any], rate: float = RATE) -> Thresholds:
    """Set the thresholds so that together they alarm in about ``rate`` of good steps.

    All signals get the same share α. Signals go together, so α lies between the rate divided by their number and the
    rate: it is read off at the level where a tenth of the steps exceed some threshold, which a few hundred steps tell
    well, and scaled down from there; further, until no more than ``rate`` of the good steps raise an alarm for
    whatever reason.

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
    parts = surprises_of(signals_of(columns, usual))
    signals = all_signals(columns, usual, parts)
    found = {name: signals[name][np.isfinite(signals[name])] for name in REASONS if name in signals}
    tails: dict[str, Tail | NormalTail] = {
        name: signal_tail(name, values) for name, values in found.items() if len(values) >= FEWEST
    }
    share = common_share(signals, tails) * CAUTION * rate / TAIL
    for name, longer in LONGER.items():
        if longer in columns and name in tails:
            tails[name] = tail_of(np.asarray(columns[longer]), MEMORIES[name])
    levels = joint_levels(signals, tails, share, rate)
    scales = {name: max(tail.excess, MARGINS[name]) for name, tail in tails.items()}
    return Thresholds(levels, scales, usual, rate, parts)


def joint_levels(
    signals: Mapping[str, FloatArray], tails: Mapping[str, Tail | NormalTail], share: float, rate: float
) -> dict[str, float]:
    """Return the levels at the largest share, at most the given one, at which at most ``rate`` of steps exceed any."""
    for _ in range(HALVINGS):
        levels = {name: tail.quantile(share) + MARGINS[name] for name, tail in tails.items()}
        above = [signals[name] > level for name, level in levels.items()]
        if not above or np.any(above, axis=0).mean() <= rate:
            break
        share *= 0.5
    return levels


def all_signals(
    columns: Mapping[str, Any], usual: tuple[float, float, float], parts: Mapping[str, Surprise]
) -> dict[str, FloatArray]:
    """Return the signals, with what is added up from others: not where a mean outside or cancelled weights say more."""
    found = signals_of(columns, usual)
    if not parts:
        return found
    anyway = (found["edge"] > 0.0) | (np.asarray(columns["ess"], dtype=np.float64) < 1.0)
    return {**found, "leaving": np.where(anyway, np.nan, added_up(found, parts))}


def usual_of(columns: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the median log distance, innovation and rarity; the last two from their running means."""
    running = np.asarray(columns["running"])
    running = running[running[:, 3] > 0]
    return (
        _middle(np.asarray(columns["observation_distance"])),
        _middle(running[:, 1] / running[:, 3]),
        _middle(running[:, 2] / running[:, 4]),
    )


def common_share(signals: Mapping[str, FloatArray], tails: Mapping[str, Any]) -> float:
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
