"""Dense SIFT descriptors of images: reading images, describing them, and caching the descriptors."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from kmcf.numerics.arrays import FloatArray
from kmcf.support.atomic import replacing
from kmcf.support.extras import require

Pixels: TypeAlias = npt.NDArray[np.uint8]
Value = TypeVar("Value")

_SIFT_WIDTH = 6.0  # OpenCV describes a patch of six times a keypoint's size: 4 cells of 3 sigma, sigma = size / 2
_DESCRIPTOR_SETTINGS = "dense SIFT, version 1"


def is_path(image: Any) -> bool:
    """Return whether an image is given as a file."""
    return isinstance(image, str | os.PathLike)


def image_key(image: Any) -> str:
    """Return a key that only equal images share; that of a file is made of its path, size and modification time.

    Examples
    --------
    >>> image_key(np.zeros((2, 2))) == image_key(np.zeros((2, 2))), image_key(np.zeros((2, 2))) == image_key(np.eye(2))
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    if is_path(image):
        path = Path(image)
        try:
            status = path.stat()
        except OSError as error:
            raise FileNotFoundError(f"the image file {str(path)!r} cannot be read: {error.strerror}.") from error
        digest.update(f"{path.resolve()} {status.st_mtime_ns} {status.st_size}".encode())
    else:
        array = np.asarray(image)
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes() if array.dtype.kind != "O" else b"")
    return digest.hexdigest()


def read_image(image: Any, name: str) -> Pixels:
    """Read an image as grey pixels.

    Parameters
    ----------
    image : array (h, w), (h, w, 1), (h, w, 3), (h, w, 4), or path
        Integers (8 or 16 bit), booleans, or floats in [0, 1] or [0, 255]. Three channels are red, green, blue; a fourth
        (opacity) is ignored.
    name : str
        What it is called in error messages.
    """
    if is_path(image):
        return _read_file(Path(image), name)
    array = np.asarray(image)
    if (
        array.dtype.kind not in "biuf"
        or array.ndim not in (2, 3)
        or (array.ndim == 3 and array.shape[2] not in (1, 3, 4))
    ):
        shown = f"an array of shape {array.shape}" if array.dtype.kind in "biuf" else repr(image)[:80]
        raise TypeError(
            f"{name} is {shown}; an image is an array (height, width) or (height, width, channels) with 1, 3 or 4 "
            "channels, or the path of a file."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty: it has the shape {array.shape}.")
    pixels = _as_bytes(array, name)
    if pixels.ndim == 2:
        return pixels
    if pixels.shape[2] == 1:
        return np.ascontiguousarray(pixels[:, :, 0])
    cv2 = require("cv2", "images")
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels[:, :, :3]), cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def _read_file(path: Path, name: str) -> Pixels:
    try:
        data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except OSError as error:
        raise OSError(f"{name}, the file {str(path)!r}, cannot be read: {error.strerror}.") from error
    if data.size == 0:
        raise ValueError(f"{name}, the file {str(path)!r}, is empty.")
    cv2 = require("cv2", "images")
    try:
        pixels = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)
    except cv2.error:
        pixels = None
    if pixels is None:
        raise ValueError(f"{name}, the file {str(path)!r}, is not an image that OpenCV can read, or it is damaged.")
    return np.asarray(pixels, dtype=np.uint8)


def _as_bytes(array: Any, name: str) -> Pixels:
    """Scale to 0..255. The kernel does not depend on contrast, so only the resolution of the scale matters."""
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind == "b":
        return np.where(array, np.uint8(255), np.uint8(0))
    values: FloatArray = array.astype(np.float64)
    largest = float(np.max(values))
    if array.dtype == np.uint16:
        values /= 257.0
    elif not (np.all(np.isfinite(values)) and np.min(values) >= 0 and largest <= 255):
        raise ValueError(
            f"{name} has values from {np.min(values)} to {largest}; pixels must be finite and within [0, 1] or "
            "[0, 255] (16-bit images as uint16)."
        )
    elif array.dtype.kind == "f" and largest <= 1.0:
        values *= 255.0
    return np.ascontiguousarray(np.rint(values).astype(np.uint8))


def patch_grid(size: int, patch: int, spacing: int) -> FloatArray:
    """Return the centres of the patches along one side of an image, the rest of the side split evenly.

    Examples
    --------
    >>> patch_grid(35, 16, 8)
    array([ 8.5, 16.5, 24.5])
    """
    corners = np.arange((size - patch) % spacing // 2, size - patch + 1, spacing)
    return np.asarray(corners + (patch - 1) / 2.0)


def dense_sift(pixels: Pixels, patch: int, spacing: int) -> Pixels:
    """Return the SIFT descriptors of all patches on a regular grid, row by row, (patches, 128).

    Patches without any gradient have the descriptor zero.
    """
    cv2 = require("cv2", "images")
    rows, columns = (patch_grid(size, patch, spacing) for size in pixels.shape)
    points = [cv2.KeyPoint(float(x), float(y), patch / _SIFT_WIDTH, 0.0) for y in rows for x in columns]
    descriptors = cv2.SIFT_create().compute(pixels, points)[1]
    return np.asarray(descriptors).astype(np.uint8)  # OpenCV's descriptors are whole numbers up to 255


class Cache(Generic[Value]):
    """A dictionary that drops its least recently used entry when it is full.

    Examples
    --------
    >>> cache = Cache(1)
    >>> cache.put("a", 1); cache.put("b", 2)
    >>> cache.get("a"), cache.get("b")
    (None, 2)
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._held: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """Return what is held under a key, or None."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Hold a value under a key."""
        self._held[key] = value
        self._held.move_to_end(key)
        while len(self._held) > self.size:
            self._held.popitem(last=False)


def stored_sift(image: Any, name: str, key: str, patch: int, spacing: int, folder: str | None) -> Described:
    """Return an image's descriptors and size, from a file in the folder if there is one, else computed and stored."""
    file = None
    if folder is not None:
        label = hashlib.blake2b(f"{_DESCRIPTOR_SETTINGS} {key} {patch} {spacing}".encode(), digest_size=16).hexdigest()
        file = Path(folder) / f"{label}.npz"
        if file.exists():
            with np.load(file, allow_pickle=False) as held:
                return held["descriptors"], tuple(held["shape"].tolist())
    pixels = read_image(image, name)
    if min(pixels.shape) < patch:
        raise ValueError(
            f"{name} has {pixels.shape[0]} × {pixels.shape[1]} pixels, fewer than a patch of {patch} × {patch}: lower "
            "patch_size, or enlarge the image."
        )
    descriptors = dense_sift(pixels, patch, spacing)
    if file is not None:
        _store(file, descriptors=descriptors, shape=np.asarray(pixels.shape))
    return descriptors, pixels.shape


Described: TypeAlias = tuple[Pixels, tuple[int, ...]]
"""The descriptors of an image's patches, row by row, and the image's height and width."""


def _store(file: Path, **arrays: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as whole:
        np.savez(whole, **arrays)
