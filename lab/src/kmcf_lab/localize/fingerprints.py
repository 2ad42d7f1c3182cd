"""Fingerprints of data and settings: a cell is computed again when either has changed."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from kmcf_lab.localize.problem import LocalizationFold


def digest_of(something: Any) -> str:
    """Return a short fingerprint of a fold or of settings."""
    return hashlib.sha256(b"".join(_bytes_of(something))).hexdigest()[:12]


def _bytes_of(something: Any) -> list[bytes]:
    if isinstance(something, LocalizationFold):
        test = something.test
        parts = (something.states, something.observations, test.states, test.observations, test.controls, test.time)
        return [piece for part in parts for piece in _bytes_of(part)]
    if isinstance(something, np.ndarray):
        return [str(something.shape).encode(), np.ascontiguousarray(something).tobytes()]
    if isinstance(something, list | tuple):
        return [piece for part in something for piece in _bytes_of(part)]
    return [repr(something).encode()]
