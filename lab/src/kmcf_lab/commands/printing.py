"""Tables on the terminal, in one style."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table


def new_table(title: str, columns: Sequence[str], *, left: int = 1, no_wrap: bool = False) -> Table:
    """Return a table without rows.

    Parameters
    ----------
    title : str
        Above the table.
    columns : sequence of str
        Headings.
    left : int
        The first columns are aligned left, this many of them; the others, which hold numbers, right.
    no_wrap : bool
        Never break the lines of a cell.
    """
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place < left else "right", no_wrap=no_wrap)
    return table


def unbroken(number: object) -> str:
    """Return a number with its error as one word, which no narrow terminal breaks.

    Examples
    --------
    >>> unbroken("0.1629 ± 0.0087")
    '0.1629±0.0087'
    """
    return str(number).replace(" ± ", "±")
