"""Series of numbers."""

import pytest

from kmcf.report import Series


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": [1, 2], "y": [1]}, "arrays of shapes"),
        ({"x": [[1]], "y": [[1]]}, "arrays of shapes"),
        ({"x": [1], "y": [1], "lower": [0]}, "one end of its uncertainty only"),
        ({"x": [1], "y": [1], "kind": "pie"}, "kind = 'pie'"),
    ],
)
def test_bad_series_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Series("s", **arguments)
