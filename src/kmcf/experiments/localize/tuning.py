"""Settings chosen inside the training sequences of a fold; the test sequence is never looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.datasets import kept
from kmcf.experiments.localize.problem import Estimate, Fold, Settings
from kmcf.filter.belief import Belief
from kmcf.filter.sequential import SequentialFilter
from kmcf.tuning import tune


@dataclass(frozen=True)
class PositionError:
    """Distance in the plane from the estimate to the true position."""

    estimate: Estimate

    def __call__(self, belief: Belief, state: Any) -> float:
        """Judge a belief."""
        return float(np.linalg.norm(position_of(belief, self.estimate) - np.asarray(state)[:2]))


def position_of(belief: Belief, estimate: Estimate) -> Any:
    """Return the position (2,) that a belief says."""
    return np.asarray(belief.mean() if estimate == "mean" else belief.mode())[:2]


def tuned(
    flt: SequentialFilter,
    settings: Settings,
    fold: Fold,
    estimate: Estimate,
    *,
    trials: int,
    seed: int,
    study: Path | None = None,
) -> tuple[SequentialFilter, dict[str, Any]]:
    """Choose hyper-parameters by leaving out training sequences; return the filter, not fitted, and what was found.

    Parameters
    ----------
    flt : filter
        Not fitted.
    settings : Settings
        Their ``space`` is added to what the filter declares.
    fold : Fold
        Its training sequences; steps whose true state is unknown are left out.
    estimate : {"mean", "mode"}
        What counts.
    trials, seed
        As for :func:`kmcf.tune`.
    study : Path, optional
        File that keeps the trials, so that a killed study goes on.
    """
    if trials == 0 or not flt.search_space():
        return flt, {}
    known = set(flt.get_params(deep=True))
    space = {name: parameter for name, parameter in settings.space.items() if name in known}
    recordings = [kept(one, one.known) for one in (fold.training if fold.tuning is None else fold.tuning)]
    recordings = [one for one in recordings if len(one)]
    observations = [one.observations for one in recordings]
    arrays = all(isinstance(part, np.ndarray) for part in observations)
    controls = [one.controls for one in recordings]
    result = tune(
        flt,
        np.concatenate([one.states for one in recordings]),
        np.concatenate(observations) if arrays else [y for part in observations for y in part],
        controls=None if controls[0] is None else np.concatenate(controls),
        groups=[one.name for one in recordings for _ in range(len(one))],
        held_out=fold.validation or None,
        n_trials=trials,
        metric=PositionError(estimate),
        random_state=seed,
        space=space,
        study=study,
    )
    found: SequentialFilter = clone(result.best_filter)
    return found, dict(result.best_params)
