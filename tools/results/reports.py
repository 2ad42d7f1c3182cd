"""Pages of docs/results that other programs write, from the raw numbers that they saved."""

import json
from collections.abc import Callable
from pathlib import Path

from tools.release_numbers import page as release_page

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def release(text: str) -> str:
    """Return the page of `make release-numbers`."""
    return release_page(json.loads((RESULTS / "release" / "release.json").read_text()))


# What turns the text of a page into its new text.
REPORTS: dict[Path, Callable[[str], str]] = {RESULTS / "release" / "README.md": release}
