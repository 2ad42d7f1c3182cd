"""The results of tuning in files: the filter, its settings, all trials."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kmcf.datasets.recording import Recording
from kmcf.datasets.tables import columns_of
from kmcf.datasets.windowing import Window
from kmcf.datasets.writing import write_rows
from kmcf.store.files import save
from kmcf.support.plain_json import without_nan, write_json
from kmcf.tuning import TuningResult, WindowChoice


def save_tuning(
    result: TuningResult,
    folder: str | os.PathLike[str],
    recordings: Sequence[Recording],
    *,
    window: Window | None = None,
    choice: WindowChoice | None = None,
) -> dict[str, Any]:
    """Write ``model.kmcf`` (the best filter), ``settings.json`` and ``trials.csv`` into a folder.

    Parameters
    ----------
    result : TuningResult
        What :func:`kmcf.tune` returned.
    folder : path
        Created if it does not exist.
    recordings : list of Recording
        What was tuned on, as :func:`kmcf.datasets.read_tables` returns it; the model file notes their columns.
    window : Window, optional
        The window of which their observations consist; the model file notes it.
    choice : WindowChoice, optional
        How the window was chosen; ``settings.json`` says what each scored.

    Returns
    -------
    dict
        What ``settings.json`` says.

    Examples
    --------
    >>> import tempfile
    >>> import kmcf
    >>> folder = Path(tempfile.mkdtemp())
    >>> kmcf.datasets.write_table(kmcf.datasets.ble_tracks()[:2], folder / "walks.csv")
    >>> columns = {"state": ["x", "y"], "observation": "0*", "time": "time", "sequence": "sequence"}
    >>> tracks = kmcf.datasets.read_tables(folder / "walks.csv", **columns)
    >>> states, observations = kmcf.datasets.examples(tracks)
    >>> walk = kmcf.transitions.GaussianRandomWalk().fit(tracks)
    >>> flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kmcf.kernels.Gaussian(), n_particles=20)
    >>> result = kmcf.tune(flt, states, observations, n_trials=1, folds=2, random_state=0)
    >>> summary = save_tuning(result, folder / "tuned", tracks)
    >>> sorted(file.name for file in (folder / "tuned").iterdir())
    ['model.kmcf', 'settings.json', 'trials.csv']
    """
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    summary = without_nan(
        {
            "filter": type(result.best_filter).__name__,
            "transition": repr(result.best_filter.transition),
            "examples": sum(len(recording) for recording in recordings),
            "trials": len(result.trials),
            "metric": result.metric,
            "best_trial_value": result.best_value,
            "untuned_value": result.untuned_value,
            **({} if window is None else {"window": window.described()}),
            **({} if choice is None else {"windows_tried": choice.described()}),
            "settings": result.best_params,
        }
    )
    notes = {"columns": columns_of(recordings), **({} if window is None else {"window": window.described()})}
    save(result.best_filter, out / "model.kmcf", notes=notes)
    write_json(out / "settings.json", summary)
    write_rows(out / "trials.csv", list(result.rows[0]), (row.values() for row in result.rows))
    return dict(summary)
