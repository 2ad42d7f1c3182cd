import pickle
import time
import warnings
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import TEST

from kmcf.bayes_rule.evidence import Evidence
from kmcf.compiled import compiling
from kmcf.compiled.compiling import announcing, compiled
from kmcf.compiled.held import HeldResults, may_stay
from kmcf.compiled.records import StepResult


def test_long_compiling_is_announced():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with announcing("the loop", patience=0.01):
            time.sleep(0.2)
    assert [str(warning.message)[:18] for warning in caught] == ["compiling the loop"]


def test_short_compiling_is_not():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with announcing("the loop", patience=0.2):
            pass
        time.sleep(0.3)
    assert not caught


def test_with_options_of_the_compiler_it_runs_inside_compiled_code_too(monkeypatch):
    monkeypatch.setattr(compiling, "_options", lambda: {"xla_cpu_enable_fast_min_max": False})
    twice = compiled(lambda x: 2 * x)
    assert twice(3.0) == 6.0
    assert jax.jit(lambda x: twice(3.0) + twice(x))(1.0) == 8.0  # of a constant, and of a placeholder


def test_errors_of_the_function_are_not_taken_for_those_of_options(monkeypatch):
    monkeypatch.setattr(compiling, "_options", lambda: {"xla_cpu_enable_fast_min_max": False})
    calls = []

    def broken(x):
        calls.append(x)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        compiled(broken)(3.0)
    assert len(calls) == 1


@pytest.fixture
def results():
    values = {name: jnp.arange(6.0).reshape(2, 3) for name in StepResult._fields}
    return StepResult(
        **values | {"evidence": Evidence(*[jnp.ones((2, 3))] * len(Evidence._fields)), "covariance": None}
    )


def test_columns_come_to_the_host_when_asked_for(results):
    held = HeldResults(results)
    assert isinstance(held.mean, np.ndarray)
    assert held.mean is held.mean
    assert not held.has_covariance
    assert held.at(1, 2).mean == 5.0
    assert held.at(1, 2).evidence.predicted == 1.0
    with pytest.raises(AttributeError):
        _ = held.nothing


def test_a_pickle_needs_no_device(results):
    again = pickle.loads(pickle.dumps(HeldResults(results)))
    np.testing.assert_array_equal(again.whole().picks, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(("used", "stays"), [(10, True), (26, False)])
def test_results_leave_a_device_that_fills_up(used, stays):
    device = SimpleNamespace(memory_stats=lambda: {"bytes_limit": 100, "bytes_in_use": used})
    assert may_stay(device) is stays


def test_columns_can_be_changed_by_their_owner(flt):
    own = flt.filter(TEST.observations)
    own.rejected[0] = True
    own.mean[0] = 0.0


@pytest.fixture
def other_options(monkeypatch):
    """Options that only the outermost compilation may have, as on a GPU."""
    monkeypatch.setattr("kmcf.compiled.compiling._options", lambda: {"xla_cpu_enable_fast_min_max": False})


@pytest.mark.usefixtures("other_options")
def test_compiled_functions_can_be_used_inside_compiled_code():
    double = compiled(lambda x: 2.0 * x)
    assert double(3.0) == 6.0
    np.testing.assert_array_equal(jax.jit(jax.vmap(double))(jnp.arange(3.0)), [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(jax.vmap(double)(jnp.arange(3.0)), [0.0, 2.0, 4.0])
    assert jax.grad(double)(1.0) == 2.0
