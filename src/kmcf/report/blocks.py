"""The plain parts of a page: text, images, columns, checked statements."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from kmcf.report.templates import fill, markup

_IMAGE_TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


class Block(Protocol):
    """Anything that can stand in a section."""

    def html(self, name: str) -> str:
        """Write the block as markup with an id of this name."""
        ...


@dataclass(frozen=True)
class Text:
    """Paragraphs, separated by empty lines; words between backticks are set as code.

    Examples
    --------
    >>> Text("Run `kmcf demo`.").html("text-1")
    '<div class="text" id="text-1"><p>Run <code>kmcf demo</code>.</p></div>'
    """

    words: str

    def html(self, name: str) -> str:
        """Write the paragraphs."""
        paragraphs = [part.strip() for part in re.split(r"\n\s*\n", self.words) if part.strip()]
        # What stands between backticks has an odd place.
        pieces = [re.split(r"`([^`]+)`", part) for part in paragraphs]
        marked = [[(words, bool(k % 2)) for k, words in enumerate(part) if words] for part in pieces]
        return fill("text.html", name=name, paragraphs=marked)


@dataclass(frozen=True)
class Image:
    """A picture (PNG, JPEG or GIF), embedded in the page.

    Parameters
    ----------
    source : path or bytes
        The file or its content.
    description : str
        What it shows, for those who cannot see it.
    title, caption : str
        Heading and text below.
    drawn : bool
        A drawing on white rather than a photograph; where pages are dark, it becomes dark, too.
    """

    source: Path | bytes
    description: str
    title: str = ""
    caption: str = ""
    drawn: bool = False

    def html(self, name: str) -> str:
        """Write the image as a data URI."""
        content = self.source if isinstance(self.source, bytes) else Path(self.source).read_bytes()
        kind = next((kind for start, kind in _IMAGE_TYPES.items() if content.startswith(start)), None)
        if kind is None:
            origin = "the given bytes are" if isinstance(self.source, bytes) else f"{self.source} is"
            raise ValueError(f"{origin} no PNG, JPEG or GIF image; convert it to one of these.")
        address = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        return fill("image.html", name=name, image=self, address=address)


@dataclass(frozen=True)
class SideBySide:
    """Blocks side by side where there is room, below each other where there is not."""

    blocks: Sequence[Block]

    def html(self, name: str) -> str:
        """Write the blocks."""
        blocks = [markup(block.html(f"{name}--{k}")) for k, block in enumerate(self.blocks, 1)]
        return fill("columns.html", name=name, blocks=blocks)


class Verdict(StrEnum):
    """What a check found."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNCLEAR = "not distinguishable"


_SIGNS = {Verdict.HOLDS: "✓", Verdict.FAILS: "✗", Verdict.UNCLEAR: "≈"}
_CLASSES = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails", Verdict.UNCLEAR: "unclear"}


@dataclass(frozen=True)
class Statement:
    """A claim that was checked.

    Parameters
    ----------
    claim : str
        The sentence.
    verdict : Verdict
        Whether it holds.
    numbers : str
        The evidence.
    source : str
        Where the claim was made.

    Examples
    --------
    >>> Statement("Herding is better.", Verdict.HOLDS, "1 < 2", "Section 6.1").verdict.value
    'holds'
    """

    claim: str
    verdict: Verdict
    numbers: str
    source: str = ""


@dataclass(frozen=True)
class Statements:
    """Checked claims with their verdicts, and how many hold."""

    statements: Sequence[Statement]

    def html(self, name: str) -> str:
        """Write the counts and the list."""
        counts = {verdict: sum(one.verdict is verdict for one in self.statements) for verdict in Verdict}
        told = {"counts": counts, "signs": _SIGNS, "classes": _CLASSES}
        return fill("statements.html", name=name, statements=self.statements, **told)
