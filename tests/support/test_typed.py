"""Settings of the wrong type get a sentence; a word never passes for a number or a flag."""

import numpy as np
import pytest

from kmcf.support.typed import check_types


def make(flag: bool = False, count: int = 1, size: float | None = None, many: "float | list[float]" = 1.0) -> None:
    """Take settings of every plain type."""


@pytest.mark.parametrize(
    "good",
    [
        {"flag": np.bool_(True)},
        {"count": np.int64(3)},
        {"size": 1},
        {"size": np.float32(2)},
        {"size": None},
        {"many": [1.0, 2.0]},
        {"many": np.ones(3)},
        {"unknown": "anything"},
    ],
)
def test_what_fits_passes(good):
    check_types(make, good, "make has")


@pytest.mark.parametrize(
    ("wrong", "wanted"),
    [
        ({"flag": "false"}, "flag = 'false'; it must be True or False"),
        ({"flag": 1}, "flag = 1; it must be True or False"),
        ({"count": 2.5}, "count = 2.5; it must be an integer"),
        ({"count": True}, "count = True; it must be an integer"),
        ({"size": "big"}, "size = 'big'; it must be a number or None"),
        ({"size": False}, "size = False; it must be a number or None"),
        ({"many": "1,2"}, "many = '1,2'; it must be a number or a list of numbers"),
    ],
)
def test_what_does_not_fit_is_named(wrong, wanted):
    with pytest.raises(TypeError, match=f"^make has {wanted}.$"):
        check_types(make, wrong, "make has")
