"""What a figure of a report draws, read back from its markup by Bokeh itself."""

import json

import numpy as np
from bokeh.document import Document
from bokeh.models import HoverTool
from markup_reader import read


def data(markup):
    """What the page's script is given."""
    return json.loads(next(words for words in read(markup).words if words.startswith('{"item"')))


def plot(markup):
    """The figure, as Bokeh reads it."""
    return Document.from_json(data(markup)["item"]["doc"]).roots[0]


def setting(renderer, name):
    """A setting of what a renderer draws that is the same for all its marks."""
    given = getattr(renderer.glyph, name)
    return getattr(given, "value", given)


def glyphs(figure, kind):
    """The renderers of all visible glyphs of a kind, by its name in Bokeh."""
    found = [one for one in figure.renderers if type(one.glyph).__name__ == kind]
    return [one for one in found if kind != "Scatter" or setting(one, "fill_alpha") != 0.0]


def hovers(figure):
    """The name and the lines of every tooltip, in the order in which series are drawn."""
    return [(tool.renderers[0].name, tool.tooltips) for tool in figure.toolbar.tools if isinstance(tool, HoverTool)]


def columns(renderer, *names):
    """Columns of what a renderer draws."""
    return tuple(np.asarray(renderer.data_source.data[name]) for name in names)
