"""What the laboratory's tests share."""

import base64

import pytest
from browser import Browser

# One transparent pixel.
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="session")
def browser():
    """One browser for all pages: starting it takes longer than looking at a page."""
    with Browser() as started:
        yield started


@pytest.fixture
def undrawn(monkeypatch):
    """Write figures as single dots: for tests that ask for the files, not for what is drawn on them."""
    from matplotlib.figure import Figure

    def savefig(self, buffer, *, format, **_):
        buffer.write(DOT if format == "png" else b"<svg/>")

    monkeypatch.setattr(Figure, "savefig", savefig)
    monkeypatch.setattr(Figure, "draw_without_rendering", lambda self: None)
