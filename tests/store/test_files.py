"""A loaded filter is the filter that was saved: bit for bit, and it goes on learning."""

import numpy as np
import pytest
from naming import plain_id
from sklearn.base import clone
from store_cases import (
    OBSERVATIONS,
    RNG,
    STATES,
    TEST,
    VECTOR_KERNELS,
    VECTORS,
    assert_same_run,
    cauchy,
    make,
    move,
    reloaded,
    small,
    widen,
)
from structured_cases import CASES

import kmcf
from kmcf.kernels import Columns, FromCallable, Gaussian, Learned, SpatialPyramid

MORE = 0.5 * RNG.normal(size=(12, 1)), 0.5 * RNG.normal(size=(12, 1))


SETTINGS = {
    "literal": {"engine": "literal"},
    "exact": {"engine": "exact", "rule": "importance"},
    "lowrank": {"engine": "lowrank", "rule": "importance", "tolerance": (1e-6, 1e-7)},
    "compressed": {"engine": "compressed", "tolerance": "auto"},
    "directions": {"engine": "compressed", "rank": (6, 5)},
    "particles": {"support": "particles"},
    "multinomial": {"resampling": "multinomial", "resample_threshold": 0},
    "none": {"resampling": "none", "n_particles": 40},
    "angles": {"angles": (0,)},
}


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_runs_are_bit_identical_also_after_learning_more(settings, tmp_path):
    flt = make(**settings).fit(STATES, OBSERVATIONS)
    twin = reloaded(flt, tmp_path / "model.kmcf", transition=move)
    assert_same_run(flt.filter(TEST), twin.filter(TEST))
    flt.partial_fit(*MORE)
    twin.partial_fit(*MORE)
    assert_same_run(flt.filter(TEST), twin.filter(TEST))
    third = reloaded(flt, tmp_path / "model.kmcf", transition=move)  # pivots and tensors that no fit would give
    assert_same_run(flt.filter(TEST), third.filter(TEST))
    assert_same_run(flt.refresh().filter(TEST), third.refresh().filter(TEST))


