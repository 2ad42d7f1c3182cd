"""Settings chosen on the training sequences of a fold; the test sequence is never looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from kmcf.datasets import kept
from kmcf.filter.results.belief import Belief
from kmcf.filter.sequential import SequentialFilter
from kmcf.tuning import tune
from kmcf_lab.localize.problem import LocalizationFold, Measure, Settings
from kmcf_lab.localize.splits import training_rows
from kmcf_lab.localize.steps import position_error

AS_PRINTED: dict[str, Any] = {"n_best": 1, "transfer": False, "prune": "certain"}
"""The best trial as it is; trials are stopped only when they cannot become it any more."""


@dataclass(frozen=True)
class PositionError:
    """The problem's measure of one step, as a loss; zero for steps that do not count.

    Attributes
    ----------
    measure : Measure
        The measure.
    dropped : int
        Steps at the beginning that do not count.

    Examples
    --------
    >>> belief = Belief(np.zeros((1, 2)), np.ones(1), time=3)
    >>> [PositionError(Measure(primary), 2)(belief, [3.0, 4.0]) for primary in ("mean", "rmse", "share")]
    [5.0, 25.0, 1.0]
    """

    measure: Measure
    dropped: int
    nonnegative: ClassVar[bool] = True

    def __call__(self, belief: Belief, state: Any) -> float:
        """Return the loss of a belief."""
        if belief.time <= self.dropped:
            return 0.0
        error = position_error(state, belief, self.measure)
        if self.measure.primary == "share":
            return float(error >= self.measure.near)
        return error**2 if self.measure.primary == "rmse" else error


class TunedFilter(NamedTuple):
    """The filter with the best settings, not fitted; these settings; and the value of their trial."""

    flt: SequentialFilter
    settings: dict[str, Any]
    value: float


def tuned(
    flt: SequentialFilter,
    settings: Settings,
    fold: LocalizationFold,
    measure: Measure,
    *,
    trials: int,
    seed: int,
    study: Path | None = None,
    printed: bool = False,
    held: Sequence[str] = (),
) -> TunedFilter:
    """Choose hyper-parameters by leaving out training sequences, which are followed and judged like a test sequence.

    Parameters
    ----------
    flt : filter
        Not fitted.
    settings : Settings
        Their ``space`` is added to what the filter declares.
    fold : LocalizationFold
        Its training sequences; steps whose true state is unknown are left out.
    measure : Measure
        How estimates are judged.
    trials, seed
        As for :func:`kmcf.tune`.
    study : Path, optional
        File that keeps the trials, so that a killed study can continue.
    printed : bool
        Take the settings with the smallest error as they are, as the paper does, instead of combining the best few.
    held : sequence of str
        Settings that are not tuned although the filter declares them.
    """
    known = set(flt.get_params(deep=True))
    space = {name: parameter for name, parameter in settings.space.items() if name in known}
    recordings = fold.training if fold.tuning is None else fold.tuning
    rows = training_rows([kept(one, one.known) for one in recordings], fold)
    followed = [one for one in rows.recordings if not fold.validation or one.name in fold.validation]
    result = tune(
        flt,
        rows.states,
        rows.observations,
        controls=rows.controls,
        groups=rows.groups,
        held_out=fold.validation or None,
        learned_from=rows.learned_from & ~np.isin(rows.groups, fold.validation),
        corrected_at=rows.corrected_at,
        n_trials=trials,
        metric=PositionError(measure, min(int(np.sum(~measure.judged(one.time))) for one in followed)),
        random_state=seed,
        space={**space, **dict.fromkeys(held)},
        study=study,
        **(AS_PRINTED if printed else {}),
    )
    return TunedFilter(clone(result.best_filter), dict(result.best_params), result.best_value)
