"""The Spatial Pyramid Matching kernel against a literal implementation of the paper's formulas."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kmcf.kernels.spatial_pyramid as module
from kmcf.kernels import SpatialPyramid
from kmcf.kernels.image_features import Cache, dense_sift

cv2 = pytest.importorskip("cv2")


def smooth_image(seed, shape=(64, 96)):
    noise = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    blurred = cv2.GaussianBlur(noise, (0, 0), 2.0)
    return np.uint8(255 * (blurred - blurred.min()) / np.ptp(blurred))


IMAGES = [smooth_image(seed) for seed in range(8)]
SMALL = SpatialPyramid(words=12)


@pytest.fixture(scope="module")
def kernel():
    return clone(SMALL).fit(IMAGES)


@pytest.fixture
def described(monkeypatch):
    """Names of the images described."""
    names = []
    original = module.stored_sift

    def count(image, name, *rest):
        names.append(name)
        return original(image, name, *rest)

    monkeypatch.setattr(module, "stored_sift", count)
    return names


def words_and_places(image, dictionary):
    """The nearest word of each patch and the patch's centre, by loops."""
    height, width = image.shape
    corners = [
        (y, x)
        for y in range((height - 16) % 8 // 2, height - 15, 8)
        for x in range((width - 16) % 8 // 2, width - 15, 8)
    ]
    found = []
    for (y, x), descriptor in zip(corners, dense_sift(image, 16, 8).astype(float), strict=True):
        word = int(np.argmin([np.sum((descriptor - centre) ** 2) for centre in dictionary.astype(float)]))
        found.append((word, y + 7.5, x + 7.5))
    return found


def pyramid_match(a, b, dictionary, levels):
    """Equations 2 and 3 of Lazebnik, Schmid and Ponce: K = 2^-L I_0 + Σ_l 2^-(L-l+1) I_l."""
    parts = [(words_and_places(image, dictionary), image.shape) for image in (a, b)]
    L, total = levels - 1, 0.0
    for level in range(levels):
        histograms = []
        for found, (height, width) in parts:
            counts = {}
            for word, y, x in found:
                cell = (word, int(y * 2**level / height), int(x * 2**level / width))
                counts[cell] = counts.get(cell, 0) + 1 / len(found)
            histograms.append(counts)
        common = sum(min(value, histograms[1].get(cell, 0)) for cell, value in histograms[0].items())
        total += common * (1 / 2**L if level == 0 else 1 / 2 ** (L - level + 1))
    return total


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_kernel_is_the_papers_pyramid_match(levels):
    kernel = SpatialPyramid(words=12, levels=levels).fit(IMAGES)
    others = [smooth_image(100), smooth_image(101, (50, 131))]
    expected = [[pyramid_match(a, b, kernel.dictionary_, levels) for b in others] for a in IMAGES[:3]]
    np.testing.assert_allclose(kernel(IMAGES[:3], others), expected, rtol=1e-6)


def test_the_papers_settings_give_4200_bins_with_its_weights():
    images = [smooth_image(seed, (120, 160)) for seed in range(3)]
    kernel = SpatialPyramid().fit(images)
    histograms = kernel.prepare(images)
    assert kernel.dictionary_.shape == (200, 128)
    assert histograms.shape == (3, 4200)
    np.testing.assert_allclose(histograms[:, :200].sum(axis=1), 1 / 4)
    np.testing.assert_allclose(histograms[:, 200:1000].sum(axis=1), 1 / 4)
    np.testing.assert_allclose(histograms[:, 1000:].sum(axis=1), 1 / 2)


def test_images_of_any_size_kind_and_container(kernel, tmp_path):
    path = tmp_path / "first.png"
    cv2.imwrite(str(path), IMAGES[0])
    forms = [IMAGES[0], IMAGES[0] / 255.0, np.dstack([IMAGES[0]] * 3), path, str(path)]
    np.testing.assert_allclose(kernel(forms), 1.0)
    stacked = np.stack(IMAGES)
    np.testing.assert_allclose(kernel(stacked), kernel(IMAGES))
    np.testing.assert_allclose(kernel(np.stack([stacked] * 3, axis=-1)), kernel(IMAGES))
    assert 0 < kernel(IMAGES[:1], [smooth_image(9, (300, 40))])[0, 0] < 1


def test_where_things_are_counts_from_the_second_level_on():
    left = np.zeros((64, 128), dtype=np.uint8)
    left[:, 8:56] = smooth_image(1, (64, 48))
    right = np.roll(left, 64, axis=1)
    flat, deep = (SpatialPyramid(words=8, levels=n).fit([*IMAGES, left]) for n in (1, 3))
    assert flat([left], [right])[0, 0] > 0.99
    assert deep([left], [right])[0, 0] < 0.8


@pytest.fixture
def forgotten(monkeypatch):
    """No dictionary is remembered."""
    monkeypatch.setattr(module, "_DICTIONARIES", Cache(0))


@pytest.mark.usefixtures("forgotten")
def test_the_dictionary_is_repeatable_and_ignores_the_order(kernel):
    again = clone(SMALL).fit(IMAGES[::-1])
    np.testing.assert_array_equal(again.dictionary_, kernel.dictionary_)
    subset = SpatialPyramid(words=12, n_descriptors=100)
    first, second = clone(subset).fit(IMAGES), clone(subset).fit(IMAGES[::-1])
    np.testing.assert_array_equal(first.dictionary_, second.dictionary_)
    other = clone(subset).set_params(random_state=1).fit(IMAGES)
    assert np.any(first.dictionary_ != other.dictionary_)


def test_a_dictionary_is_learnt_once_from_the_same_descriptors(monkeypatch):
    first = SpatialPyramid(words=11).fit(IMAGES)
    monkeypatch.setattr("sklearn.cluster.KMeans.fit", None)
    again = SpatialPyramid(words=11).fit(IMAGES[::-1])
    np.testing.assert_array_equal(again.dictionary_, first.dictionary_)
    assert again.dictionary_ is not first.dictionary_
    for other in ({"words": 10}, {"words": 11, "random_state": 1}, {"words": 11, "spacing": 9}):
        with pytest.raises(TypeError):
            SpatialPyramid(**other).fit(IMAGES)


def test_no_image_is_described_twice(described):
    kernel = clone(SMALL).fit([*IMAGES, IMAGES[0]])
    assert len(described) == 8
    kernel(IMAGES)
    kernel.diagonal(IMAGES)
    assert len(described) == 8
    kernel([smooth_image(50)] * 3)
    kernel([smooth_image(50)])
    assert len(described) == 9


def test_the_cache_is_bounded(described):
    kernel = clone(SMALL).set_params(cache_size=2).fit(IMAGES)
    np.testing.assert_allclose(kernel(IMAGES), clone(SMALL).fit(IMAGES)(IMAGES))
    assert len(described) == 8 + 6 + 8


def test_descriptors_beyond_the_memory_limit_are_computed_again(described, monkeypatch):
    monkeypatch.setattr(module, "_HELD_BYTES", 3 * 7 * 11 * 128)
    kernel = clone(SMALL).fit(IMAGES)
    matrix = kernel(IMAGES)
    assert 8 < len(described) < 16
    np.testing.assert_allclose(np.diag(matrix), 1.0)


def test_a_folder_keeps_descriptors_for_later(tmp_path, monkeypatch):
    settings = {"cache_folder": str(tmp_path)}
    first = clone(SMALL).set_params(**settings).fit(IMAGES)
    assert len(list(tmp_path.iterdir())) == 8
    monkeypatch.setattr("kmcf.kernels.image_features.dense_sift", None)
    second = clone(SMALL).set_params(**settings).fit(IMAGES)
    np.testing.assert_array_equal(first(IMAGES), second(IMAGES))


def test_threads_and_bars_change_nothing(kernel, capsys):
    pytest.importorskip("tqdm")
    parallel = clone(SMALL).set_params(n_jobs=2, progress=True).fit(IMAGES)
    assert "describing images" in capsys.readouterr().err
    np.testing.assert_array_equal(parallel(IMAGES), kernel(IMAGES))
    assert capsys.readouterr().err == ""


def test_a_fitted_kernel_can_be_pickled(kernel):
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kernel))(IMAGES), kernel(IMAGES))


