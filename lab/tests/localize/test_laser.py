"""The well-known splits of laser logs."""

import numpy as np
import pytest
from stand_ins import carmen_file

from kmcf.datasets import carmen_log
from kmcf.datasets.carmen import SPLITS
from kmcf_lab.localize.laser import held_out_pass
from kmcf_lab.localize.problem import Data


def test_the_laser_split_keeps_its_distance(tmp_path):
    log = carmen_log(carmen_file(tmp_path / "drive.log"))
    (fold,) = held_out_pass(Data([log]), log="intel")
    first, last, buffer = SPLITS["intel"]["test"]
    np.testing.assert_array_equal(fold.test.time, np.arange(first, last))
    trained = np.concatenate([part.time for part in fold.training])
    np.testing.assert_array_equal(trained, [*range(first - buffer), *range(last + buffer, 200)])
    start, stop, gap = SPLITS["intel"]["validation"]
    *rest, validation = fold.tuning
    assert fold.validation == (validation.name,)
    np.testing.assert_array_equal(validation.time, np.arange(start, stop))
    tuned_on = np.concatenate([part.time for part in rest])
    np.testing.assert_array_equal(tuned_on, [*range(start - gap), *range(last + buffer, 200)])
    assert len({part.name for part in fold.tuning}) == len(fold.tuning)
    with pytest.raises(ValueError, match="has 200 scans, but the split of freiburg-079 needs 3630"):
        held_out_pass(Data([log]), log="freiburg-079")
