"""Errors about files."""

from kmcf.support.storable import PassedAgainError

__all__ = ["FileError", "PassedAgainError"]


class FileError(ValueError):
    """A file that cannot be loaded: damaged, of another format, not ours, or asking for what it may not have."""
