"""``kmcf.sensor_changed``: has the observation model changed since fit? A test over a whole run.

Every step gives signals (:mod:`kmcf.adaptation.change_signals`): how badly the observation was predicted, how far it is
from the examples, how its columns differ from the examples' and from what was predicted. Running means of these, short
and long, are compared with those of walks over left-out examples: as many steps, driven by the same controls, filtered
by a filter that was fitted to the other examples. The largest of them is the test's statistic, in units of what such
walks *and the run itself* show: in units of the walks alone, the run would be the only one that these were not chosen
for, and look unusual for that. And all walks go over the same n examples, which are a sample themselves, so that a new
run of T steps differs from them by more than they differ from each other: by √(1 + T/n) times as much, as means of T
and n numbers do. The p-value is the rank among the walks; a sensor that is as it was is reported at the stated rate.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.adaptation.change_signals import MEMORIES, REASONS, Signals
from kmcf.adaptation.change_walks import Data, largest, walked
from kmcf.filter.fitting.sensor_learning import refuse_sensors
from kmcf.filter.rule_filter import RuleFilter
from kmcf.kernels import Precomputed
from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import FewExamplesWarning, HighRankWarning, RejectedStepWarning, UnusedTimesWarning
from kmcf.support.extras import progress_bar

FEWEST_STEPS, FEWEST_EXAMPLES = 20, 30
LOOKED_BACK = 100
"""No running mean looks back over more steps."""
QUIET = (RejectedStepWarning, HighRankWarning, FewExamplesWarning, UnusedTimesWarning)


@dataclass(frozen=True, eq=False)
class ChangeVerdict:
    """Whether a sensor has changed since fit.

    Attributes
    ----------
    changed : bool
        Whether the p-value is at most the rate.
    p_value : float
        The share of walks over left-out examples, and this run, that look at least as changed.
    rate : float
        The stated rate: the share of runs of an unchanged sensor that are reported.
    step : int or None
        The step (from 1) at which it was noticed: the first one that looks more changed than all but that share of the
        walks ever do. None if it was not.
    sequence : int or None
        The sequence in which this was.
    reason : str
        What shows it most: "predicted worse", "further from the examples", "elsewhere on average", ...
    statistic : float
        The largest running mean, in units of what the walks show.
    walks : int
        With how many walks the run was compared.

    Examples
    --------
    >>> verdict = ChangeVerdict(True, 0.05, 0.05, 31, None, "elsewhere on average", 4.2, 40)
    >>> verdict.changed, verdict.step
    (True, 31)
    """

    changed: bool
    p_value: float
    rate: float
    step: int | None
    sequence: int | None
    reason: str
    statistic: float
    walks: int

    def __str__(self) -> str:
        if not self.changed:
            return f"no change of the sensor was noticed (p = {self.p_value:.2g})"
        where = "" if not self.sequence else f" of sequence {self.sequence}"
        return (
            f"the observation model has changed since fit (p = {self.p_value:.2g}), noticed at step {self.step}{where}"
            f": observations are {self.reason}"
        )

    def summary(self) -> dict[str, Any]:
        """Return the verdict as plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"verdict": str(self)}


def sensor_changed(
    flt: RuleFilter,
    observations: Any,
    controls: Any = None,
    times: Any = None,
    *,
    rate: float = 0.05,
    walks: int | None = None,
    progress: bool = False,
) -> ChangeVerdict:
    """Test whether the sensor is still the one that the examples came from.

    Parameters
    ----------
    flt : filter
        Fitted to one sensor.
    observations : array (T, ...), or list of sequences
        What the sensor says now.
    controls, times : optional
        As for :meth:`~kmcf.KernelMonteCarloFilter.filter_many`.
    rate : float
        The share of runs of an unchanged sensor that may be reported as changed.
    walks : int, optional
        With how many walks over left-out examples to compare. None: twice as many as the rate takes at least. Each
        takes as long as filtering the observations does.
    progress : bool
        Show a progress bar (needs the extra ``kmcf[progress]``).

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(120, random_state=0), model.simulate(60, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, n_particles=40, random_state=0)
    >>> flt = flt.fit(train.states, train.observations)
    >>> kmcf.sensor_changed(flt, test.observations + 15.0, rate=0.1).changed
    True
    """
    _check(flt, rate)
    several = isinstance(observations, list | tuple)
    given: list[Any] = [
        None if one is None else list(one) if several else [one] for one in (observations, controls, times)
    ]
    count = max(int(np.ceil(2.0 / rate)) - 1 if walks is None else int(walks), int(np.ceil(1.0 / rate)) - 1)
    with warnings.catch_warnings(), progress_bar(count, "walks", show=progress, unit="walk") as tick:
        for expected in QUIET:
            warnings.simplefilter("ignore", expected)
        sequences = [flt.reader_.sequence(one) for one in given[0]]
        drives = [
            _each(part, len(sequences), name) for part, name in zip(given[1:], ("controls", "times"), strict=True)
        ]
        if max(len(one) for one in sequences) < FEWEST_STEPS:
            raise ValueError(
                f"the longest sequence is shorter than {FEWEST_STEPS} steps: too short to notice a change."
            )
        data = [Data(*parts) for parts in zip(sequences, *drives, strict=True)]
        along = [part.signals(Signals.of(flt), stream) for stream, part in enumerate(data)]
        usual = np.stack(list(walked(flt, data, count, tick)))
    return verdict_of(along, usual, rate, stretch_of(flt, sequences))


