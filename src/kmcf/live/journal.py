"""What survives a crash: observations written down before they are acknowledged, and snapshots now and then.

A folder holds ``snapshot.kmcf`` and journals ``0000000007.jsonl``. The snapshot says which journal follows it. A new
journal is begun before a snapshot is written and older ones are deleted after that, so that at every moment the last
complete snapshot and the journals after it hold everything. A line of a journal is a checksum and JSON; a crash can
leave its last line incomplete, and what it held was then never acknowledged.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from kmcf.live.model import LiveModel
from kmcf.live.snapshots import read_snapshot, snapshot_generation, write_snapshot
from kmcf.live.tracks import Track

LONG = 10_000
"""After so many lines a snapshot is written, and a new journal begun."""
SNAPSHOT, LOCK = "snapshot.kmcf", "lock"


class Journal:
    """The folder in which the state of tracked objects survives.

    Parameters
    ----------
    folder : path
        Created if it does not exist. One server at a time uses it.
    model : LiveModel
        The filter that makes the steps; another one's state is refused.
    length : int
        Lines between snapshots.

    Examples
    --------
    >>> import tempfile, kmcf, numpy as np
    >>> from kmcf.live.objects import Request, TrackedObjects
    >>> from kmcf.live.requests import Observed
    >>> X = np.linspace(0.0, 1.0, 30)
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    >>> model, folder = LiveModel(flt), tempfile.mkdtemp()
    >>> first = Journal(folder, model)
    >>> (answered,) = TrackedObjects(model, journal=first).work([Request("observe", Observed("robot", 0.4))])
    >>> first.close()
    >>> second = Journal(folder, model)
    >>> (again,) = TrackedObjects(model, journal=second).work([Request("get", "robot")])
    >>> again.told == answered.told
    True
    >>> second.close()
    """

    def __init__(self, folder: str | os.PathLike[str], model: LiveModel, length: int = LONG) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.folder / LOCK)
        self._model = model
        self._length = length
        self._lines = 0
        self._file: BinaryIO | None = None
        try:
            self._begin()
        except BaseException:
            self._lock.close()
            raise

    def _begin(self) -> None:
        """Find the journals that follow the last snapshot; those before it are not needed."""
        snapshot = self.folder / SNAPSHOT
        first = snapshot_generation(snapshot, self._model) if snapshot.exists() else 0
        self._pending = [path for path in _journals(self.folder) if int(path.stem) >= first]
        for path in _journals(self.folder):
            if path not in self._pending:
                path.unlink()
        self._generation = max([first, *(int(path.stem) for path in self._pending)])

    @property
    def long(self) -> bool:
        """Whether it is time for a snapshot."""
        return self._lines >= self._length

    def restored(self, model: LiveModel) -> tuple[int, dict[str, Track]]:
        """Return the number of objects begun so far and the tracks of the last snapshot."""
        path = self.folder / SNAPSHOT
        return read_snapshot(path, model) if path.exists() else (0, {})

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield what was written down since the snapshot; then the journal can be appended to."""
        for number, path in enumerate(self._pending):
            good = 0
            with path.open("rb") as file:
                for line in file:
                    entry = _read(line)
                    if entry is None:
                        break
                    good += len(line)
                    yield entry
            if good < path.stat().st_size:
                if number < len(self._pending) - 1 or path.stat().st_size - good > _line_left(path, good):
                    raise ValueError(f"{path} is damaged after {good} bytes; what follows there would be lost.")
                os.truncate(path, good)

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write entries down, on disk; all or none."""
        if self._file is None:
            self._file = self._opened()
        at = self._file.tell()
        try:
            self._file.write(b"".join(_line(entry) for entry in entries))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            self._undo(at)
            raise
        self._lines += len(entries)

    def snapshot(self, begun: int, tracks: Mapping[str, Track]) -> None:
        """Write a snapshot of everything; the journals before it are then deleted."""
        before = _journals(self.folder)
        self._lines = 0  # also if this fails: then it is tried again after as many lines
        if self._file is not None:
            self._file.close()
        self._generation += 1
        self._file = self._opened()
        write_snapshot(self.folder / SNAPSHOT, self._generation, self._model, begun, tracks)
        for path in before:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let another server use the folder."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.close()

    def _opened(self) -> BinaryIO:
        path = self.folder / f"{self._generation:010d}.jsonl"
        file = path.open("ab")
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)  # the name, too
        finally:
            os.close(handle)
        return file

    def _undo(self, at: int) -> None:
        """Take back what was written in part."""
        assert self._file is not None
        name = self._file.name
        with suppress(OSError):  # it may still have something to flush
            self._file.close()
        self._file = None
        os.truncate(name, at)


def _line(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(line: bytes) -> dict[str, Any] | None:
    """Return the entry of a line; None if it is incomplete."""
    if len(line) < 10 or not line.endswith(b"\n"):
        return None
    text = line[9:-1]
    if line[:8] != b"%08x" % zlib.crc32(text):
        return None
    entry: dict[str, Any] = json.loads(text)
    return entry


def _line_left(path: Path, at: int) -> int:
    """Return how many bytes the line has that begins there."""
    with path.open("rb") as file:
        file.seek(at)
        return len(file.readline())


def _journals(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.jsonl") if path.stem.isdigit())


def _locked(path: Path) -> BinaryIO:
    file = path.open("ab")
    try:
        import fcntl
    except ImportError:  # not on this system
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ValueError(f"another server uses the folder {path.parent}.") from None
    return file
