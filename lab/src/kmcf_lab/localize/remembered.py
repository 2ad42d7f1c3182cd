"""A kernel that remembers what it computed, so that methods and trials on the same examples share it.

Describing an image takes longer than a step of any filter. Where eleven methods are tuned on the same images, their
dictionary, their histograms and their similarities are computed once, and times are those of the filters alone.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kmcf.kernels import Kernel
from kmcf.kernels.image_features import Cache, image_key
from kmcf.numerics.arrays import Array, FloatArray, IntArray
from kmcf.numerics.objects import Objects, as_objects, take
from kmcf.support.estimators import not_fitted


class Table:
    """A fitted kernel, and the similarities of all objects it has met, by number.

    Parameters
    ----------
    kernel : Kernel
        Fitted.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._numbers: dict[str, int] = {}
        self._prepared: list[FloatArray] = []
        self._similarities: FloatArray = np.full((64, 64), np.nan)

    def numbers(self, objects: Objects) -> IntArray:
        """Return the numbers of objects; those not met before are prepared."""
        keys = [image_key(one) for one in objects]
        new = {key: place for place, key in enumerate(keys) if key not in self._numbers}
        if new:
            rows = self.kernel.prepare(take(objects, np.array(list(new.values()))))
            for key, row in zip(new, rows, strict=True):
                self._numbers[key] = len(self._prepared)
                self._prepared.append(row)
        return np.array([self._numbers[key] for key in keys], dtype=np.intp)

    def similarities(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the kernel matrix of objects with these numbers."""
        self._grow(len(self._prepared))
        known = self._similarities[np.ix_(a, b)]
        missing = np.flatnonzero(np.isnan(known).any(axis=0))
        if len(missing):
            rows, columns = (np.array([self._prepared[k] for k in some]) for some in (a, b[missing]))
            known[:, missing] = found = self.kernel.evaluate(rows, columns)
            self._similarities[np.ix_(a, b[missing])] = found
            self._similarities[np.ix_(b[missing], a)] = found.T
        return known

    def _grow(self, count: int) -> None:
        if count > len(self._similarities):
            wider = np.full((2 * count, 2 * count), np.nan)
            size = len(self._similarities)
            wider[:size, :size] = self._similarities
            self._similarities = wider


_TABLES: Cache[Table] = Cache(8)
"""The last ones of this process: one for each number of examples, and room for other draws."""


class Remembered(Kernel):
    """Another kernel, whose dictionary, histograms and values are computed once for the same examples.

    Parameters
    ----------
    kernel : Kernel
        A kernel on images, which prepares each of them by itself, such as ``SpatialPyramid()``.

    Examples
    --------
    >>> from kmcf.kernels import SpatialPyramid
    >>> images = np.random.default_rng(0).integers(0, 256, size=(6, 48, 64), dtype=np.uint8)
    >>> plain, remembered = SpatialPyramid(words=10).fit(images), Remembered(SpatialPyramid(words=10)).fit(images)
    >>> np.array_equal(plain(images), remembered(images))
    True
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def structured(self) -> bool:
        """As the kernel inside."""
        return self.kernel.structured

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Fit the kernel inside, unless one with these settings was fitted to these examples."""
        images = as_objects(objects, "the kernel's examples", structured=True)
        key = (repr(sorted(self.kernel.get_params().items())), *(image_key(one) for one in images))
        table = _TABLES.get(key)
        if table is None:
            table = Table(clone(self.kernel).fit(images, states))
            _TABLES.put(key, table)
        self.table_ = table
        return self

    def prepare(self, objects: Objects) -> IntArray:
        """Return the numbers of the images, (n, 1)."""
        if not hasattr(self, "table_"):
            raise not_fitted("Remembered remembers what it was fitted to: call fit(examples) first.")
        return self.table_.numbers(objects)[:, None]

    def evaluate(self, a: Array, b: Array) -> Array:
        """Look the similarities up, or compute them."""
        return self.table_.similarities(a[:, 0], b[:, 0])

    def evaluate_diagonal(self, a: Array) -> Array:
        """Look the similarities of images with themselves up."""
        return np.array([self.table_.similarities(one, one)[0, 0] for one in a])


def meet(kernel: Any, examples: Objects, others: Objects) -> None:
    """Compute beforehand what a kernel that remembers says of other objects; of any other kernel, nothing."""
    if isinstance(kernel, Remembered):
        table = clone(kernel).fit(examples).table_
        table.similarities(table.numbers(examples), table.numbers(others))
