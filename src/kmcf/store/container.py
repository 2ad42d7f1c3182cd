"""One file that holds a JSON manifest, arrays and bytes, sealed by a checksum over everything.

It is an uncompressed zip archive of ``kmcf.json``, ``NAME.npy`` and ``NAME.bin`` members, so ``unzip`` and ``np.load``
can look inside. The archive's comment, the last bytes of the file, holds the format's version and the SHA-256 of all
bytes before it, so that accidental damage is detected before anything is read. The checksum is no help against a forged
file; there, every size is compared with the size of the file before memory is taken.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kmcf.numerics.arrays import Array
from kmcf.store.errors import FileError, PassedAgainError
from kmcf.support.atomic import replacing

FORMAT = 2
"""The format written. Format 1 (kmcf 0.1) can be read as well: see :mod:`kmcf.store.earlier`."""
READABLE = (1, 2)
MANIFEST = "kmcf.json"
KINDS = "biufcSUmM"
"""Kinds of arrays that hold plain values; never objects."""
MOST_EMPTY = 10**7
"""An array without entries may claim no more rows than this."""
CHUNK = 1 << 20
SEAL = re.compile(rb"kmcf-format (\d{6}) sha256 ([0-9a-f]{64})")
SEAL_LENGTH = 90
_ANY_DATE = (1980, 1, 1, 0, 0, 0)


def write_container(
    path: str | os.PathLike[str], manifest: Any, arrays: Mapping[str, Array], blobs: Mapping[str, bytes]
) -> None:
    """Write a container to ``path``; an existing file is replaced only by a complete one.

    Parameters
    ----------
    path : path
        The file to write.
    manifest : object
        Anything JSON can hold.
    arrays : mapping
        Arrays by name; their order in memory (C or Fortran) is kept.
    blobs : mapping
        Bytes by name.
    """
    with replacing(path) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_member(MANIFEST), json.dumps(manifest, allow_nan=False))
            for name, array in arrays.items():
                with archive.open(_member(f"{name}.npy"), "w", force_zip64=array.nbytes > CHUNK) as stream:
                    np.lib.format.write_array(stream, array, allow_pickle=False)
            for name, blob in blobs.items():
                archive.writestr(_member(f"{name}.bin"), blob)
            archive.comment = b" " * SEAL_LENGTH
        file.flush()
        size = file.seek(0, os.SEEK_END) - SEAL_LENGTH
        digest = _digest(file, size)
        file.seek(size)
        file.write(f"kmcf-format {FORMAT:06d} sha256 {digest}".encode())


def _member(name: str) -> zipfile.ZipInfo:
    """Return a member's entry, with a fixed date, so that the same contents give the same bytes."""
    return zipfile.ZipInfo(name, _ANY_DATE)


def _digest(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(CHUNK, size))):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()


class Container:
    """An open container whose checksum and sizes have been checked."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        self._members = {info.filename: info for info in archive.infolist()}
        _check_members(archive.infolist(), size)
        self.manifest: Any = json.loads(archive.read(self._member(MANIFEST)))

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return [name.removesuffix(".npy") for name in self._members if name.endswith(".npy")]

    def array(self, name: str) -> Array:
        """Read an array, with the memory order that it was written with."""
        info = self._member(f"{name}.npy")
        with self._archive.open(info) as stream:
            shape, fortran, dtype = read_npy_header(stream, info.file_size)
            array = np.empty(shape, dtype=dtype, order="F" if fortran else "C")
            raw = memoryview((array.T if fortran else array).reshape(-1).view(np.uint8).data)
            for start in range(0, len(raw), CHUNK):
                raw[start : start + CHUNK] = stream.read(min(CHUNK, len(raw) - start))
        return array

    def header(self, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        """Read the shape, the memory order and the type of an array, but not the array."""
        info = self._member(f"{name}.npy")
        with self._archive.open(info) as stream:
            return read_npy_header(stream, info.file_size)

    def blob(self, name: str) -> bytes:
        """Read bytes."""
        return self._archive.read(self._member(f"{name}.bin"))

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise FileError(f"it has no member {name}.")
        return self._members[name]


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    if len({info.filename for info in members}) != len(members):
        raise FileError("two of its members have the same name.")
    for info in members:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
            raise FileError(f"its member {info.filename} is compressed or encrypted, which our files never are.")
    claimed = sum(info.file_size for info in members)
    if claimed > size:
        raise FileError(f"its members claim {claimed} bytes, more than the file has ({size}).")


def read_npy_header(stream: Any, size: int, kinds: str = KINDS) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of an ``.npy`` stream and compare what it claims with the bytes that are there.

    Parameters
    ----------
    stream : file
        Positioned at its start.
    size : int
        How many bytes it has.
    kinds : str
        Kinds of entries that are allowed; never Python objects.

    Returns
    -------
    shape, fortran, dtype
        Of the array that follows.
    """
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise FileError(f"an array has the unknown version {version}.")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if dtype.kind not in kinds or dtype.hasobject or dtype.subdtype is not None:
        raise FileError(f"an array has entries of type {dtype}, which our files never have.")
    if any(side < 0 for side in shape) or math.prod(max(side, 1) for side in shape) > max(MOST_EMPTY, size):
        raise FileError(f"an array claims the shape {shape}.")
    claimed = math.prod(shape) * dtype.itemsize
    if claimed != size - stream.tell():
        raise FileError(f"an array claims {claimed} bytes, but {size - stream.tell()} are there.")
    return shape, fortran, dtype


@contextmanager
def open_container(path: str | os.PathLike[str]) -> Iterator[Container]:
    """Open a container; any damage is a :class:`~kmcf.store.FileError` that names the file."""
    with _blamed(path):
        _check_regular(os.stat(path))  # opening a pipe would wait for a writer
    with open(path, "rb") as file, _blamed(path):
        _check_regular(os.fstat(file.fileno()))
        size = file.seek(0, os.SEEK_END)
        _check_seal(file, size)
        with zipfile.ZipFile(file) as archive:
            yield Container(archive, size)


def _check_regular(about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise FileError("it is not a regular file, so its end cannot be found.")


def _check_seal(file: BinaryIO, size: int) -> None:
    file.seek(max(size - SEAL_LENGTH, 0))
    seal = SEAL.fullmatch(file.read(SEAL_LENGTH))
    if seal is None:
        file.seek(0)
        if file.read(2) == b"PK":
            raise FileError("its end is missing or changed: it was not written by kmcf, or it is incomplete.")
        raise FileError("it is not a file written by kmcf.")
    if int(seal[1]) not in READABLE:
        raise FileError(
            f"it has format {int(seal[1])}, and this version of kmcf reads formats up to {FORMAT}: load it with the "
            "version of kmcf that wrote it, or install a newer one."
        )
    if _digest(file, size - SEAL_LENGTH) != seal[2].decode():
        raise FileError("its checksum is wrong: it was changed or damaged after it was written; use another copy.")


@contextmanager
def _blamed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever error a malformed file causes into a :class:`~kmcf.store.FileError`."""
    try:
        yield
    except (PassedAgainError, FileNotFoundError, PermissionError):
        raise
    except FileError as error:
        raise FileError(f"{Path(path).name} cannot be loaded: {error}") from error.__cause__
    except Exception as error:
        raise FileError(
            f"{Path(path).name} cannot be loaded: what it holds makes no sense ({type(error).__name__}: {error})."
        ) from error
