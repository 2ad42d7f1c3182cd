"""The page: one file that needs nothing else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmcf.report.blocks import Text
from kmcf.report.content import Content
from kmcf.report.markdown import markdown
from kmcf.report.templates import asset, fill, markup
from kmcf.support.atomic import write_atomically
from kmcf.support.extras import require

_SCRIPTS = ("figures.js", "walking.js", "sorting.js", "player.js")
# Nothing may be loaded from anywhere: a report opened in a hundred years shows what it shows today.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Report(Content):
    """A self-contained HTML page.

    Parameters
    ----------
    title : str
        What it is about.
    command : str
        The command that made it.
    sections : sequence of Section
        Its content.
    summary : str
        What a hurried reader should know, in the form of :class:`Text`.
    versions : mapping
        Names and versions of the software that computed it, and anything else needed to repeat it.
    date : datetime
        When it was made.

    Examples
    --------
    >>> from kmcf.report import Section
    >>> report = Report("Trial", "kmcf demo", [Section("First", [Text("Nothing yet.")])])
    >>> page = report.html()
    >>> page.startswith("<!doctype html>"), "<h1>Trial</h1>" in page
    (True, True)
    """

    def html(self) -> str:
        """Return the page."""
        names = _names([section.title for section in self.sections])
        sections = [
            {
                "name": name,
                "title": one.title,
                "blocks": [markup(b.html(f"{name}--{k}")) for k, b in enumerate(one.blocks, 1)],
            }
            for one, name in zip(self.sections, names, strict=True)
        ]
        drawn = any('<script type="application/json">' in block for one in sections for block in one["blocks"])
        page = fill(
            "page.html",
            report=self,
            policy=_POLICY,
            style=markup(asset("page.css")),
            date=self.date.strftime("%Y-%m-%d %H:%M %Z").strip(),
            summary=markup(Text(self.summary).html("summary") if self.summary else ""),
            sections=sections,
            bokeh=markup(_bokeh() if drawn else ""),
            script=markup("\n".join(asset(script) for script in _SCRIPTS)),
        )
        return page + "\n"

    def write(self, path: Path | str) -> Path:
        """Write the page to a file, whole or not at all."""
        return write_atomically(Path(path), self.html())

    def write_markdown(self, path: Path | str, pictures: Sequence[Path] = ()) -> Path:
        """Write texts, tables and statements as Markdown, with pictures from the same folder in place of charts."""
        return write_atomically(Path(path), markdown(self, pictures))


def _names(titles: Sequence[str]) -> list[str]:
    """Make ids that can be linked to, all different.

    Examples
    --------
    >>> _names(["Section 6.1: errors", "Section 6.1: errors", "?"])
    ['section-6-1-errors', 'section-6-1-errors-2', 'part']
    """
    found: list[str] = []
    for title in titles:
        stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "part"
        numbered = (stem if count == 1 else f"{stem}-{count}" for count in itertools.count(1))
        found.append(next(name for name in numbered if name not in (*found, "content", "summary")))
    return found


def _bokeh() -> str:
    """Return the library that draws, whole, so that nothing needs to be loaded."""
    resources = require("bokeh.resources", "report")
    return "\n".join(resources.Resources(mode="inline", components=["bokeh"], minified=True).js_raw)
