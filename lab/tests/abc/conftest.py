"""One small run of the study for all tests of this folder."""

import pytest

from kmcf_lab.abc import study


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "TEST_STEPS", 40)
        patch.setattr(study, "BANDWIDTHS", (0.1, 0.3))
        patch.setattr(study, "ORACLE_PARTICLES", 200)
        return study.run_abc(tmp_path_factory.mktemp("cells"), ("1a", "2a"), (60, 120), (4, 20), repetitions=3)
