"""One small run of the study for all tests of this folder."""

import pytest

from kmcf_lab.resampling.study import run_resampling


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    return run_resampling(tmp_path_factory.mktemp("cells"), repetitions=6, draws=60)
