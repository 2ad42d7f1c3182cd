"""Telling readable image files from damaged ones, and reading them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from kmcf.support.alerts import SkippedDataWarning
from kmcf.support.extras import require

_BEGINNINGS_AND_ENDS = {
    "jpeg": (b"\xff\xd8", b"\xff\xd9"),
    "png": (b"\x89PNG\r\n\x1a\n", b"IEND"),
}


def looks_whole(content: bytes) -> bool:
    """Return whether bytes begin and end as a JPEG or PNG file does; a file that was cut off does not.

    Examples
    --------
    >>> looks_whole(b"")
    False
    """
    return any(
        content.startswith(beginning) and end in content[-64:] for beginning, end in _BEGINNINGS_AND_ENDS.values()
    )


def decoded(content: bytes) -> npt.NDArray[np.uint8] | None:
    """Return the pixels (height, width, 3) red, green, blue; None if the file cannot be read."""
    cv2: Any = require("cv2", "images")
    if not looks_whole(content):
        return None
    pixels = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR)
    return None if pixels is None else np.ascontiguousarray(pixels[:, :, ::-1])


def warn_of_unreadable(names: list[str], folder: str) -> int:
    """Warn once about all images that could not be read; return how many there are."""
    if names:
        warnings.warn(
            f"{len(names)} image{'s' * (len(names) > 1)} of {folder} cannot be read and count as missing observations; "
            f"the first is {names[0]}.",
            SkippedDataWarning,
            stacklevel=3,
        )
    return len(names)