@pytest.mark.parametrize("kernel", VECTOR_KERNELS.values(), ids=VECTOR_KERNELS)
def test_kernels_on_vectors_come_back(kernel, tmp_path):
    flt = make(observation_kernel=kernel).fit(STATES, VECTORS)
    twin = reloaded(flt, tmp_path / "model.kmcf", transition=move)
    assert_same_run(flt.filter(VECTORS[:6] * 1.01), twin.filter(VECTORS[:6] * 1.01))
    assert repr(twin.observation_kernel) == repr(kernel)
    np.testing.assert_array_equal(twin.observation_kernel_(VECTORS[:9]), flt.observation_kernel_(VECTORS[:9]))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["exact", "lowrank"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_kernels_on_other_data_come_back_with_their_examples(case, engine, tmp_path):
    examples, test = case.objects(seed=0, count=30), case.objects(seed=1, count=4)
    flt = make(observation_kernel=clone(case.kernel), engine=engine).fit(STATES[:30], examples)
    twin = reloaded(flt, tmp_path / "model.kmcf", transition=move)
    assert_same_run(flt.filter(test), twin.filter(test))
    more = case.objects(seed=2, count=3)
    runs = [one.partial_fit(STATES[30:33], more).filter(test) for one in (flt, twin)]
    assert_same_run(*runs)


@pytest.mark.parametrize("chosen", ["plain", "learnt"])
def test_the_default_kernel_comes_back_with_the_reasons_for_it(chosen, tmp_path):
    flt = make().fit(STATES, OBSERVATIONS if chosen == "plain" else VECTORS)
    twin = reloaded(flt, tmp_path / "model.kmcf", transition=move)
    assert flt.kernel_choice_.name == twin.kernel_choice_.name == chosen
    assert twin.kernel_choice_.scores == flt.kernel_choice_.scores


def test_precomputed_matrices_and_herded_examples(tmp_path):
    matrix = cauchy(OBSERVATIONS, OBSERVATIONS)
    for settings in ({"observation_kernel": "precomputed"}, {"observation_kernel": "precomputed", "n_examples": 40}):
        flt = make(**settings).fit(STATES, matrix)
        twin = reloaded(flt, tmp_path / "model.kmcf", transition=move)
        assert_same_run(flt.filter(matrix[:5]), twin.filter(matrix[:5]))


def test_states_that_are_words(tmp_path):
    rooms = [f"room{i}" for i in range(4)] * 10
    seen = np.arange(40.0)[:, None] % 4
    same = FromCallable(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
    flt = make(state_kernel=same, initial=None).fit(rooms, seen)
    flt.transition = lambda states, control, rng: states
    twin = reloaded(flt, tmp_path / "m.kmcf", transition=flt.transition, state_kernel=same)
    assert twin.filter([[2.0], [2.0]]).mode == flt.filter([[2.0], [2.0]]).mode == ["room2", "room2"]


@pytest.mark.parametrize(
    "random_state", [3, np.random.default_rng(3), np.random.RandomState(3), np.int64(3)], ids=plain_id
)
def test_random_numbers_go_on(random_state, tmp_path):
    flt = make(random_state=random_state).fit(STATES, OBSERVATIONS)
    twin = reloaded(flt, tmp_path / "model.kmcf", transition=move)
    assert twin.seed_ == flt.seed_
    assert_same_run(flt.filter(TEST), twin.filter(TEST))
    fits = [one.fit(STATES, OBSERVATIONS).seed_ for one in (flt, twin)]  # the generator goes on from where it was
    assert fits[0] == fits[1]


def test_parts_of_kernels_are_named_as_scikit_learn_names_them(tmp_path):
    path = tmp_path / "model.kmcf"
    kernel = Gaussian(1.0) + Columns(FromCallable(cauchy), [0, 1])
    make(observation_kernel=kernel).fit(STATES, VECTORS).save(path)
    assert list(kmcf.store.describe_file(path)["passed_again"]) == ["transition", "observation_kernel__second__kernel"]
    kmcf.load(path, transition=move, observation_kernel__second__kernel=cauchy)
    flt = make(observation_kernel=Learned(features=widen)).fit(STATES, VECTORS)
    twin = reloaded(flt, path, transition=move, observation_kernel__features=widen)
    assert_same_run(flt.filter(VECTORS[:4] + 1), twin.filter(VECTORS[:4] + 1))


def test_functions_declared_at_fit(tmp_path):
    def inside(states):
        return states[:, 0] > 0

    path = tmp_path / "model.kmcf"
    flt = make(engine="compressed").fit(STATES, OBSERVATIONS, functions=[np.cos, inside])
    twin = reloaded(flt, path, transition=move, functions=[np.cos, inside])
    beliefs = [one.step(one.start(), [0.3]) for one in (flt, twin)]
    assert beliefs[0].expectation(inside) == beliefs[1].expectation(inside)
    with pytest.raises(TypeError, match=r"functions = .* a list of 2 or more"):
        kmcf.load(path, transition=move, functions=[np.cos])


def test_a_filter_that_was_not_fitted_keeps_its_settings(tmp_path):
    twin = reloaded(make(epsilon=0.02, rank=(3, None), angles=[0]), tmp_path / "m.kmcf", transition=move)
    assert (twin.epsilon, twin.rank, twin.angles) == (0.02, (3, None), [0])
    with pytest.raises(ValueError, match="call fit"):
        twin.filter(TEST)


def test_what_cannot_be_held_is_named(tmp_path):
    flt = small()
    flt.random_state = object()
    with pytest.raises(TypeError, match=r"random_state is an object of builtins\.object, which a file cannot hold"):
        flt.save(tmp_path / "m.kmcf")
    with pytest.raises(TypeError, match="save takes a filter"):
        kmcf.store.save([1, 2], tmp_path / "m.kmcf")
    assert list(tmp_path.iterdir()) == []


def test_a_file_says_what_it_holds(tmp_path):
    small().save(tmp_path / "m.kmcf")
    found = kmcf.store.describe_file(tmp_path / "m.kmcf")
    assert found["class"] == "KernelMonteCarloFilter"
    assert found["settings"]["engine"] == "lowrank"
    assert found["settings"]["transition"] == "passed as transition"
    assert found["fitted"]["ranks_"] == [4, 4]
    assert found["versions"]["kmcf"] == kmcf.__version__
    assert found["size"] == (tmp_path / "m.kmcf").stat().st_size


def test_a_file_does_not_say_where_to_write(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(8, 40, 40), dtype=np.uint8)
    kernel = SpatialPyramid(words=5, cache_folder=str(tmp_path / "cache")).fit(images)
    kmcf.store.save(kernel, tmp_path / "kernel.kmcf")
    twin = kmcf.load(tmp_path / "kernel.kmcf")
    assert twin.cache_folder is None
    np.testing.assert_array_equal(twin(images), kernel(images))


def test_notes_come_back_and_do_not_matter(tmp_path):
    flt = small()
    notes = {"columns": {"state": ["x"]}, "by": "me"}
    kmcf.store.save(flt, tmp_path / "model.kmcf", notes=notes)
    assert kmcf.store.describe_file(tmp_path / "model.kmcf")["notes"] == notes
    assert_same_run(flt.filter(TEST), kmcf.load(tmp_path / "model.kmcf", transition=move).filter(TEST))
    flt.save(tmp_path / "plain.kmcf")
    assert kmcf.store.describe_file(tmp_path / "plain.kmcf")["notes"] == {}
    with pytest.raises(TypeError, match="not JSON serializable"):
        kmcf.store.save(flt, tmp_path / "model.kmcf", notes={"a": object()})
    assert kmcf.store.describe_file(tmp_path / "model.kmcf")["notes"] == notes


def test_descriptions_show_numbers_and_shapes(tmp_path):
    walk = kmcf.transitions.GaussianRandomWalk().fit([[0.0, 1.0, 0.0, -1.0]])
    kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(STATES, OBSERVATIONS).save(tmp_path / "model.kmcf")
    about = kmcf.store.describe_file(tmp_path / "model.kmcf")
    assert about["settings"]["transition"] == "GaussianRandomWalk(scale=1.0, angles=[], step=None, scale_=[1.0])"
    assert about["fitted"]["states_"] == "float64 array 90 × 1"
    assert about["fitted"]["engine_"] == kmcf.load(tmp_path / "model.kmcf").engine_
