"""Studies are told apart by values, and recognised by them in another process."""

import hashlib
from functools import partial

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Columns, Gaussian
from kmcf.transitions import GaussianRandomWalk, with_recovery
from kmcf.tuning.fingerprints import fingerprint_of_settings

WALK = np.cumsum(np.random.default_rng(0).standard_t(2, size=(60, 1)), axis=0)


def scaled(factor):
    return lambda states, control, rng: factor * states


def pairs_that_differ():
    yield "arrays", Gaussian(np.array([1.0, 2.0])), Gaussian(np.array([1.0, 2.5]))
    yield "lists", Gaussian([1.0, 2.0]), Gaussian([1.0, 2.5])
    yield "columns", Columns(Gaussian(), [0]), Columns(Gaussian(), [1])
    yield "trim", GaussianRandomWalk().fit(WALK), GaussianRandomWalk().fit(WALK, trim=0.2)
    walk = GaussianRandomWalk(0.1)
    yield "recovery", *(with_recovery(walk, WALK, probability=p) for p in (0.1, 0.2))
    yield "closures", scaled(0.9), scaled(0.8)
    yield "numbers in functions", lambda s, u, r: 0.9 * s, lambda s, u, r: 0.8 * s
    yield "partial", partial(pow, 2.0), partial(pow, 3.0)
    yield "dictionaries", {"p": [1.0]}, {"p": [2.0]}
    yield "types", 1, 1.0
    yield "shapes", np.zeros((2, 3)), np.zeros((3, 2))


@pytest.mark.parametrize(
    ("first", "second"), [case[1:] for case in pairs_that_differ()], ids=[c[0] for c in pairs_that_differ()]
)
def test_values_count(first, second):
    assert fingerprint_of_settings(first) != fingerprint_of_settings(second)


def test_equal_settings_have_equal_fingerprints():
    for one, same in zip(pairs_that_differ(), pairs_that_differ(), strict=True):
        assert fingerprint_of_settings(one[1:]) == fingerprint_of_settings(same[1:])
    assert fingerprint_of_settings(np.float64(0.5)) == fingerprint_of_settings(0.5)


def test_what_a_kernel_learns_does_not_count_since_it_is_learnt_again():
    assert fingerprint_of_settings(Gaussian()) == fingerprint_of_settings(Gaussian().fit(WALK))


def test_the_order_inside_a_set_which_differs_from_process_to_process_does_not_count():
    expected = hashlib.sha256(b"set('x', 'y', 'z')").hexdigest()[:16]
    assert fingerprint_of_settings({"z", "y", "x"}) == expected


def test_a_study_with_another_array_is_another_study(tmp_path):
    observations = np.hstack([WALK, -WALK])

    def run(width, **motion):
        transition = GaussianRandomWalk().fit(WALK, **motion)
        flt = kmcf.KernelMonteCarloFilter(transition, observation_kernel=Gaussian(np.array([1.0, width])))
        path = tmp_path / "s.jsonl"
        return kmcf.tune(flt, WALK, observations, n_trials=1, random_state=0, study=path).best_value

    first = run(1.0)
    assert run(1.0) == first
    for change in ({"width": 5.0}, {"width": 1.0, "trim": 0.2}):
        with pytest.raises(ValueError, match="belongs to another study: it differs in filter"):
            run(**change)