def _each(given: Any, count: int, name: str) -> list[Any]:
    if given is None:
        return [None] * count
    if len(given) != count:
        raise ValueError(f"{len(given)} sequences of {name} for {count} sequences of observations.")
    return list(given)


def stretch_of(flt: Any, sequences: Sequence[Any]) -> float:
    """Return how much more a new run differs from walks over the examples than these do from each other."""
    steps = min(max(len(one) for one in sequences), LOOKED_BACK)
    return float(np.sqrt(1.0 + steps / len(flt.learnt_.examples[0])))


def verdict_of(tables: Sequence[FloatArray], usual: FloatArray, rate: float, stretch: float = 1.0) -> ChangeVerdict:
    """Compare running signals with the largest ones of walks, (walks, signals × memories)."""
    everyone = np.concatenate([usual, largest(tables)[None]])
    usable = np.isfinite(everyone).all(axis=0)
    if not usable.any():
        raise ValueError("nothing is known of predictions or distances with this filter, so no change can be noticed.")
    centre, spread = everyone[:, usable].mean(axis=0), everyone[:, usable].std(axis=0, ddof=1)
    spread = np.maximum(spread, 1e-9 * np.maximum(np.abs(centre), 1.0))
    usual_largest = np.sort(((usual[:, usable] - centre) / spread).max(axis=1))
    along = [np.nan_to_num((table[:, usable] - centre) / (stretch * spread), nan=-np.inf) for table in tables]
    statistic = max(float(part.max()) for part in along)
    p_value = (1.0 + float((usual_largest >= statistic).sum())) / (len(usual_largest) + 1.0)
    changed = p_value <= rate
    limit = usual_largest[min(int(np.ceil((1.0 - rate) * (len(usual_largest) + 1))) - 1, len(usual_largest) - 1)]
    step = sequence = None
    names = np.repeat(REASONS, len(MEMORIES))[usable]
    worst = max(along, key=lambda part: float(part.max()))
    reason = str(names[int(worst.max(axis=0).argmax())])
    if changed:
        beyond = [
            (number, int(t[0])) for number, part in enumerate(along) if len(t := np.flatnonzero((part > limit).any(1)))
        ]
        sequence, first = min(beyond, key=lambda one: one[1]) if beyond else (0, len(along[0]) - 1)
        step = first + 1
    return ChangeVerdict(changed, p_value, rate, step, sequence, reason, statistic, len(usual))


def _check(flt: Any, rate: float) -> None:
    if not isinstance(flt, RuleFilter):
        raise TypeError(
            f"sensor_changed works with KernelMonteCarloFilter and ParticleLikelihoodFilter, not {type(flt).__name__}."
        )
    flt.start()  # an error if it was not fitted
    refuse_sensors(flt, "sensor_changed", "test a filter fitted to one of them")
    if isinstance(flt.observation_kernel_, Precomputed):
        raise ValueError("sensor_changed leaves examples out, which a precomputed kernel does not allow.")
    if not 0.001 <= rate <= 0.5:
        raise ValueError(f"rate={rate!r}; it must be between 0.001 and 0.5.")
    if len(flt.learnt_.examples[0]) < FEWEST_EXAMPLES:
        raise ValueError(f"with fewer than {FEWEST_EXAMPLES} examples nobody can say what is usual.")
