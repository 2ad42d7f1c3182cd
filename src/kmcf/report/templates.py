"""The page's templates, filled by Jinja2, which escapes everything that is not markup already."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from kmcf.support.extras import require


def fill(template: str, **values: Any) -> str:
    """Fill a template of the folder ``assets``.

    Examples
    --------
    >>> fill("text.html", name="t", paragraphs=[[("a < b", False), ("x", True)]])
    '<div class="text" id="t"><p>a &lt; b<code>x</code></p></div>'
    """
    return str(_environment().get_template(template).render(**values))


def asset(name: str) -> str:
    """Return the text of a file of the folder ``assets``."""
    return (files("kmcf.report") / "assets" / name).read_text(encoding="utf-8")


def embedded(data: Any) -> Any:
    r"""Write data as JSON for a script element; no text inside it can break out.

    Examples
    --------
    >>> str(embedded({"name": "</script>"}))
    '{"name":"\\u003c/script\\u003e"}'
    """
    compact = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        compact = compact.replace(character, f"\\u{ord(character):04x}")
    return markup(compact)


def markup(words: str) -> Any:
    """Mark what is markup already, so that a template leaves it as it is."""
    return require("markupsafe", "report").Markup(words)


@cache
def _environment() -> Any:
    jinja = require("jinja2", "report")
    settings = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": jinja.StrictUndefined}
    return jinja.Environment(loader=jinja.FunctionLoader(asset), **settings)
