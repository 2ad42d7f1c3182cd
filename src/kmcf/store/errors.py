"""Errors about files."""

from kmcf.support.plain_text import printable
from kmcf.support.storable import PassedAgainError

__all__ = ["FileError", "PassedAgainError"]


class FileError(ValueError):
    """A file that cannot be loaded: damaged, of another format, not ours, or asking for what it may not have.

    Parameters
    ----------
    message : str
        What was wrong.

    Examples
    --------
    >>> import tempfile
    >>> import kmcf
    >>> file = tempfile.NamedTemporaryFile(suffix=".kmcf")
    >>> _ = file.write(b"no model"), file.flush()
    >>> kmcf.load(file.name)
    Traceback (most recent call last):
    ...
    kmcf.store.errors.FileError: ...
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))  # it may quote the file
