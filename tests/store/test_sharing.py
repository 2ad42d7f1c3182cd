"""Whatever is shared inside an object, a file gives it back part by part, and shared."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_cases import OBSERVATIONS, STATES, TEST, assert_same_run, make, move

import kmcf
from kmcf.kernels import AsinhScaled, Columns, Constant, Gaussian, Laplace, Linear, Matern

LEAVES = [Gaussian(0.5), Gaussian(2.0), Linear(), Laplace(1.5), Matern(0.7), Constant(0.3)]


@st.composite
def nests(draw):
    """Kernels made of a few leaves, each of which may occur several times, as the same object."""
    pool = [type(leaf)(**leaf.get_params()) for leaf in draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=3))]
    for _ in range(draw(st.integers(1, 6))):
        first, second = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        kind = draw(st.sampled_from(["sum", "product", "scaled", "columns"]))
        made = {
            "sum": lambda a=first, b=second: a + b,
            "product": lambda a=first, b=second: a * b,
            "scaled": lambda a=first: 0.5 * a,
            "columns": lambda a=first: Columns(a, [0]),
        }[kind]()
        pool.append(made)
    return pool[-1]


def parts(kernel):
    """Every kernel inside, in the order of their parameters, with its own parameters that are no kernels."""
    yield kernel
    for value in kernel.get_params(deep=False).values():
        if hasattr(value, "evaluate"):
            yield from parts(value)


def saved_and_loaded(thing, **passed):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "thing.kmcf"
        kmcf.store.save(thing, path)
        return kmcf.load(path, **passed)


@given(nests())
def test_nests_of_shared_kernels_come_back_part_by_part(kernel):
    other = saved_and_loaded(kernel)
    before, after = list(parts(kernel)), list(parts(other))
    assert [type(part) for part in after] == [type(part) for part in before]
    for old, new in zip(before, after, strict=True):
        for name, value in old.get_params(deep=False).items():
            if not hasattr(value, "evaluate"):
                assert getattr(new, name) == value
    same = [[a is b for b in before] for a in before]
    assert [[a is b for b in after] for a in after] == same
    rows = np.linspace(-1.0, 1.0, 7)[:, None]
    np.testing.assert_array_equal(other(rows), kernel(rows))


@pytest.mark.parametrize("seed", range(4))
def test_filters_with_shared_kernels_give_the_same_runs(seed):
    a, b = Gaussian(0.5 + seed), Laplace(2.0)
    shapes = [(a * b, a), (a, a), (a * b + a, b + a * b), (AsinhScaled(a), AsinhScaled(a) * Constant(2.0))]
    state_kernel, observation_kernel = shapes[seed]
    flt = make(state_kernel=state_kernel, observation_kernel=observation_kernel).fit(STATES, OBSERVATIONS)
    twin = saved_and_loaded(flt, transition=move)
    assert repr(twin.state_kernel) == repr(state_kernel)
    assert repr(twin.observation_kernel) == repr(observation_kernel)
    assert_same_run(flt.filter(TEST), twin.filter(TEST))


def test_transitions_with_shared_parts():
    walk = kmcf.transitions.GaussianRandomWalk(0.3)
    mixture = kmcf.transitions.with_recovery(walk, STATES, probability=0.1)
    flt = kmcf.KernelMonteCarloFilter(mixture, random_state=0).fit(STATES, OBSERVATIONS)
    assert_same_run(flt.filter(TEST), saved_and_loaded(flt).filter(TEST))
