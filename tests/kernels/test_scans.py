"""The laser-scan kernel against loops over turned copies."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kmcf.kernels import Gaussian, LaserScan

RNG = np.random.default_rng(0)
SCANS = 1.0 + 3.0 * RNG.random((8, 24))


def by_loops(a, b, reach, width, full_circle):
    def copies(v):
        turns = range(-reach, reach + 1)
        if full_circle:
            return [np.array([v[(i + turn) % len(v)] for i in range(len(v))]) for turn in turns]
        return [np.array([v[i + turn] for i in range(reach, len(v) - reach)]) for turn in turns]

    def total(v, w):
        return sum(np.exp(-np.sum((x - y) ** 2) / (2 * width**2)) for x in copies(v) for y in copies(w))

    return np.array([[total(v, w) / np.sqrt(total(v, v) * total(w, w)) for w in b] for v in a])


@pytest.mark.parametrize("full_circle", [False, True])
@pytest.mark.parametrize("reach", [0, 1, 3])
def test_kernel_is_the_mean_over_turned_copies(full_circle, reach):
    kernel = LaserScan(max_range=9.0, rotation=reach, full_circle=full_circle, power=1.0, bandwidth=1.3)
    expected = by_loops(SCANS, SCANS[:3], reach, 1.3, full_circle)
    np.testing.assert_allclose(kernel(SCANS, SCANS[:3]), expected, rtol=1e-11)


def test_without_rotation_it_is_a_gaussian_on_roots():
    kernel = LaserScan(max_range=100.0, rotation=0, bandwidth=0.8)
    np.testing.assert_allclose(kernel(SCANS), Gaussian(0.8)(np.sqrt(SCANS)), rtol=1e-11)


def test_turned_scans_stay_similar():
    angles = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    room = 2.0 + np.cos(3 * angles) + 0.5 * np.sin(7 * angles)
    turned = np.roll(room, 4)[None]
    values = [
        LaserScan(max_range=9.0, beams=90, rotation=r, full_circle=True, bandwidth=0.5)([room], turned)[0, 0]
        for r in (0, 2, 4)
    ]
    assert values[0] < 1e-6 < values[1] < values[2]
    assert values[1] > 0.1


def test_ranges_are_clipped_and_no_return_is_the_limit():
    kernel = LaserScan(max_range=3.0, rotation=1, bandwidth=1.0)
    scans = np.full((5, 24), 2.0)
    scans[:, 4] = [3.0, 81.9, np.nan, np.inf, 2.9]
    matrix = kernel(scans)
    np.testing.assert_allclose(matrix[:4, :4], 1.0)
    assert matrix[0, 4] < 1.0


def test_beams_are_averaged():
    kernel = LaserScan(max_range=9.0, beams=8, rotation=0, power=1.0, bandwidth=1.0)
    pooled = SCANS.reshape(8, 8, 3).mean(axis=2)
    np.testing.assert_allclose(kernel(SCANS), Gaussian(1.0)(pooled), rtol=1e-11)
    odd = LaserScan(max_range=9.0, beams=5, rotation=0, power=1.0, bandwidth=1.0)
    np.testing.assert_allclose(odd.prepare(np.full((1, 24), 2.5))[0], 2.5)


def test_limits_and_bandwidth_are_learnt():
    scans = SCANS.copy()
    scans[0, :2] = [81.9, np.nan]
    kernel = LaserScan(rotation=0, power=1.0, multiplier=1.0).fit(scans)
    finite = scans[np.isfinite(scans)]
    assert kernel.max_range_ == pytest.approx(np.quantile(finite, 0.95))
    clipped = np.minimum(np.nan_to_num(scans, nan=99.0), kernel.max_range_)
    distances = [np.linalg.norm(clipped[i] - clipped[j]) for i in range(8) for j in range(i)]
    assert kernel.bandwidth_ == pytest.approx(np.median(distances))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rotation": 12}, "below half of them"),
        ({"rotation": -1}, "at least 0"),
        ({"rotation": 1.5}, "must be an integer"),
        ({"beams": 0}, "positive integer"),
        ({"power": 0.0}, "above 0 and at most 1"),
        ({"max_range": -3.0}, "max_range = -3.0"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        LaserScan(**settings).fit(SCANS)


def test_negative_and_hopeless_scans_are_errors():
    with pytest.raises(ValueError, match=r"beam 3 of scan 1 has the range -1\.0"):
        LaserScan().fit(np.where(np.arange(48).reshape(2, 24) == 27, -1.0, 2.0))
    with pytest.raises(ValueError, match="cannot learn max_range"):
        LaserScan().fit(np.full((2, 24), np.nan))
    with pytest.raises(NotFittedError, match="max_range"):
        LaserScan()(SCANS)
    with pytest.raises(ValueError, match="columns"):
        LaserScan(beams=99, rotation=0).fit(SCANS)(SCANS, SCANS[:, :20])


def test_a_bandwidth_that_is_given_is_kept():
    kernel = LaserScan(max_range=9.0, rotation=0, bandwidth=1.3)
    np.testing.assert_allclose(kernel.fit(SCANS)(SCANS), kernel(SCANS))
    assert kernel.bandwidth_ == 1.3
