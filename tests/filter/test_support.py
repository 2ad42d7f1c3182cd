"""The words that a user chose, turned into a rule."""

import numpy as np
import pytest
from engine_cases import fitted
from vector_examples import fitted as fitted_to_vectors


@pytest.mark.parametrize("engine", ["literal", "exact", "auto"])
def test_engine_in_use_is_told(engine):
    flt = fitted_to_vectors(engine=engine)
    assert flt.engine_ in ("literal", "exact", "lowrank", "compressed")
    if engine != "auto":
        assert flt.engine_ == engine


def test_auto_tells_what_it_chose():
    flt = fitted()
    assert flt.engine_ == "compressed"
    p, q = flt.ranks_
    assert 10 < p < 60
    assert 5 < q < 60
    assert max(flt.trace_errors_) < 1e-7
    assert fitted(rule="importance").engine_ in ("lowrank", "exact")
    assert fitted(resampling="none").engine_ in ("lowrank", "exact")
    assert fitted(resample_threshold=np.inf).engine_ in ("lowrank", "exact")
