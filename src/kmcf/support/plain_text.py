"""Text from elsewhere, made safe to show: a terminal obeys control characters, and people are misled by hidden ones."""

from __future__ import annotations

import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that are not seen: controls, directions, halves of characters, ends of lines."""


def printable(text: str) -> str:
    r"""Return a text with characters that a terminal would act upon written as escapes; new lines and tabs stay.

    Examples
    --------
    >>> printable("x \x1b[2J"), printable("ü – 漢")
    ('x \\x1b[2J', 'ü – 漢')
    """
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in HIDDEN:
        return character
    return character.encode("unicode_escape").decode()
