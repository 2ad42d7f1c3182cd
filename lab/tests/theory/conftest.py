"""One small run of the study for all tests of this folder."""

import pytest

from kmcf_lab.theory import bound, corollaries, rates
from kmcf_lab.theory.study import run_theory


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound, "POINT_COUNTS", (10, 200))  # fewer than usual: most of the time goes into many points
        patch.setattr(rates, "CANDIDATES", (10, 50, 100, 300))
        patch.setattr(corollaries, "SIZES", {b: sizes[:4] for b, sizes in corollaries.SIZES.items()})
        return run_theory(tmp_path_factory.mktemp("cells"), repetitions=4, draws=25, sizes=(50, 100, 200), steps=30)
