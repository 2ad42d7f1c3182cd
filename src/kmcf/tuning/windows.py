"""How many observations to take as one, chosen by cross validation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.datasets.windowing import Window, windows
from kmcf.filter.sequential import SequentialFilter
from kmcf.tuning.search import tune


@dataclass(frozen=True)
class WindowChoice:
    """What each window scored on held-out steps.

    Attributes
    ----------
    best : Window
        The one with the lowest value; the first of several that are equally good.
    tried : tuple of (Window, float)
        All of them, in the order given, with their values.
    metric : str
        What was measured; lower is better.

    Examples
    --------
    >>> choice = WindowChoice(Window(3), ((Window(1), 0.9), (Window(3), 0.8)), "rmse")
    >>> choice.best.length
    3
    """

    best: Window
    tried: tuple[tuple[Window, float], ...]
    metric: str

    def described(self) -> dict[str, float]:
        """Return the values by what people call the windows.

        Examples
        --------
        >>> WindowChoice(Window(3), ((Window(1), 0.9), (Window(3), 0.8), (Window(5, 5.0), 0.85)), "rmse").described()
        {'1': 0.9, '3': 0.8, '5s': 0.85}
        """
        return {
            f"{window.length}" if window.seconds is None else f"{window.seconds:g}s": value
            for window, value in self.tried
        }


def choose_window(
    flt: SequentialFilter,
    states: Any,
    observations: Any,
    lengths: Iterable[int | Window],
    groups: Any = None,
    *,
    controls: Any = None,
    times: Any = None,
    metric: Any = "rmse",
    random_state: Any = 0,
    **further: Any,
) -> WindowChoice:
    """Try windows of several lengths, with the settings of a filter as they are, and say which is the best.

    Every window is judged on the same held-out steps with the same random numbers, as the first trial of
    :func:`kmcf.tune`; tune the settings afterwards, with the window chosen.

    Parameters
    ----------
    flt : filter
        Any filter of this package, fitted or not; it is not changed.
    states, observations : arrays
        The examples, in order of time; observations one by one, not yet windows.
    lengths : sequence of int or Window
        What to try; 1 takes observations one by one.
    groups, controls, times, metric, random_state, **further
        As for :func:`kmcf.tune`. Windows stay inside their groups.

    Examples
    --------
    >>> import kmcf
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> states = np.cumsum(0.1 * rng.normal(size=120))
    >>> observations = states + rng.normal(size=120)  # much noise, slow motion: one observation says little
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.5))
    >>> choice = kmcf.tuning.choose_window(flt, states, observations, [1, 8])
    >>> choice.best.length
    8
    """
    candidates = [one if isinstance(one, Window) else Window(one) for one in lengths]
    if not candidates:
        raise ValueError("there are no windows to choose from.")
    _check_lengths(candidates, groups, observations)
    tried, name = [], ""
    for window in candidates:
        stacked = windows(observations, window, groups, times=times)
        result = tune(
            flt,
            states,
            stacked,
            controls,
            groups,
            times=times,
            metric=metric,
            random_state=random_state,
            n_trials=1,
            n_best=1,
            transfer=False,
            **further,
        )
        tried.append((window, float(result.untuned_value)))
        name = result.metric
    best = min(tried, key=lambda one: math.inf if math.isnan(one[1]) else one[1])[0]
    return WindowChoice(best, tuple(tried), name)


def _check_lengths(candidates: list[Window], groups: Any, observations: Any) -> None:
    """Refuse windows that are longer than every sequence: they would hold nothing but copies."""
    longest = len(observations) if groups is None else max(Counter(np.asarray(groups).tolist()).values(), default=0)
    for window in candidates:
        if window.length > longest:
            raise ValueError(
                f"a window of {window.length} observations is longer than the longest sequence, which has {longest}."
            )
