"""Folds by leaving one recording out, and by time."""

import numpy as np

from kmcf.datasets import Recording
from kmcf_lab.localize.problem import Data
from kmcf_lab.localize.splits import earlier_and_later


def test_a_test_track_is_never_among_its_examples(radio):
    folds = radio.folds()
    assert [fold.name for fold in folds] == ["walk_0", "walk_1", "walk_2"]
    for fold in folds:
        examples = {row.tobytes() for row in fold.observations}
        assert not examples & {row.tobytes() for row in fold.test.observations}
        assert fold.size == sum(len(one) for one in fold.training) == 48
        assert fold.name not in [one.name for one in fold.training]


def test_earlier_and_later_parts_of_a_recording_with_gaps():
    time = np.array([0.0, 1, 2, 3, 10, 11, 12, 13, 30, 31])
    recording = Recording("track", time, np.arange(10.0)[:, None], np.ones((10, 1)))
    (fold,) = earlier_and_later(Data([recording]), share=0.8)
    assert fold.states.ravel().tolist() == list(range(8))
    assert fold.test.time.tolist() == [30.0, 31.0]
    assert [part.time.tolist() for part in fold.training] == [[0, 1, 2, 3], [10, 11, 12, 13]]
    assert [part.name for part in fold.tuning] == ["part 1", "part 2", "part 3"]
    assert sum(len(part) for part in fold.tuning) == 8
    assert len(earlier_and_later(Data([recording]), share=0.5, longest=2)[0].test) == 2
