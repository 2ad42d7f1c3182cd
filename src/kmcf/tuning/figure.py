"""The picture of a study (needs the extra ``kmcf[plot]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kmcf.support.extras import require
from kmcf.tuning.space import Space
from kmcf.tuning.trials import Trial, ranked

ALL, DEFAULT, RESULT = "#1f5fa8", "#d9822b", "#2f8f5b"


def plot_trials(trials: Sequence[Trial], space: Space, found: Mapping[str, Any], metric: str, axes: Any = None) -> Any:
    """Draw the validation error of the complete trials against each parameter.

    Parameters
    ----------
    trials : sequence of Trial
        All trials.
    space : Space
        What was searched.
    found : mapping
        The settings chosen in the end, drawn as lines.
    metric : str
        Label of the values.
    axes : sequence of axes, optional
        Where to draw.
    """
    pyplot = require("matplotlib.pyplot", "plot")
    names = space.names()
    if axes is None:
        _, grid = pyplot.subplots(1, len(names), sharey=True, squeeze=False, figsize=(3.2 * len(names), 3.2))
        axes = grid[0]
    axes = np.atleast_1d(np.asarray(axes, dtype=object))
    complete = ranked(trials)
    settings = {trial.number: space.described(trial.proposal) for trial in complete}
    for ax, name in zip(axes, names, strict=True):
        shown = [trial for trial in complete if name in settings[trial.number]]
        category = space.is_category(name)
        values = [settings[trial.number][name] for trial in shown]
        ax.plot([str(v) for v in values] if category else values, [t.value for t in shown], ".", color=ALL)
        for trial, value in zip(shown, values, strict=True):
            if trial.number == 0:
                ax.plot(str(value) if category else value, trial.value, "*", color=DEFAULT, markersize=13)
        if name in found:
            ax.axvline(str(found[name]) if category else found[name], color=RESULT, linewidth=1.2)
        if not category:
            ax.set_xscale("log")
        ax.set_xlabel(name.replace("__", " "), fontsize="small")
    axes[0].set_ylabel(f"validation error ({metric})")
    axes[0].set_title("star: untuned defaults, line: result", fontsize="small", loc="left")
    return axes
