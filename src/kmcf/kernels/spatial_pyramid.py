"""The Spatial Pyramid Matching kernel for images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kmcf.kernels.histograms import intersection
from kmcf.kernels.image_features import Cache, Described, Pixels, image_key, patch_grid, stored_sift
from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import Array, FloatArray, IntArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import not_fitted
from kmcf.support.extras import progress_bar, require

_MOST_NUMBERS = 1 << 24  # numbers per image on the finest level
_HELD_BYTES = 1 << 30  # bytes of descriptors kept during fit
_DICTIONARIES: Cache[npt.NDArray[np.float32]] = Cache(16)  # the last ones learnt: k-means takes seconds


class SpatialPyramid(Kernel):
    r"""Spatial Pyramid Matching kernel on images (Lazebnik, Schmid and Ponce 2006), with that paper's settings.

    An image is described by SIFT descriptors of patches on a regular grid. Each is replaced by the nearest of
    ``words`` visual words, learnt from the example images by k-means. Level l of the pyramid divides the image into
    2^l × 2^l cells and counts the words in each; with L = ``levels`` − 1,

    .. math:: k(a, b) = \frac{1}{2^L}\, I_0 + \sum_{l=1}^{L} \frac{1}{2^{L - l + 1}}\, I_l , \qquad
              I_l = \sum_{\text{cells, words}} \min(a_l, b_l) ,

    where the histograms of a level sum to 1 over all cells. It is one histogram intersection of weighted,
    concatenated histograms: 4200 numbers and the weights 1/4, 1/4, 1/2 for 200 words and three levels. The diagonal
    is 1, images of any size can be compared, and colour and contrast do not matter.

    Images are arrays, grey (h, w) or colour (h, w, 3), of bytes or floats in [0, 1] or [0, 255], or paths of files,
    in a list or in one array (n, h, w) or (n, h, w, 3). Patches without gradients all have the descriptor zero, so a
    constant image shows one word everywhere. Needs OpenCV: ``pip install 'kmcf[images]'``.

    Parameters
    ----------
    words : int
        Size of the dictionary.
    levels : int
        Levels of the pyramid; 1 ignores where in the image a word occurs.
    patch_size, spacing : int
        Side and distance of the patches in pixels. Images must be at least as large as a patch.
    n_descriptors : int
        About how many descriptors the dictionary is learnt from, equally many from each example image.
    same_size : bool
        Refuse images whose size differs from the examples' (a safeguard; the kernel itself does not need it).
    n_jobs : int
        Threads that describe images; −1 for one per processor.
    progress : bool
        Show a progress bar while more than one image is described (needs ``kmcf[progress]``).
    cache_size : int
        How many images' word counts are kept in memory (6 kB each), so that no image is described twice. Files are
        identified by path, modification time and size, arrays by their bytes.
    cache_folder : path, optional
        Folder where descriptors are stored (128 bytes per patch), for use in later runs and with other dictionaries.
        Nothing in it is ever deleted.
    random_state : int, RandomState or None
        Seed of the choice of descriptors and of k-means. The dictionary does not depend on the order of the images.

    Attributes
    ----------
    dictionary_ : array (words, 128)
        The visual words.
    image_shape_ : tuple or None
        Height and width of the example images if they agree.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, size=(6, 48, 64), dtype=np.uint8)
    >>> kernel = SpatialPyramid(words=10).fit(images)
    >>> kernel.prepare(images).shape
    (6, 210)
    >>> np.allclose(kernel.diagonal(images), 1.0)
    True
    """

    def __init__(
        self,
        words: int = 200,
        levels: int = 3,
        patch_size: int = 16,
        spacing: int = 8,
        n_descriptors: int = 20_000,
        same_size: bool = False,
        n_jobs: int = 1,
        progress: bool = False,
        cache_size: int = 10_000,
        cache_folder: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.words = words
        self.levels = levels
        self.patch_size = patch_size
        self.spacing = spacing
        self.n_descriptors = n_descriptors
        self.same_size = same_size
        self.n_jobs = n_jobs
        self.progress = progress
        self.cache_size = cache_size
        self.cache_folder = cache_folder
        self.random_state = random_state

    @property
    def structured(self) -> bool:
        """True: a list of images stays a list."""
        return True

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the dictionary from the example images, and remember their word counts."""
        require("cv2", "images")
        self._check()
        images = as_objects(objects, "the kernel's examples", structured=True)
        first = _distinct(images)[1]
        from sklearn.utils import check_random_state

        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        quota = -(-self.n_descriptors // max(1, len(first)))
        held: dict[str, Described] = {}
        samples, shapes, room = [], set(), _HELD_BYTES
        for key, described in zip(first, self._describe(images, first), strict=True):
            samples.append(_sample(described[0], quota, seed))
            shapes.add(described[1])
            room -= described[0].nbytes
            if room > 0:
                held[key] = described
        self.image_shape_ = shapes.pop() if len(shapes) == 1 else None
        if self.same_size and self.image_shape_ is None:
            raise ValueError(
                f"the example images have {len(shapes)} different sizes, such as {sorted(shapes)[:3]}, but same_size "
                "forbids that; resize them, or set same_size=False."
            )
        self.dictionary_: npt.NDArray[np.float32] = self._learn_words(samples, len(first), seed)
        self._cache: Cache[npt.NDArray[np.uint32]] = Cache(self.cache_size)
        for key, described in held.items():
            self._cache.put(key, self._count(described))
        return self

    def prepare(self, objects: Objects) -> FloatArray:
        """Return the weighted, concatenated histograms of the images, (n, words × cells)."""
        if not hasattr(self, "dictionary_"):
            raise not_fitted("SpatialPyramid learns its words from example images: call fit(examples) first.")
        keys, first = _distinct(objects)
        counts = {key: held for key in first if (held := self._cache.get(key)) is not None}
        unknown = {key: number for key, number in first.items() if key not in counts}
        for key, described in zip(unknown, self._describe(objects, unknown), strict=True):
            self._check_size(described[1], unknown[key])
            counts[key] = self._count(described)
            self._cache.put(key, counts[key])
        pyramids = {key: _pyramid(count, self.levels) for key, count in counts.items()}
        width = self.words * sum(4**level for level in range(self.levels))
        return np.array([pyramids[key] for key in keys]).reshape(len(keys), width)

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return the intersections of the weighted histograms."""
        return intersection(a, b)

    def evaluate_diagonal(self, a: FloatArray) -> FloatArray:
        """Return the sums of the weighted histograms, which are 1."""
        return np.asarray(a.sum(axis=1))

    def to_store(self) -> dict[str, Any]:
        """Leave out what can be computed again, and the folder: a file from elsewhere must not say where to write."""
        return {name: value for name, value in vars(self).items() if name not in ("_cache", "cache_folder")}

    def from_store(self, state: dict[str, Any]) -> None:
        """Fill a blank object from what a file holds, but for the folder, which only the user may choose."""
        self.__dict__.update({**state, "cache_folder": None})
        if "dictionary_" in state:
            self._check()
        self._cache = Cache(self.cache_size)

    def _describe(self, images: Objects, chosen: dict[str, int]) -> Iterator[Described]:
        """Yield the descriptors of the chosen images in their order, several at a time."""
        from joblib import Parallel, delayed

        tasks = (
            delayed(stored_sift)(
                images[number], f"image {number}", key, self.patch_size, self.spacing, self.cache_folder
            )
            for key, number in chosen.items()
        )
        workers = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        show = self.progress and len(chosen) > 1
        with progress_bar(len(chosen), "describing images", show=show) as advance:
            for described in workers(tasks):
                advance()
                yield described

    def _learn_words(self, samples: Sequence[Pixels], images: int, seed: int) -> npt.NDArray[np.float32]:
        descriptors = np.concatenate(samples) if samples else np.empty((0, 128), dtype=np.uint8)
        descriptors = descriptors[np.lexsort(descriptors.T[::-1])]
        changes = np.any(descriptors[1:] != descriptors[:-1], axis=1)
        distinct = int(changes.sum()) + (len(descriptors) > 0)
        if distinct < self.words:
            raise ValueError(
                f"the {images} example images have only {distinct} different descriptors, too few for a dictionary of "
                f"{self.words} words: use fewer words, a smaller spacing, or more (or less uniform) images."
            )
        key = (hashlib.blake2b(descriptors.tobytes(), digest_size=16).digest(), self.words, seed)
        dictionary = _DICTIONARIES.get(key)
        if dictionary is None:
            from sklearn.cluster import KMeans

            means = KMeans(self.words, n_init=1, random_state=seed).fit(descriptors.astype(np.float64))
            dictionary = np.asarray(means.cluster_centers_, dtype=np.float32)
            _DICTIONARIES.put(key, dictionary)
        return dictionary.copy()

    def _count(self, described: Described) -> npt.NDArray[np.uint32]:
        """Count the words in the cells of the finest level, (cells, cells, words)."""
        descriptors, shape = described
        cells = 2 ** (self.levels - 1)
        row, column = (
            np.asarray(patch_grid(size, self.patch_size, self.spacing) * cells / size).astype(np.intp) for size in shape
        )
        place = (row[:, None] * cells + column[None, :]).ravel() * self.words + _nearest(descriptors, self.dictionary_)
        counts = np.bincount(place, minlength=cells * cells * self.words)
        return counts.reshape(cells, cells, self.words).astype(np.uint32)

    def _check(self) -> None:
        least = {"words": 1, "levels": 1, "patch_size": 4, "spacing": 1, "n_descriptors": 1, "cache_size": 0}
        for name, smallest in least.items():
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < smallest:
                raise ValueError(f"SpatialPyramid has {name} = {value!r}; it must be an integer >= {smallest}.")
        width = self.words * 4 ** (min(self.levels, 50) - 1)
        if width > _MOST_NUMBERS:
            raise ValueError(
                f"SpatialPyramid has words = {self.words} and levels = {self.levels}, which describe an image by more "
                f"than {width:.3g} numbers; at most {_MOST_NUMBERS} are allowed."
            )
        if self.n_descriptors < self.words:
            raise ValueError(
                f"SpatialPyramid has n_descriptors = {self.n_descriptors}, fewer than the {self.words} words to learn."
            )

    def _check_size(self, shape: tuple[int, ...], number: int) -> None:
        if self.same_size and shape != self.image_shape_:
            raise ValueError(
                f"image {number} has the size {shape}, but the example images have {self.image_shape_} and same_size "
                "forbids others; resize it, or set same_size=False."
            )


def _distinct(images: Objects) -> tuple[list[str], dict[str, int]]:
    """Return the key of every image, and for each different key the first image that has it."""
    keys = [image_key(image) for image in images]
    first: dict[str, int] = {}
    for number, key in enumerate(keys):
        first.setdefault(key, number)
    return keys, first


def _sample(descriptors: Pixels, size: int, seed: int) -> Pixels:
    """Draw some descriptors of an image; the draw depends on the image, not on its place among the others."""
    if len(descriptors) <= size:
        return descriptors
    content = int.from_bytes(hashlib.blake2b(descriptors.tobytes(), digest_size=8).digest())
    return descriptors[np.random.default_rng([seed, content]).choice(len(descriptors), size, replace=False)]


def _nearest(descriptors: Pixels, dictionary: npt.NDArray[np.float32]) -> IntArray:
    """Return the nearest word of every descriptor."""
    half_norms = 0.5 * np.einsum("ij,ij->i", dictionary, dictionary)
    return np.asarray(np.argmin(half_norms - descriptors.astype(np.float32) @ dictionary.T, axis=1))


def _pyramid(counts: Any, levels: int) -> FloatArray:
    """Add up cells level by level, weigh the levels, and concatenate them, coarsest first."""
    parts = []
    histograms = counts / counts.sum()
    for level in reversed(range(levels)):
        weight = 0.5 ** (levels - level) if level > 0 else 0.5 ** (levels - 1)
        parts.append(weight * histograms.ravel())
        if level > 0:
            side = 2 ** (level - 1)
            histograms = histograms.reshape(side, 2, side, 2, -1).sum(axis=(1, 3))
    return np.concatenate(parts[::-1])
