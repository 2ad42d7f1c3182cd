"""What a report says, apart from the form it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kmcf.report.blocks import Block


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Content:
    """The content of a report; see :class:`~kmcf.report.Report`, which writes it."""

    title: str
    command: str
    sections: Sequence[Section]
    summary: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    date: datetime = field(default_factory=lambda: datetime.now().astimezone())
