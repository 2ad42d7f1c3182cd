"""The plain parts of a page: text, images, columns, checked statements."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from kmcf.report.markup import element, text

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
        marked = [re.sub(r"`([^`]+)`", r"<code>\1</code>", text(part)) for part in paragraphs]
        return element("div", *(element("p", part) for part in marked), class_="text", id=name)


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
        picture = element("img", src=f"data:{kind};base64,{base64.b64encode(content).decode()}", alt=self.description)
        parts = [element("figcaption", text(self.title))] if self.title else []
        parts += [picture, element("p", text(self.caption), class_="caption") if self.caption else ""]
        return element("figure", *parts, class_="image drawn" if self.drawn else "image", id=name)


@dataclass(frozen=True)
class SideBySide:
    """Blocks side by side where there is room, below each other where there is not."""

    blocks: Sequence[Block]

    def html(self, name: str) -> str:
        """Write the blocks."""
        return element(
            "div", *(block.html(f"{name}--{k}") for k, block in enumerate(self.blocks, 1)), class_="columns", id=name
        )


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
        summary = [element("span", f"{counts[v]} ", _badge(v)) for v in Verdict if counts[v]]
        entries = [
            element(
                "li",
                _badge(one.verdict),
                element("div", text(one.claim), class_="claim"),
                element("div", text(one.numbers), class_="evidence"),
                element("div", text(one.source), class_="source") if one.source else "",
            )
            for one in self.statements
        ]
        return element(
            "div", element("p", *summary, class_="counts"), element("ul", *entries), class_="statements", id=name
        )


def _badge(verdict: Verdict) -> str:
    sign = element("span", _SIGNS[verdict], aria_hidden="true")
    return element("span", sign, f" {verdict.value}", class_=f"badge {_CLASSES[verdict]}")
