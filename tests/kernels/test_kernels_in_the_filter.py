"""Every kernel for special data once through the filter: a walker on a line, seen in many ways."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import (
    ChiSquared,
    Hellinger,
    HistogramIntersection,
    LandmarkSet,
    LaserScan,
    Pose,
    SpatialPyramid,
    Spectrum,
)

LENGTH = 10.0
POSTS = np.arange(0.0, 11.0, 2.0)
STREET = "".join(np.random.default_rng(7).choice(list("abcd"), size=120))
FACADE = np.random.default_rng(8).normal(size=(48, 360))
for axis in (0, 1):
    FACADE = sum(np.roll(FACADE, shift, axis=axis) for shift in range(-2, 3)) / 2.2


def counts(x, rng):
    return rng.poisson(8.0 * np.exp(-0.5 * (np.arange(12) - x) ** 2)).astype(float)


def posts(x, rng):
    seen = np.flatnonzero(np.abs(POSTS - x) < 2.5)
    ahead = np.where(POSTS[seen] > x, 0.0, np.pi)
    distance, bearing = (noise * rng.normal(size=len(seen)) for noise in (0.2, 0.1))
    return [
        (f"post {i}", r, b) for i, r, b in zip(seen, np.abs(POSTS[seen] - x) + distance, ahead + bearing, strict=True)
    ]


def letters(x, rng):
    place = int(10 * x)
    text = np.array(list(STREET[place : place + 15]))
    text[rng.random(15) < 0.1] = "a"
    return "".join(text)


def pose(x, rng):
    return np.array([x, 0.0, 2 * np.pi * x / LENGTH]) + rng.normal(size=3) * [1.5, 1.0, 0.3]


def ranges(x, rng):
    angles = np.linspace(0, np.pi, 60) + 0.03 * rng.normal()
    walls = np.stack([1.5 / np.abs(np.sin(angles) + 1e-9), (LENGTH - x) / np.cos(angles), -x / np.cos(angles)])
    scan = np.min(np.where(walls > 0, walls, np.inf), axis=0) + 0.05 * rng.normal(size=60)
    return np.where(rng.random(60) < 0.03, np.nan, np.abs(scan))


def picture(x, rng):
    left = int(30 * x)
    view = FACADE[:, left : left + 48] + 0.1 * rng.normal(size=(48, 48))
    return np.clip(128 + 50 * view, 0, 255).astype(np.uint8)


PROBLEMS = {
    "intersection": (HistogramIntersection(normalize=True), counts),
    "chi-squared": (ChiSquared(), counts),
    "Hellinger": (Hellinger(normalize=True), counts),
    "landmarks matched": (LandmarkSet(angles=[2]), posts),
    "landmarks averaged": (LandmarkSet(angles=[2], method="mean"), posts),
    "spectrum": (Spectrum(3), letters),
    "mismatch": (Spectrum(4, mismatches=1), letters),
    "pose": (Pose(multiplier=0.5), pose),
    "laser scan": (LaserScan(rotation=2), ranges),
    "images": (SpatialPyramid(words=40), picture),
}


def walk(states, control, rng):
    return np.clip(states + 0.3 * rng.normal(size=states.shape), 0.0, LENGTH)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_walker_is_found(name):
    kernel, observe = PROBLEMS[name]
    if name == "images":
        pytest.importorskip("cv2")
    rng = np.random.default_rng(0)
    states = rng.uniform(0.0, LENGTH, size=(150, 1))
    flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kernel, random_state=0)
    flt.fit(states, [observe(x, rng) for x in states[:, 0]])
    path = [np.array([[5.0]])]
    for _ in range(29):
        path.append(walk(path[-1], None, rng))
    truth = np.array(path)[:, 0, 0]
    observations = [observe(x, rng) for x in truth]
    observations[10] = None
    run = flt.filter(observations)
    error = np.sqrt(np.mean((run.mean[3:, 0] - truth[3:]) ** 2))
    assert error < 0.5, f"{error:.2f}"
    assert not run.rejected.any()
    assert run.missing[10]


def test_a_pose_can_be_the_state():
    rng = np.random.default_rng(1)
    poses = np.column_stack([rng.uniform(0, 4, size=(250, 2)), rng.uniform(-np.pi, np.pi, 250)])

    def observe(p):
        return np.column_stack([p[:, :2], np.cos(p[:, 2:]), np.sin(p[:, 2:])]) + 0.1 * rng.normal(size=(len(p), 4))

    def stay(states, control, rng):
        return states + 0.05 * rng.normal(size=states.shape)

    flt = kmcf.KernelMonteCarloFilter(stay, state_kernel=Pose(multiplier=0.3), angles=(2,), random_state=0)
    flt.fit(poses, observe(poses))
    truth = np.array([[2.0, 1.0, np.pi - 0.05]])
    mean = flt.filter(observe(np.repeat(truth, 8, axis=0))).mean[-1]
    assert np.linalg.norm(mean[:2] - truth[0, :2]) < 0.4
    assert abs(np.exp(1j * mean[2]) - np.exp(1j * truth[0, 2])) < 0.4


def test_unseen_landmarks_do_not_disturb():
    rng = np.random.default_rng(2)
    states = rng.uniform(0.0, LENGTH, size=(150, 1))
    flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=LandmarkSet(angles=[2]), random_state=0)
    flt.fit(states, [posts(x, rng) for x in states[:, 0]])
    strange = [*posts(5.0, rng), ("never seen", 1.0, 0.0)]
    assert abs(flt.filter([strange, strange]).mean[-1, 0] - 5.0) < 0.7
