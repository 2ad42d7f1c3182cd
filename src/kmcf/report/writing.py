"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write a file beside its place and then move it there, so that nobody ever sees a part of it.

    Folders that are missing are made. Texts are written as UTF-8; what UTF-8 cannot say becomes a question mark.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "new" / "note.txt", "done").read_text()
    'done'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8", errors="replace") if isinstance(content, str) else content
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # A temporary file is private; what takes its place should be as readable as any new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    return path
