"""Figures by Bokeh for pages that are looked at and pages that change: a map, an axis, strips over time.

Every layer has a data source with a name; a page finds it by that name and gives it new data. Colours are told apart
without colour vision, and shapes differ where colours matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kmcf.report.canvas import blank
from kmcf.support.extras import require

BLUE, ORANGE, GREEN, GREY, RED, BLACK = "#0072b2", "#d55e00", "#009e73", "#8a8f98", "#b3261e", "#1c1f24"
YELLOW = "#f0e442"

START = {"x": [0.0, 1.0], "y": [0.0, 0.0]}
"""What a chart shows before it is given data: without any, it could not choose its ranges."""


class Picture(NamedTuple):
    """A background: an image and where its corners are, in units of the state."""

    url: str
    left: float
    bottom: float
    right: float
    top: float


def map_figure(names: Sequence[str], examples: Mapping[str, Sequence[float]], background: Picture | None = None) -> Any:
    """Return the map of a plane: examples, weights, particles, herded points, paths, region, estimate, truth.

    Parameters
    ----------
    names : two str
        What the axes are called.
    examples : mapping
        ``x`` and ``y`` of example states, drawn faintly.
    background : Picture, optional
        A floor plan.
    """
    figure = _figure(names[0], names[1], "Map", 560, match_aspect=True)
    if background is not None:
        where = {"x": background.left, "y": background.top, "anchor": "top_left"}
        size = {"w": background.right - background.left, "h": background.top - background.bottom}
        figure.image_url(url=[background.url], **where, **size, level="image", global_alpha=0.75)
    dots = _source("examples", dict(examples))
    figure.scatter("x", "y", source=dots, size=4, color=GREY, alpha=0.5, legend_label="examples")
    region = _source("region", {"x": [], "y": []})
    figure.patch("x", "y", source=region, color=BLUE, alpha=0.13, line_alpha=0.7, legend_label="95 % region")
    add_belief(figure)
    return _with_legend(figure)


def add_belief(figure: Any) -> None:
    """Add the layers of a belief in the plane: particles, weights, herded points, paths, truth, estimate."""
    figure.scatter("x", "y", source=_source("particles"), size=4, color=GREEN, alpha=0.5, legend_label="predicted")
    _weights(figure)
    herded = _source("herded")
    figure.scatter("x", "y", source=herded, marker="x", size=7, color=BLACK, alpha=0.7, legend_label="herded")
    dotted = {"line_dash": "dotted", "line_width": 2}
    figure.line("x", "y", source=_source("truth_path"), color=BLACK, **dotted, legend_label="truth")
    figure.line("x", "y", source=_source("path"), color=BLACK, line_width=1.5, legend_label="estimate")
    figure.scatter("x", "y", source=_source("truth"), marker="star", size=18, color=BLACK, fill_color="white")
    figure.scatter("x", "y", source=_source("estimate"), marker="diamond", size=18, color=BLACK, fill_color=YELLOW)


def axis_figure(name: str, examples: Mapping[str, Sequence[float]]) -> Any:
    """Return the picture of a belief on one axis: weights as stems over the example states."""
    figure = _figure(name, "weight", "Belief", 300)
    region = _source("region", {"left": [], "right": [], "low": [], "high": []})
    box = {"left": "left", "right": "right", "bottom": "low", "top": "high", "level": "underlay"}
    figure.quad(**box, source=region, color=BLUE, alpha=0.12, legend_label="95 % interval")
    dots = _source("examples", dict(examples))
    figure.scatter("x", "y", source=dots, marker="dash", angle=1.5708, size=8, color=GREY, alpha=0.5,
                   legend_label="examples")  # fmt: skip
    for sign, colour in (("positive", BLUE), ("negative", ORANGE)):
        figure.segment("x", 0, "x", "y", source=_source(f"{sign}_stems"), color=colour, line_width=1.5, alpha=0.6)
    figure.scatter("x", "y", source=_source("particles"), size=4, color=GREEN, alpha=0.5, legend_label="predicted")
    _weights(figure)
    figure.scatter("x", "y", source=_source("herded"), marker="x", size=7, color=BLACK, legend_label="herded")
    for source, colour, dash, label in (("estimate", BLUE, "solid", "estimate"), ("truth", BLACK, "dotted", "truth")):
        line = {"color": colour, "line_dash": dash, "line_width": 2.5, "legend_label": label}
        figure.segment("x", "low", "x", "high", source=_source(source, {"x": [], "low": [], "high": []}), **line)
    return _with_legend(figure)


def path_figure(name: str) -> Any:
    """Return one coordinate of the state over time, with its interval and the truth."""
    figure = _figure("step", name, "Path", 240)
    band = _source("band", {"x": [], "lower": [], "upper": []})
    figure.varea("x", "lower", "upper", source=band, color=BLUE, alpha=0.15, legend_label="95 % interval")
    figure.line("x", "y", source=_source("path", START), color=BLUE, line_width=2, legend_label="estimate")
    figure.line("x", "y", source=_source("truth_path"), color=BLACK, line_dash="dotted", legend_label="truth")
    return _with_legend(figure)


def strip_figure(what: str, title: str, *, low: float | None = None, high: float | None = None) -> Any:
    """Return a thin chart of one number over time; steps that raised an alarm are marked."""
    figure = _figure("", "", title, 110)
    figure.toolbar_location = None
    figure.yaxis.ticker.desired_num_ticks = 3
    figure.axis.minor_tick_line_color = None
    figure.line("x", "y", source=_source(what, START), color=BLUE, line_width=1.6)
    figure.scatter("x", "y", source=_source(f"{what}_alarms"), marker="triangle", size=7, color=RED)
    if low is not None:
        figure.y_range.start = low
    if high is not None:
        figure.y_range.end = high
    return figure


def _weights(figure: Any) -> None:
    """Add the weights: filled circles where positive, open triangles where negative, larger where heavier."""
    for sign, colour, marker, fill in (("positive", BLUE, "circle", 0.6), ("negative", ORANGE, "inverted_triangle", 0)):
        source = _source(sign, {"x": [], "y": [], "size": []})
        style = {"marker": marker, "color": colour, "fill_alpha": fill, "line_alpha": 0.9}
        figure.scatter("x", "y", source=source, size="size", legend_label=f"{sign} weight", **style)


def _figure(x: str, y: str, title: str, height: int, **more: Any) -> Any:
    return blank(x, y, height=height, tools="pan,", title=title, **more)


def _source(name: str, data: Mapping[str, Any] | None = None) -> Any:
    models = require("bokeh.models", "report")
    return models.ColumnDataSource(data={"x": [], "y": []} if data is None else dict(data), name=name)


def _with_legend(figure: Any) -> Any:
    """Put the legend below the figure, narrow enough for a phone; pressing an entry hides its layer."""
    legend = figure.legend[0]
    figure.add_layout(legend, "below")
    legend.location = "bottom_left"
    legend.update(
        orientation="horizontal", ncols=2, click_policy="hide", label_text_font_size="11px", border_line_alpha=0
    )
    legend.update(spacing=2, padding=2, margin=2, glyph_height=14, glyph_width=14)
    return figure
