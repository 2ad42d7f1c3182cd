"""The files that the study of engines writes: a table as JSON, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.support.extras import require
from kmcf.support.plain_json import write_json
from kmcf_lab.bench.engines import DELTA, EPSILON, PARTICLES, EngineRow
from kmcf_lab.versions import versions

COLORS = ("#222222", "#7f7f7f", "#d9822b", "#1f5fa8", "#6fa8dc", "#2f8f5b", "#8e5ba6", "#c8372d")
MARKERS = "osD^vP*X"


def save_engines(rows: Sequence[EngineRow], folder: Path, command: str) -> list[Path]:
    """Write the rows as JSON (with versions and the command) and a figure; return the files."""
    data = folder / "bench.json"
    about = {
        "command": command,
        **versions(),
        "settings": {"epsilon": EPSILON, "delta": DELTA, "particles": PARTICLES, "threads": 1},
    }
    write_json(data, {"about": about, "rows": [asdict(row) for row in rows]})
    return [data, draw_engines(rows, folder / "bench.png")]


def draw_engines(rows: Sequence[EngineRow], path: Path) -> Path:
    """Draw time per step and the difference to literal over n, a row of panels per model."""
    require("matplotlib", "plot").use("agg")
    pyplot = require("matplotlib.pyplot", "plot")
    models = list(dict.fromkeys(row.model for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    figure, axes = pyplot.subplots(len(models), 2, figsize=(11, 4.2 * len(models)), squeeze=False)
    for (left, right), model in zip(axes, models, strict=True):
        for k, method in enumerate(methods):
            chosen = [row for row in rows if row.model == model and row.method == method]
            style: dict[str, Any] = {
                "color": COLORS[k % 8],
                "marker": MARKERS[k % 8],
                "markersize": 5,
                "linewidth": 1.2,
            }
            left.loglog([row.n for row in chosen], [row.milliseconds for row in chosen], label=method, **style)
            known = [row for row in chosen if np.isfinite(row.difference_in_sd) and row.difference_in_sd > 0]
            if method != "literal" and known:
                right.loglog([row.n for row in known], [row.difference_in_sd for row in known], label=method, **style)
        left.set(title=f"model {model}: time per step", xlabel="number of examples n", ylabel="milliseconds per step")
        right.set(
            title=f"model {model}: difference to literal",
            xlabel="number of examples n",
            ylabel="median difference of means / posterior sd",
        )
        right.axhline(1e-2, color="#999999", linewidth=0.8, linestyle="--")
        for ax in (left, right):
            ax.grid(alpha=0.25, which="both", linewidth=0.5)
    figure.tight_layout(rect=(0, 0.09 / len(models), 1, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncols=4, fontsize="small", frameon=False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return path
