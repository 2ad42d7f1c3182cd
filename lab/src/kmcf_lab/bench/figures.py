"""The figure of the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kmcf.support.extras import require

if TYPE_CHECKING:
    from kmcf_lab.bench.engines import Row

COLORS = ("#222222", "#7f7f7f", "#d9822b", "#1f5fa8", "#6fa8dc", "#2f8f5b", "#8e5ba6", "#c8372d")
MARKERS = "osD^vP*X"


def draw_bench(rows: Sequence[Row], path: Path) -> Path:
    """Draw time per step over n, and the difference to literal over n, a row of panels per model."""
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
