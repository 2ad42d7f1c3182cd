"""Figures in one style, saved as PNG and SVG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kmcf.support.atomic import write_atomically
from kmcf.support.extras import require

# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, GREY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b8528c",
    "#c98a00",
    "#3a93cf",
    "#444c58",
)
_STYLE: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "svg.hashsalt": "kmcf",
    "svg.fonttype": "none",
}


@contextmanager
def canvas(rows: int, columns: int, size: tuple[float, float], **settings: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a figure and its axes (always a two-dimensional array) in our style, without opening a window."""
    require("matplotlib", "plot").use("agg")
    pyplot = require("matplotlib.pyplot", "plot")
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **settings)
        try:
            yield figure, axes
        finally:
            pyplot.close(figure)


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, each whole or not at all."""
    # Both files get the same layout, which takes as long as drawing: compute it once.
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
    paths = []
    for kind in ("png", "svg"):
        buffer = io.BytesIO()
        # Without a date the same numbers give the same file.
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
        paths.append(write_atomically(folder / f"{name}.{kind}", buffer.getvalue()))
    return paths
