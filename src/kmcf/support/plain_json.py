"""JSON that any program can read, with null for NaN and infinity."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from kmcf.support.atomic import write_atomically


def write_json(path: Path, data: Any) -> None:
    """Write JSON, whole or not at all, with null for NaN and infinity."""
    write_atomically(path, json.dumps(without_nan(data), indent=1, allow_nan=False) + "\n")


def without_nan(data: Any) -> Any:
    """Replace NaN and infinity by None, at any depth.

    Examples
    --------
    >>> without_nan({"a": [1.0, float("nan")]})
    {'a': [1.0, None]}
    """
    if isinstance(data, dict):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
