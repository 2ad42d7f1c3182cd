"""Errors about files."""

from kmcf.support.plain_text import printable
from kmcf.support.storable import PassedAgainError

__all__ = ["FileError", "PassedAgainError"]


class FileError(ValueError):
    """A file that cannot be loaded: damaged, of another format, not ours, or asking for what it may not have."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))  # it may quote the file
