"""A report as Markdown: its texts, tables and statements, for places that show no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kmcf.report.blocks import Block, SideBySide, Statement, Statements, Text
from kmcf.report.content import Content
from kmcf.report.numbers import shown
from kmcf.report.table import Table, TableEntry


def markdown(report: Content, pictures: Sequence[Path] = ()) -> str:
    """Return the report without what only a page can show: charts, maps, players.

    Parameters
    ----------
    report : Content
        What to write.
    pictures : sequence of Path
        Files in the same folder, shown at the end in place of the charts.

    Examples
    --------
    >>> from kmcf.report import Report, Section
    >>> table = Table(["model", "error"], [["1a", 0.5]], "Errors.")
    >>> print(markdown(Report("Trial", "kmcf demo", [Section("First", [table])])).split("## ")[1])
    First
    <BLANKLINE>
    Errors.
    <BLANKLINE>
    | model | error |
    |---|---|
    | 1a | 0.5 |
    <BLANKLINE>
    """
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    about = ", ".join(part for part in (f"{report.date:%Y-%m-%d}", versions) if part)
    parts = [f"# {report.title}", f"    {report.command}", f"{about}.", report.summary]
    for section in report.sections:
        written = [text for block in section.blocks for text in _written(block)]
        parts += [f"## {section.title}", *written] if written else []
    if pictures:
        parts += ["## Figures", *(f"![{path.stem.replace('-', ' ')}]({path.name})" for path in pictures)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _written(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield block.words
    elif isinstance(block, Table):
        if block.caption:
            yield block.caption
        yield _table(block.columns, block.rows)
    elif isinstance(block, Statements):
        yield _table(["verdict", "statement", "numbers"], [_row(one) for one in block.statements])
    elif isinstance(block, SideBySide):
        for one in block.blocks:
            yield from _written(one)


def _row(statement: Statement) -> list[TableEntry]:
    return [statement.verdict.value, statement.claim, statement.numbers]


def _table(columns: Sequence[str], rows: Sequence[Sequence[TableEntry]]) -> str:
    lines = [list(columns), ["---"] * len(columns), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("|---" * len(line) + "|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: TableEntry) -> str:
    if cell is None:
        return ""
    words = shown(cell) if isinstance(cell, float) else str(cell)
    return words.replace("|", "\\|")
