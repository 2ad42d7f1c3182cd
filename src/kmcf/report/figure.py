"""The box around every drawing: heading, legend, notes, numbers, and the drawing's data for BokehJS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kmcf.report.canvas import Canvas
from kmcf.report.templates import embedded, fill, markup


def figure(
    name: str,
    title: str,
    canvas: Canvas,
    description: str,
    *,
    caption: str = "",
    notes: Sequence[str] = (),
    numbers: str = "",
    player: Mapping[str, Any] | None = None,
    kind: str = "chart",
) -> str:
    """Put a drawing into a figure.

    Parameters
    ----------
    name : str
        Its id in the page.
    title : str
        Its heading.
    canvas : Canvas
        The drawing; a legend is written if it has more than one entry.
    description : str
        What is to be seen, for those who cannot see it.
    caption, notes : str, sequence of str
        Explanation, and what could not be shown.
    numbers : str
        A table of the values, folded away.
    player : mapping, optional
        Frames to play, and ``milliseconds`` for each.
    kind : str
        Class of the figure.
    """
    data = {"item": canvas.item()} | ({} if player is None else {"player": player})
    return fill(
        "figure.html",
        name=name,
        title=title,
        kind=kind,
        description=description,
        legend=canvas.entries if len(canvas.entries) > 1 else [],
        notes=notes,
        caption=caption,
        numbers=markup(numbers),
        frames=[] if player is None else player["frames"],
        data=embedded(data),
    )
