"""The box around every drawing: heading, legend, notes, numbers and the data for the page's script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmcf.report.markup import data_script, element, text


def figure(
    name: str,
    title: str,
    drawings: Sequence[str],
    legend: Sequence[tuple[str, str]],
    *,
    caption: str = "",
    notes: Sequence[str] = (),
    numbers: str = "",
    controls: str = "",
    data: Any = None,
    kind: str = "chart",
) -> str:
    """Put drawings into a figure.

    Parameters
    ----------
    name : str
        Its id in the page.
    title : str
        Its heading.
    drawings : sequence of str
        SVG elements: one, or a wide and a narrow one.
    legend : sequence of (markup, str)
        The sign and the name of each series; pressing one hides its series.
    caption, notes : str, sequence of str
        Explanation, and what could not be shown.
    numbers : str
        A table of the values, folded away.
    controls : str
        Markup between drawing and legend.
    data : anything JSON knows
        For the page's script.
    kind : str
        What the script should make of it.
    """
    parts = [element("figcaption", text(title)), element("div", *drawings, class_="canvas")]
    parts += [controls] if controls else []
    if legend:
        entries = [
            element("button", sign, text(words), type="button", aria_pressed="true", data_series=place)
            for place, (sign, words) in enumerate(legend)
        ]
        parts.append(element("div", *entries, class_="legend", role="group", aria_label="Show or hide"))
    parts += [element("p", text(note), class_="note") for note in notes]
    parts += [element("p", text(caption), class_="caption")] if caption else []
    parts += [element("details", element("summary", "Numbers"), numbers)] if numbers else []
    parts += [data_script(data)] if data is not None else []
    return element("figure", *parts, class_=kind, id=name)
