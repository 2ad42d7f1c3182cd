"""Files and folders that a command is going to write: checked before the work, not after it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from kmcf.cli.group import note


def check_target(path: Path | None, read: Sequence[Path] = ()) -> None:
    """Refuse a file that could not be written or that is read, and say which folder will be made for it.

    Parameters
    ----------
    path : Path or None
        The file; None: nothing is written.
    read : sequence of Path
        Recordings that the command reads, which must not be lost.
    """
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():  # a device or a pipe
        return
    if path.exists() and any(file.exists() and path.samefile(file) for file in read):
        raise ValueError(f"{path} is one of the files that are read, and would be lost; choose another name (--out).")
    check_folder(path.parent, for_what=str(path))


def check_folder(folder: Path, for_what: str | None = None) -> None:
    """Refuse a folder that nothing can be written into, and say if it will be made.

    Parameters
    ----------
    folder : Path
        Where to write; it need not exist.
    for_what : str, optional
        What the user typed, if not the folder.
    """
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    typed = for_what or str(folder)
    if not there.is_dir():
        raise ValueError(f"{typed} cannot be written: File exists where a folder is needed, {there}.")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise ValueError(f"{typed} cannot be written: {error.strerror or error}.") from None
    if there != folder:
        note(f"the folder {folder} does not exist; it will be made.")
