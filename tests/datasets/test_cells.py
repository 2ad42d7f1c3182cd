"""The cells of a table."""

import numpy as np
import pytest

from kmcf.datasets import read_tables


@pytest.mark.parametrize("missing", ["", " ", "NA", "nan", "NULL", "None", "n/a"])
def test_words_for_missing(missing, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(f"x,y\n1,{missing}\n2,3\n")
    np.testing.assert_array_equal(read_tables(path, observation="y")[0].observations, [[np.nan], [3.0]])
