"""The pages of docs/results: a marker above each table says what it is made from."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .by_hand import BY_HAND
from .rendering import Table
from .reports import REPORTS, RESULTS

PAGES = sorted(RESULTS.rglob("*.md"))
TABLE = re.compile(r"^(?P<before>.*)\n(?P<table>(?:\|.*\n)+)", flags=re.MULTILINE)
SHORT = re.compile(r"^<!-- in short: (?P<name>.+) -->\n(?P<words>(?:.+\n)*)", flags=re.MULTILINE)
MARKER = re.compile(r"<!-- (.+) -->")


def rewritten(page: Path, tables: Sequence[Table], paragraphs: Mapping[str, str]) -> str:
    """Return the text of a page with all its tables, and what it says in short, made anew.

    Raises
    ------
    ValueError
        If a table has no marker, or one that nobody knows.
    """
    if page in REPORTS:
        return REPORTS[page](page.read_text())
    known = {table.name: table for table in tables}

    def written(match: re.Match[str]) -> str:
        name = marker(match, page)
        if name in BY_HAND:
            return match[0]
        if name not in known:
            raise ValueError(f"{page.name}: nothing says how to write the table {name!r}; describe it in tools/results")
        return f"{match['before']}\n{known[name].render(RESULTS)}"

    text = SHORT.sub(
        lambda match: f"<!-- in short: {match['name']} -->\n{paragraphs[match['name']]}\n", page.read_text()
    )
    return TABLE.sub(written, text)


def marker(match: re.Match[str], page: Path) -> str:
    """Return the name of a table."""
    found = MARKER.fullmatch(match["before"])
    if not found:
        heading = match["table"].splitlines()[0]
        raise ValueError(f"{page.name}: the table {heading!r} has no marker <!-- name --> in the line above it")
    return found[1]


def names(page: Path) -> list[str]:
    """Return the names of all tables of a page, but of one that another program writes."""
    if page in REPORTS:
        return []
    return [marker(match, page) for match in TABLE.finditer(page.read_text())]