def test_too_few_descriptors_say_what_to_do():
    with pytest.raises(ValueError, match=r"the 2 example images have only 12 different descriptors, too few .* 200"):
        SpatialPyramid().fit([smooth_image(i, (24, 32)) for i in range(2)])
    with pytest.raises(ValueError, match=r"only 1 different descriptors.*fewer words, a smaller spacing, or more"):
        SpatialPyramid(words=5).fit([np.full((64, 64), grey) for grey in (10, 20, 30)])
    with pytest.raises(ValueError, match="the 0 example images"):
        SpatialPyramid().fit([])


def test_constant_images_resemble_each_other(kernel):
    flat = [np.full((64, 64), 7, dtype=np.uint8), np.full((90, 40), 200, dtype=np.uint8)]
    matrix = kernel([*flat, IMAGES[0]])
    assert np.all(np.isfinite(matrix))
    assert matrix[0, 1] > 0.8
    assert matrix[0, 2] < 0.3


def test_sizes_are_checked_only_where_asked(kernel):
    assert kernel.image_shape_ == (64, 96)
    mixed = [*IMAGES, smooth_image(9, (40, 40))]
    assert clone(SMALL).fit(mixed).image_shape_ is None
    strict = clone(SMALL).set_params(same_size=True)
    with pytest.raises(ValueError, match=r"2 different sizes.*same_size forbids"):
        clone(strict).fit(mixed)
    with pytest.raises(ValueError, match=r"image 1 has the size \(40, 40\), but the example images have \(64, 96\)"):
        strict.fit(IMAGES)([IMAGES[0], mixed[-1]])


def test_bad_images_are_named_by_number(kernel, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"image 1, the file '.*broken\.png', is not an image"):
        kernel([IMAGES[0], broken])
    with pytest.raises(ValueError, match="image 1 has 5 × 5 pixels"):
        kernel([IMAGES[0], np.zeros((5, 5))])
    with pytest.raises(FileNotFoundError, match="absent"):
        kernel([tmp_path / "absent.png"])


@pytest.mark.parametrize("name", ["words", "levels", "patch_size", "spacing", "n_descriptors", "cache_size"])
def test_wrong_settings_are_named(name):
    with pytest.raises(ValueError, match=f"{name} = -1"):
        SpatialPyramid(**{name: -1}).fit(IMAGES)


def test_fewer_descriptors_than_words_asked_for_is_an_error():
    with pytest.raises(ValueError, match="n_descriptors = 100, fewer than the 200 words"):
        SpatialPyramid(n_descriptors=100).fit(IMAGES)


def test_it_must_be_fitted():
    with pytest.raises(NotFittedError, match="fit"):
        SpatialPyramid()(IMAGES)


def test_opencv_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"this needs cv2; install it with: pip install 'kmcf\[images\]'"):
        SpatialPyramid().fit(IMAGES)
