"""Formulas as drawings inside the page: no script, no font and no network is needed.

Matplotlib sets them, and their outlines become SVG. What it cannot set (aligned lines, cases) becomes MathML, which
browsers draw with what mathematical fonts they find.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

import matplotlib as mpl
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from sphinx.application import Sphinx

UNIT = 100.0  # font size in which outlines are computed
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
SIMPLER = [
    (r"\\[bB]igl", r"\\left"),
    (r"\\[bB]igr", r"\\right"),
    (r"\\!", ""),
    (r"\\([lg]e)(?![a-z])", r"\\\1q"),
    (r"\s+", " "),
]
"""What Matplotlib does not know, and what stands for it."""


def drawn(formula: str) -> str:
    """Return a formula as SVG in the colour and size of the text around it; ValueError if it cannot be drawn.

    Examples
    --------
    >>> drawn("x^2").startswith('<svg class="formula" role="img" aria-label="x^2"')
    True
    """
    simpler = formula.strip()
    for pattern, instead in SIMPLER:
        simpler = re.sub(pattern, instead, simpler)
    if re.search(r"\\begin|\\\\|&", simpler):
        raise ValueError(f"{formula} has several lines.")
    with mpl.rc_context({"mathtext.fontset": "cm"}):
        path = TextPath((0.0, 0.0), f"${simpler}$", size=UNIT)
    box = path.get_extents()
    outline = " ".join(
        LETTERS[code] + " ".join(f"{value:.0f}" for value in points * ([1.0, -1.0] * (len(points) // 2)))
        if code != Path.CLOSEPOLY
        else "Z"
        for points, code in path.iter_segments(simplify=False, curves=True)
    )
    left, top, width, height = box.x0 - 2, -box.y1 - 2, box.width + 4, box.height + 4
    style = f"width:{width / UNIT:.3f}em;height:{height / UNIT:.3f}em;vertical-align:{(box.y0 - 2) / UNIT:.3f}em"
    return (
        f'<svg class="formula" role="img" aria-label="{escape(formula.strip())}" style="{style}" '
        f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}"><path fill="currentColor" d="{outline}"/></svg>'
    )


def shown(formula: str, *, block: bool) -> str:
    """Return what a page shows for a formula."""
    try:
        return drawn(formula)
    except ValueError:
        return str(tex2mathml(formula, as_block=block))


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(shown(node.astext(), block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math" style="text-align:center">{shown(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("local_formulas", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
