"""The page: one file that needs nothing else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from kmcf.report.blocks import Text
from kmcf.report.content import Content, Section
from kmcf.report.markdown import markdown
from kmcf.report.markup import element, text
from kmcf.support.atomic import write_atomically

_SCRIPTS = ("legend.js", "tooltip.js", "sorting.js", "player.js")
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
    >>> report = Report("Trial", "kmcf demo", [Section("First", [Text("Nothing yet.")])])
    >>> page = report.html()
    >>> page.startswith("<!doctype html>"), "<h1>Trial</h1>" in page
    (True, True)
    """

    def html(self) -> str:
        """Return the page."""
        names = _names([section.title for section in self.sections])
        body = element(
            "body",
            element("a", "Skip to the content", href="#content", class_="skip"),
            self._header(),
            element("div", _contents(self.sections, names), self._main(names), class_="layout"),
            element("script", "\n".join(_asset(script) for script in _SCRIPTS)),
        )
        return "<!doctype html>\n" + element("html", self._head(), body, lang="en") + "\n"

    def write(self, path: Path | str) -> Path:
        """Write the page to a file, whole or not at all."""
        return write_atomically(Path(path), self.html())

    def write_markdown(self, path: Path | str, pictures: Sequence[Path] = ()) -> Path:
        """Write texts, tables and statements as Markdown, with pictures from the same folder in place of charts."""
        return write_atomically(Path(path), markdown(self, pictures))

    def _head(self) -> str:
        return element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", text(self.title)),
            element("link", rel="icon", href="data:,"),
            element("style", _asset("page.css")),
        )

    def _header(self) -> str:
        moment = element("time", text(self.date.strftime("%Y-%m-%d %H:%M %Z").strip()), datetime=self.date.isoformat())
        versions = [element("li", text(f"{name} {version}")) for name, version in self.versions.items()]
        return element(
            "header",
            element("h1", text(self.title)),
            element("p", moment, class_="date"),
            element("pre", element("code", text(self.command)), class_="command", tabindex=0, aria_label="Command"),
            element("ul", *versions, class_="versions") if versions else "",
        )

    def _main(self, names: Sequence[str]) -> str:
        summary = Text(self.summary).html("summary") if self.summary else ""
        written = []
        for section, name in zip(self.sections, names, strict=True):
            blocks = [block.html(f"{name}--{k}") for k, block in enumerate(section.blocks, 1)]
            heading = element("h2", text(section.title), id=f"{name}--title")
            written.append(element("section", heading, *blocks, id=name, aria_labelledby=f"{name}--title"))
        return element("main", summary, *written, id="content")


def _contents(sections: Sequence[Section], names: Sequence[str]) -> str:
    links = [
        element("li", element("a", text(section.title), href=f"#{name}"))
        for section, name in zip(sections, names, strict=True)
    ]
    return element("nav", element("ol", *links), aria_label="Contents") if len(links) > 1 else ""


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


def _asset(name: str) -> str:
    return (files("kmcf.report") / "assets" / name).read_text(encoding="utf-8")
