import numpy as np
import pytest

from kmcf.numerics.arrays import all_finite, has_gaps

NUMBERS = {
    "usual": [1.0, -2.0],
    "squares overflow": [1e300, -1e300],
    "tiny": [1e-300],
    "none": [],
    "infinite": [np.inf, 1.0],
    "both infinities": [np.inf, -np.inf],
    "a gap": [np.nan, 1.0],
    "a gap and infinity": [np.nan, np.inf],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", NUMBERS)
def test_both_say_the_same_as_looking_at_every_number(name, kind):
    with np.errstate(over="ignore"):
        numbers = np.array(NUMBERS[name]).astype(kind).reshape(-1, 1)
    assert all_finite(numbers) == bool(np.isfinite(numbers).all())
    assert has_gaps(numbers) == bool(np.isnan(numbers).any())
