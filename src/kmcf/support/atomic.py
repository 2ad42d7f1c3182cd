"""Writing files whole or not at all."""

from __future__ import annotations

import glob
import io
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

DRAFT = ".part"
"""How the names of unfinished files end."""
OPEN_FILE = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d+))|/proc/self/fd/(\d+)")
"""Names of files that this process, or whoever started it, has opened already."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` if all goes well, and is deleted otherwise.

    It is written beside the old file, flushed to disk and renamed, so that a crash or a full disk leaves the old file.
    Drafts that killed programs left beside it are removed. A device, a pipe or standard output is never replaced: what
    is to be written goes into it at the end, all at once.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.bin"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"123")
    >>> target.read_bytes()
    b'123'
    """
    with naming(path):
        if _is_special(path):
            buffer = io.BytesIO()
            yield buffer
            with opened(path) as stream:
                stream.write(buffer.getvalue())
            return
        with _draft(path) as file:
            yield file


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to write into it; standard output, or another open file, where it has come to.

    Opening ``/dev/stdout`` would begin anew if it is a file, and what was or will be printed would be lost.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.bin"
    >>> with opened(target) as file:
    ...     _ = file.write(b"123")
    >>> target.read_bytes()
    b'123'
    """
    known = OPEN_FILE.fullmatch(os.path.abspath(path).replace(f"/proc/{os.getpid()}/", "/proc/self/"))
    if known is None:
        return open(path, "wb")
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    return os.fdopen(os.dup({"stdout": 1, "stderr": 2}.get(known[1]) or int(known[2] or known[3])), "wb")


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors of the system that name no file, such as a full disk, or a draft only, name this one.

    Examples
    --------
    >>> with naming("model.kmcf"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'model.kmcf'
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None or not (error.filename is None or str(error.filename).endswith(DRAFT)):
            raise
        named = OSError(error.errno, error.strerror, os.fspath(path))
        for note in getattr(error, "__notes__", ()):
            named.add_note(note)
        raise named from error


@contextmanager
def _draft(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a draft beside a file; rename it at the end."""
    target = Path(os.path.realpath(path))  # a link keeps pointing to the file
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} into; make it first.")
    _remove_drafts(target)
    draft = target.with_name(f".{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}{DRAFT}")
    try:
        with open(draft, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            with suppress(OSError):
                os.chmod(draft, target.stat().st_mode & 0o7777)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Say whether a path names something that exists and is not an ordinary file or folder of the user's."""
    if not os.path.exists(path) or os.path.isdir(path):
        return False
    return not os.path.isfile(path) or os.fspath(path).startswith(("/dev/", "/proc/"))


def _remove_drafts(target: Path) -> None:
    """Remove drafts of a file whose writers are gone."""
    for draft in target.parent.glob(f".{glob.escape(target.name[:100])}.*-*{DRAFT}"):
        writer = draft.name.rsplit(".", 2)[1].partition("-")[0]
        if writer.isdigit() and not _is_running(int(writer)):
            with suppress(OSError):
                draft.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write a whole file with :func:`replacing`; missing folders are created.

    Text is encoded as UTF-8; what cannot be encoded becomes a question mark.

    Examples
    --------
    >>> import tempfile
    >>> write_atomically(Path(tempfile.mkdtemp()) / "new" / "note.txt", "done").read_text()
    'done'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content.encode("utf-8", errors="replace") if isinstance(content, str) else content)
    return path


def _sync_folder(folder: Path) -> None:
    """Flush the new name to disk, where the system supports that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
