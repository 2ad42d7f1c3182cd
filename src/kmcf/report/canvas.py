"""The empty figure of Bokeh on which charts, maps and the live page draw, and the legend that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kmcf.support.extras import require

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8528c", "#c98a00", "#3a93cf", "#6a4fb3", "#444c58")
"""Okabe and Ito's, which colour-blind readers can tell apart, darkened where contrast needs it; the last is grey."""
MARKERS = {"circle": "●", "square": "■", "diamond": "◆", "triangle": "▲", "inverted_triangle": "▼"}
"""Markers, so that series are told apart without colours, and how the legend writes them."""
WALL, FAINT, INK = "#4a5563", "#5b6675", "#1c2430"


def blank(x: str, y: str, *, height: int | None = None, tools: str = "", **more: Any) -> Any:
    """Return an empty figure with titles at its axes.

    Parameters
    ----------
    x, y : str
        The titles, shown as they are written.
    height : int, optional
        In pixels, at any width. None: as ``aspect_ratio`` says.
    tools : str
        Names of tools beside zooming and saving.
    **more
        Settings of Bokeh's figure.

    Examples
    --------
    >>> blank("time", "$$ per day", height=300).yaxis.axis_label.text
    '$$ per day'
    """
    plotting, models = require("bokeh.plotting", "report"), require("bokeh.models", "report")
    sizing = {"sizing_mode": "scale_width"} if height is None else {"sizing_mode": "stretch_width", "height": height}
    figure = plotting.figure(
        # Plain text, or two dollar signs would be taken for mathematics, and its fonts be looked for elsewhere.
        x_axis_label=models.PlainText(text=x) if x else None,
        y_axis_label=models.PlainText(text=y) if y else None,
        tools=f"{tools}box_zoom,wheel_zoom,reset,save",
        output_backend="canvas",
        min_border=4,
        **sizing,
        **more,
    )
    figure.toolbar.logo = None
    figure.toolbar.autohide = True
    figure.grid.grid_line_alpha = 0.4
    figure.outline_line_color = "#c6cbd2"
    return figure


class Entry(NamedTuple):
    """A line of the legend: what to write, and the models of Bokeh that pressing it shows or hides."""

    name: str
    sign: str
    colour: str
    models: tuple[str, ...]


@dataclass
class Canvas:
    """A figure of Bokeh for a report, and its legend as the page writes it: readable and pressed by keys, too."""

    plot: Any
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        plot = self.plot
        # On a phone a finger that moves over a chart scrolls the page.
        plot.toolbar.active_drag = None
        plot.toolbar_location = "above"  # at the side it would take width from a phone
        plot.background_fill_alpha = plot.border_fill_alpha = 0.0
        plot.axis.axis_label_text_font_style = "normal"
        plot.axis.axis_label_text_color = INK
        plot.axis.major_label_text_color = FAINT
        plot.axis.axis_label_text_font_size = plot.axis.major_label_text_font_size = "12px"
        plot.axis.major_label_policy = require("bokeh.models", "report").NoOverlap()
        plot.axis.minor_tick_line_color = None

    def name(self, name: str, sign: str, colour: str, *models: Any) -> None:
        """Give the legend an entry."""
        self.entries.append(Entry(name, sign, colour, tuple(model.id for model in models)))

    def tell(self, name: str, renderer: Any, tooltips: list[tuple[str, str]], formatters: dict[str, str]) -> None:
        """Show a name and values where something is pointed at: those of the nearest point only."""
        renderer.name = name
        tooltips = [("", "$name"), *tooltips]
        told = {"renderers": [renderer], "tooltips": tooltips, "formatters": formatters, "limit": 1, "visible": False}
        self.plot.add_tools(require("bokeh.models", "report").HoverTool(**told))

    def item(self) -> dict[str, Any]:
        """Return what BokehJS needs to draw the figure."""
        document = require("bokeh.document", "report").Document()
        document.add_root(self.plot)
        return {"root_id": self.plot.id, "doc": document.to_json(deferred=False)}


def source(**columns: Any) -> Any:
    """Return a data source with these columns."""
    return require("bokeh.models", "report").ColumnDataSource(data=columns)
