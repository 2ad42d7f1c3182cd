"""What a filter from a file asks for, and checks before it goes on."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from store_cases import (
    OBSERVATIONS,
    STATES,
    TEST,
    assert_same_run,
    begin,
    cauchy,
    make,
    move,
    reloaded,
)

import kmcf
from kmcf.bayes_rule.cache import LAYOUT


def test_what_the_user_wrote_is_asked_for_by_name(tmp_path):
    path = tmp_path / "model.kmcf"
    flt = make(initial=begin, observation_kernel=cauchy).fit(STATES, OBSERVATIONS)
    flt.save(path)
    with pytest.raises(TypeError, match=r"model\.kmcf was saved with functions of your own") as caught:
        kmcf.load(path)
    names = "transition, initial, observation_kernel"
    assert f"pass {names} again" in str(caught.value)
    assert f"kmcf.load({str(path)!r}, {', '.join(f'{n}=...' for n in names.split(', '))})" in str(caught.value)
    assert "transition was store_cases.move" in str(caught.value)
    with pytest.raises(TypeError, match=r"pass initial again \(you passed inital\)"):
        kmcf.load(path, transition=move, inital=begin, observation_kernel=cauchy)
    passed = {"transition": move, "initial": begin, "observation_kernel": cauchy}
    with pytest.raises(TypeError, match=r"needs only .* but got state_kernel; did you mean"):
        kmcf.load(path, **passed, state_kernel=cauchy)
    with pytest.raises(TypeError, match="transition = 3; it must be a function"):
        kmcf.load(path, **{**passed, "transition": 3})
    with pytest.raises(TypeError, match=r"the observation_kernel that was passed .* is not the one"):
        kmcf.load(path, **{**passed, "observation_kernel": RBF(1.0)})
    assert_same_run(flt.filter(TEST), kmcf.load(path, **passed).filter(TEST))


class Distance:
    """A callable object: scikit-learn's clone copies it, so the fitted kernel holds another one."""

    def __call__(self, a, b):
        return cauchy(a, b)


@pytest.mark.parametrize("kernel", [RBF(0.7) + RBF(2.0), Distance()], ids=["scikit-learn", "object"])
def test_kernel_objects_from_elsewhere_are_passed_once(kernel, tmp_path):
    flt = make(observation_kernel=kernel).fit(STATES, OBSERVATIONS)
    twin = reloaded(flt, tmp_path / "model.kmcf", transition=move, observation_kernel=kernel)
    assert_same_run(flt.filter(TEST), twin.filter(TEST))
    assert twin.observation_kernel is kernel


def test_factors_of_another_version_are_computed_again(tmp_path, monkeypatch):
    flt = make(engine="compressed").fit(STATES, OBSERVATIONS)
    flt.save(tmp_path / "m.kmcf")
    monkeypatch.setattr("kmcf.filter.restoring.LAYOUT", LAYOUT + 1)
    with pytest.warns(kmcf.RefittedWarning, match="computed again"):
        twin = kmcf.load(tmp_path / "m.kmcf", transition=move)
    np.testing.assert_allclose(twin.filter(TEST).mean, flt.filter(TEST).mean, atol=1e-8)
