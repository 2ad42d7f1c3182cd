"""scikit-learn regressors inside a file, through skops, which builds only types that it or the user trusts."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kmcf.store.budget import MOST_REPEATED
from kmcf.store.container import KINDS, read_npy_header
from kmcf.store.errors import FileError, PassedAgainError
from kmcf.support.extras import require

COVARIANCES = tuple(
    f"sklearn.gaussian_process.kernels.{name}"
    for name in (
        "ConstantKernel",
        "DotProduct",
        "ExpSineSquared",
        "Exponentiation",
        "Matern",
        "Product",
        "RBF",
        "RationalQuadratic",
        "Sum",
        "WhiteKernel",
    )
)
"""Covariance functions of Gaussian processes: a few numbers and a formula each, so safe to trust."""


def is_sklearn(value: Any) -> bool:
    """Say whether something is an estimator of scikit-learn."""
    return (
        type(value).__module__.partition(".")[0] == "sklearn"
        and hasattr(value, "get_params")
        and (hasattr(value, "fit") or hasattr(value, "predict"))
    )


def dump_regressor(value: Any, trail: str) -> bytes:
    """Return the bytes of an estimator."""
    try:
        return require("skops.io", "store").dumps(value)
    except ImportError as error:
        raise ImportError(f"{trail} is a {type(value).__name__} of scikit-learn; {error}") from error


def load_regressor(data: bytes, trusted: list[str]) -> Any:
    """Restore an estimator, if all its types are trusted."""
    skops = require("skops.io", "store")
    _check_sizes(data)
    accepted = {*COVARIANCES, *trusted}
    unknown = sorted(set(skops.get_untrusted_types(data=data)) - accepted)
    if unknown:
        raise PassedAgainError(
            f"the file holds a scikit-learn regressor with parts that skops does not trust: {', '.join(unknown)}. If "
            f"you trust whoever wrote the file, load it with kmcf.load(path, ..., trusted={unknown})."
        )
    return skops.loads(data, trusted=sorted(accepted))


def _check_sizes(data: bytes) -> None:
    """Refuse compressed members, and what claims or names more than is there, before skops reads it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        if len(sizes) != len(archive.infolist()) or sum(sizes.values()) > len(data):
            raise FileError("the members of a regressor overlap.")
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > len(data):
                raise FileError(f"the member {info.filename} of a regressor is compressed or too large.")
            if info.filename.endswith(".npy"):
                with archive.open(info) as stream:
                    read_npy_header(stream, info.file_size, KINDS + "V")  # trees are tables of records
            if info.filename.endswith(".npz"):  # sparse matrices, which are compressed
                with zipfile.ZipFile(io.BytesIO(archive.read(info))) as inner:
                    sizes[info.filename] = sum(part.file_size for part in inner.infolist())
        named = Counter(_named_files(json.loads(archive.read("schema.json"))))
        if sum(sizes.get(name, 0) * times for name, times in named.items()) > len(data) + MOST_REPEATED:
            raise FileError("a regressor names its arrays so often that they are far larger than the file.")


def _named_files(node: Any) -> Iterator[str]:
    """Yield the members that a description names, as often as it does."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if isinstance(part.get("file"), str):
                yield part["file"]
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
