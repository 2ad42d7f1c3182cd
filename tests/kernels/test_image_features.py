"""Reading and describing images."""

import os

import numpy as np
import pytest

from kmcf.kernels.image_features import Cache, dense_sift, image_key, patch_grid, read_image, stored_sift

cv2 = pytest.importorskip("cv2")
GREY = np.random.default_rng(0).integers(0, 256, size=(40, 56), dtype=np.uint8)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "image.png"
    cv2.imwrite(str(path), GREY)
    return path


def test_the_same_picture_in_every_form_is_the_same(file):
    forms = [
        GREY,
        GREY.astype(float),
        GREY / 255.0,
        GREY.astype(np.float32) / 255,
        GREY.astype(np.uint16) * 257,
        GREY[:, :, None],
        np.repeat(GREY[:, :, None], 3, axis=2),
        np.dstack([GREY, GREY, GREY, np.zeros_like(GREY)]),
        np.asfortranarray(GREY),
        file,
        str(file),
    ]
    for form in forms:
        np.testing.assert_array_equal(read_image(form, "it"), GREY)


def test_colours_are_weighted_as_red_green_blue():
    red = np.zeros((20, 20, 3))
    red[:, :, 0] = 1.0
    np.testing.assert_array_equal(read_image(red, "it"), 76)  # 0.299 · 255


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (np.zeros(5), TypeError, r"it is an array of shape \(5,\); an image is"),
        (np.zeros((4, 4, 2)), TypeError, "1, 3 or 4 channels"),
        (None, TypeError, "it is None"),
        (7.0, TypeError, "an image is an array"),
        (np.zeros((0, 4)), ValueError, "it is empty"),
        (np.full((4, 4), np.nan), ValueError, "it has values from nan"),
        (np.full((4, 4), -1.0), ValueError, "pixels must be"),
        (np.full((4, 4), 300), ValueError, "16-bit images as uint16"),
    ],
)
def test_what_is_not_an_image_is_named(image, error, message):
    with pytest.raises(error, match=message):
        read_image(image, "it")


def test_files_that_are_no_images_are_named(tmp_path):
    empty, text = tmp_path / "empty.png", tmp_path / "text.png"
    empty.write_bytes(b"")
    text.write_text("not an image")
    with pytest.raises(ValueError, match=r"image 3, the file '.*empty\.png', is empty"):
        read_image(empty, "image 3")
    with pytest.raises(ValueError, match=r"the file '.*text\.png', is not an image that OpenCV can read"):
        read_image(text, "image 3")
    with pytest.raises(OSError, match=r"image 0, the file '.*', cannot be read: Is a directory"):
        read_image(tmp_path, "image 0")
    with pytest.raises(FileNotFoundError, match=r"the image file '.*absent\.png' cannot be read"):
        image_key(tmp_path / "absent.png")


def test_keys_tell_images_apart_and_notice_changes(file):
    key = image_key(file)
    assert key == image_key(str(file))
    os.utime(file, ns=(1, 1))
    assert image_key(file) != key
    assert image_key(GREY) == image_key(GREY.copy())
    assert image_key(GREY) != image_key(GREY.T)
    assert image_key(GREY) != image_key(GREY.reshape(-1, 40))


@pytest.mark.parametrize("size", [16, 17, 23, 24, 100])
def test_patches_fill_a_side_and_lie_inside(size):
    centres = patch_grid(size, 16, 8)
    assert centres.min() - 7.5 >= 0
    assert centres.max() + 7.5 <= size - 1
    assert len(centres) == (size - 16) // 8 + 1
    assert abs((centres.min() - 7.5) - (size - 1 - centres.max() - 7.5)) <= 1


def test_descriptors_are_local_and_ignore_contrast():
    descriptors = dense_sift(GREY, 16, 8)
    assert descriptors.shape == (4 * 6, 128)
    changed = GREY.copy()
    changed[:, 44:] = 0
    same = np.all(dense_sift(changed, 16, 8) == descriptors, axis=1).reshape(4, 6)
    assert same[:, :3].all()
    assert not same[:, 5].any()
    half = dense_sift((GREY // 2 * 2).astype(np.uint8), 16, 8).astype(int)
    quarter = dense_sift(GREY // 2, 16, 8).astype(int)
    assert np.abs(half - quarter).max() <= 1


def test_a_ramp_points_one_way():
    """A patch that only gets brighter to the right fills one orientation of each of the 16 cells."""
    ramp = np.tile(np.arange(0, 120, 3, dtype=np.uint8), (40, 1))
    inside = dense_sift(ramp, 16, 12)[0].reshape(16, 8).astype(float)
    assert (inside > 0.2 * inside.max()).sum(axis=1).max() == 1
    assert len(set(inside.argmax(axis=1))) == 1


def test_flat_patches_have_the_descriptor_zero():
    assert not dense_sift(np.full((32, 32), 90, dtype=np.uint8), 16, 8).any()


def test_small_images_are_refused():
    with pytest.raises(ValueError, match="image 0 has 10 × 56 pixels, fewer than a patch of 16 × 16"):
        stored_sift(GREY[:10], "image 0", "key", 16, 8, None)


def test_descriptors_are_stored_and_read_back(tmp_path, monkeypatch):
    folder = str(tmp_path / "new" / "folder")
    first, shape = stored_sift(GREY, "image 0", "key", 16, 8, folder)
    monkeypatch.setattr("kmcf.kernels.image_features.dense_sift", None)
    second, again = stored_sift(GREY, "image 0", "key", 16, 8, folder)
    np.testing.assert_array_equal(first, second)
    assert shape == again == (40, 56)
    with pytest.raises(TypeError):
        stored_sift(GREY, "image 0", "key", 16, 4, folder)  # other settings are another entry


def test_a_cache_forgets_the_least_recently_used():
    cache = Cache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_a_mask_is_black_and_white():
    mask = np.random.default_rng(0).random((8, 9)) < 0.5
    np.testing.assert_array_equal(read_image(mask, "image 0"), 255 * mask.astype(np.uint8))
