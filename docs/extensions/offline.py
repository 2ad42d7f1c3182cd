"""Check that a built site loads nothing from elsewhere: `python offline.py FOLDER`.

Links that a reader may follow are fine. Scripts, styles, fonts, images and frames must lie beside the pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ABROAD = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)


class _Loaded(HTMLParser):
    """Collects what a browser fetches for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note addresses that are fetched without a click."""
        given = dict(attrs)
        names = {"link": ("href",), "a": (), "base": ("href",)}.get(tag, ("src", "srcset", "data", "poster"))
        self.addresses += [given[name] or "" for name in names if name in given]


def loaded_from_elsewhere(content: str, kind: str) -> list[str]:
    """Return what a page or a style sheet (`kind` ".html" or ".css") loads from other hosts.

    Examples
    --------
    >>> loaded_from_elsewhere('<img src="https://a.example/x.png"><a href="https://b.example">b</a>', ".html")
    ['https://a.example/x.png']
    """
    found = IN_STYLES.findall(content)
    if kind == ".html":
        reader = _Loaded()
        reader.feed(content)
        found += [address for address in reader.addresses if ABROAD.match(address)]
    return found


def problems(folder: Path) -> Iterator[str]:
    """Yield a line for each thing that a site in `folder` loads from elsewhere."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".css"}:
            for address in loaded_from_elsewhere(path.read_text(encoding="utf-8"), path.suffix):
                yield f"{path.relative_to(folder)}: {address}"


def main(folder: str) -> int:
    """Print what is loaded from elsewhere; return the exit code."""
    site = Path(folder)
    if not (site / "index.html").exists():
        print(f"{folder} holds no built site: there is no index.html.")
        return 2
    found = list(problems(site))
    for line in found:
        print(f"loaded from elsewhere: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
