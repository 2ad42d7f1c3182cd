"""One small run of the study for all tests of this folder."""

import pytest

from kmcf_lab.normalisation import study


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "EXAMPLES", 50)
        return study.run_normalisation(
            tmp_path_factory.mktemp("cells"), ("1a", "2b"), (30, 60), repetitions=3, trials=2, steps=30
        )
