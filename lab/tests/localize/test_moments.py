"""The worst moments and their causes, on rows written by hand."""

import numpy as np
import pytest
from localize_rows import row

from kmcf.datasets import Recording
from kmcf.kernels import Gaussian
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.localize.moments import Cause, Circumstances, explained, gap, telling_steps, worst_steps
from kmcf_lab.localize.problem import LocalizationFold, Measure, Settings


def test_worst_steps_are_apart_and_count():
    errors = [50.0, 1.0, 2.0, 9.0, 8.0, np.nan, 3.0, 7.0]
    rows = [row(4 * t, e) for t, e in enumerate(errors)]
    assert worst_steps(rows, Measure("mean", dropped_seconds=1.0), 3) == [3, 7]
    assert worst_steps(rows, Measure("mean"), 1) == [0]
    rows[3] = row(12, 9.0, missing=True)
    assert telling_steps(rows, Measure("mean", dropped_seconds=1.0), 1) == {"accurate": [1], "difficult": [4]}


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"blind_seconds": 3.0}, Cause.missing),
        ({"rejected": True}, Cause.rejected),
        ({"gap": 4.0}, Cause.uncovered),
        ({"similarity_there": 0.7}, Cause.lookalike),
        ({}, Cause.inertia),
    ],
)
def test_causes(changes, cause):
    plain = {"error": 6.0, "blind_seconds": 0.0, "rejected": False, "gap": 0.2, "near": 1.0}
    plain |= {"similarity_here": 0.8, "similarity_there": 0.1, "mass": 0.2}
    found = Circumstances(**{**plain, **changes})
    assert found.cause is cause
    assert found.explanation.endswith(".")


def look_alike_fold():
    """A street of 21 m whose ends look the same; nothing was recorded between 8 and 12 m."""
    places = np.array([*range(9), *range(12, 21)], dtype=float)
    states = np.stack([places, np.zeros(18)], axis=1)
    looks = np.minimum(places, 20 - places)[:, None]
    walk = np.array([[1.0, 0.0], [10.0, 0.0], [19.0, 0.0], [19.0, 0.0]])
    seen = np.array([[1.0], [10.0], [1.0], [np.nan]])
    test = Recording("test", np.arange(4.0), walk, seen)
    return LocalizationFold("street", [test], states, looks, test)


def test_moments_are_explained_from_the_examples():
    fold = look_alike_fold()
    rows = [row(t, 18.0, x=19.0 if t == 0 else 1.0, missing=t == 3) for t in range(4)]
    settings = Settings(GaussianRandomWalk(), observation_kernel=Gaussian(0.5))
    moments = explained(fold, rows, [0, 1, 2, 3], settings, near=1.0)
    causes = [moment.circumstances.cause for moment in moments]
    assert causes == [Cause.lookalike, Cause.uncovered, Cause.lookalike, Cause.missing]
    assert moments[0].circumstances.similarity_there == pytest.approx(1.0)
    assert moments[1].circumstances.gap == 2.0
    assert moments[3].circumstances.blind_seconds == 1.0


def test_an_example_that_looks_the_other_way_is_not_near():
    poses = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, np.pi]])
    test = Recording("test", np.zeros(1), np.array([[0.1, 0.0, np.pi]]), [None], angles=(2,))
    assert gap(LocalizationFold("f", [test], poses, [None, None], test), 0) == pytest.approx(4.9)
