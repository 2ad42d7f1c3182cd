"""Writing HTML and SVG as strings: everything that comes from outside is escaped here and nowhere else."""

from __future__ import annotations

import html
import json
from typing import Any

# Elements without content, of HTML and of SVG.
_EMPTY = {"img", "input", "meta", "link", "br", "circle", "path", "line", "rect", "ellipse"}


def text(value: object) -> str:
    """Escape a text, so that a browser shows it as it is.

    Examples
    --------
    >>> text("a < b & 'c'")
    'a &lt; b &amp; &#x27;c&#x27;'
    """
    return html.escape(str(value), quote=True)


def element(name: str, /, *children: str, **attributes: object) -> str:
    """Write an element around children that are already markup.

    In the names of attributes a trailing underscore is dropped and the others become hyphens. An attribute that is None
    or False is left out; True stands alone.

    Examples
    --------
    >>> element("p", text("1 < 2"), class_="note", data_series=3, hidden=True, title=None)
    '<p class="note" data-series="3" hidden>1 &lt; 2</p>'
    >>> element("circle", cx="1", r="2")
    '<circle cx="1" r="2"/>'
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{written}/>" if name in _EMPTY else f"<{name}{written}>{''.join(children)}</{name}>"


def data_script(data: Any, **attributes: object) -> str:
    r"""Embed data as JSON that no text inside it can break out of.

    Examples
    --------
    >>> data_script({"name": "</script>"})
    '<script type="application/json">{"name":"\\u003c/script\\u003e"}</script>'
    """
    compact = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        compact = compact.replace(character, f"\\u{ord(character):04x}")
    return element("script", compact, type="application/json", **attributes)
