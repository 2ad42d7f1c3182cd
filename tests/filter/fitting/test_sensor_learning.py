"""Learning from examples of several sensors: shared and own settings, further examples, files, bad input."""

import pickle

import numpy as np
import pytest
from file_surgery import rebuilt
from sklearn.base import clone
from two_sensors import examples, initial, move, walk

import kmcf
from kmcf import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.baselines import GPParticleFilter, KernelBayesFilter, KNNParticleFilter, NearestNeighbor
from kmcf.kernels import Gaussian

GIVEN = examples(60, 0)
SEEN = walk(10, 0, every=2)


def laplace(a, b):
    return np.exp(-np.abs(a - b.T))


def wide(a, b):
    return np.exp(-np.abs(a - b.T) / 2.0)


def test_the_state_kernel_is_learnt_from_the_states_of_all_sensors():
    far = {"wifi": GIVEN["wifi"], "camera": (GIVEN["camera"][0] + 50.0, GIVEN["camera"][1])}
    flt = KernelMonteCarloFilter(move, random_state=0).fit(far)
    together = np.concatenate([far["wifi"][0], far["camera"][0]])
    expected = Gaussian(multiplier=0.5).fit(together).bandwidth_
    assert {flt.state_kernel_.bandwidth_} == {sensor.state_kernel_.bandwidth_ for sensor in flt.sensors_.values()}
    assert flt.state_kernel_.bandwidth_ == expected


def test_initial_states_are_drawn_from_the_examples_of_all_sensors():
    flt = KernelMonteCarloFilter(move, random_state=0).fit(GIVEN)
    drawn = flt.start().states[:, 0]
    for states, _ in GIVEN.values():
        assert np.isin(drawn, states).any()
    assert np.isin(drawn, np.concatenate([states for states, _ in GIVEN.values()])).all()
    assert flt.n_particles_ == 110


def test_each_sensor_learns_as_a_filter_alone_would_given_the_state_kernel():
    flt = KernelMonteCarloFilter(move, initial, state_kernel=Gaussian(0.8), random_state=0).fit(GIVEN)
    alone = KernelMonteCarloFilter(move, initial, state_kernel=Gaussian(0.8), random_state=0).fit(*GIVEN["camera"])
    np.testing.assert_array_equal(flt.sensors_["camera"].filter(SEEN["camera"]).mean, alone.filter(SEEN["camera"]).mean)
    assert flt.sensors_["camera"].delta_ == alone.delta_


def test_settings_may_be_given_by_sensor():
    flt = KernelMonteCarloFilter(
        move,
        initial,
        observation_kernel={"wifi": Gaussian(0.3)},
        delta={"wifi": 1e-3, "camera": 1e-2},
        n_examples={"camera": 20},
        floor={"wifi": -9.0},
        random_state=0,
    ).fit(GIVEN)
    wifi, camera = flt.sensors_["wifi"], flt.sensors_["camera"]
    assert wifi.observation_kernel_.bandwidth_ == 0.3
    assert camera.kernel_choice_.name == "plain"
    assert (wifi.delta_, camera.delta_) == (1e-3, 1e-2)
    assert (len(wifi.states_), len(camera.states_)) == (60, 20)
    assert (wifi.floor, camera.floor) == (-9.0, None)
    assert repr(clone(flt)) == repr(flt).rpartition(", fitted")[0]


@pytest.mark.parametrize("kind", [KernelMonteCarloFilter, ParticleLikelihoodFilter])
def test_further_examples_go_to_the_sensors_that_are_named(kind):
    more = examples(40, 7)
    grown = kind(move, initial, state_kernel=Gaussian(0.8), observation_kernel=Gaussian(0.5), random_state=0)
    whole = clone(grown)
    grown.fit(GIVEN).partial_fit({"camera": more["camera"]})
    joined = [np.concatenate(parts) for parts in zip(GIVEN["camera"], more["camera"], strict=True)]
    whole.fit({"wifi": GIVEN["wifi"], "camera": tuple(joined)})
    assert [len(sensor.states_) for sensor in grown.sensors_.values()] == [60, 80]
    np.testing.assert_allclose(grown.filter(SEEN).mean, whole.filter(SEEN).mean, atol=1e-6)
    np.testing.assert_allclose(grown.refresh().filter(SEEN).mean, whole.filter(SEEN).mean, atol=1e-6)


def test_further_examples_that_are_bad_change_nothing():
    flt = KernelMonteCarloFilter(move, initial, random_state=0).fit(GIVEN)
    before = flt.filter(SEEN).mean
    with pytest.raises(ValueError, match="shape"):
        flt.partial_fit({"wifi": ([[1.0]], [[1.0]]), "camera": ([[1.0]], [[1.0, 2.0]])})
    with pytest.raises(ValueError, match="no sensor 'lidar'; the filter was fitted with 'wifi', 'camera'"):
        flt.partial_fit({"lidar": ([[1.0]], [[1.0]])})
    with pytest.raises(TypeError, match="one dictionary"):
        flt.partial_fit([[1.0]], [[1.0]])
    np.testing.assert_array_equal(flt.filter(SEEN).mean, before)


def test_a_filter_can_be_fitted_to_one_sensor_again():
    flt = KernelMonteCarloFilter(move, initial, random_state=0).fit(GIVEN).fit(*GIVEN["wifi"])
    fresh = KernelMonteCarloFilter(move, initial, random_state=0).fit(*GIVEN["wifi"])
    np.testing.assert_array_equal(flt.filter(SEEN["wifi"]).mean, fresh.filter(SEEN["wifi"]).mean)
    assert flt.sensors_ is None
    assert not hasattr(flt.fit(GIVEN), "learnt_")


@pytest.mark.filterwarnings("ignore::kmcf.support.alerts.StalePivotsWarning")
@pytest.mark.parametrize(
    "flt",
    [
        KernelMonteCarloFilter(move, initial, random_state=0),
        KernelMonteCarloFilter(move, initial, engine="compressed", n_examples={"wifi": 30}, random_state=0),
        KernelMonteCarloFilter(move, initial, observation_kernel={"wifi": Gaussian(0.3)}, support="both"),
        ParticleLikelihoodFilter(move, initial, background=0.1, floor={"camera": "auto"}),
    ],
    ids=["default", "compressed", "both", "particles"],
)
def test_a_loaded_filter_gives_the_same_runs_bit_for_bit(flt, tmp_path):
    flt = clone(flt).fit(GIVEN).partial_fit(examples(20, 3)) if flt.n_examples is None else clone(flt).fit(GIVEN)
    flt.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=move, initial=initial)
    run = flt.filter(SEEN)
    for again in (loaded, pickle.loads(pickle.dumps(flt))):
        for name, values in again.filter(SEEN).columns().items():
            np.testing.assert_array_equal(values, run.columns()[name], err_msg=name)
    assert repr(loaded) == repr(flt)


def drop_states(sensors):
    _, parts = sensors["dict"]
    keys, values = parts[0]["dict"]
    del values[keys.index("states_")], keys[keys.index("states_")]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(sensors_=3),
        lambda state: state.update(sensors_={"dict": [[], []]}),
        lambda state: state.update(sensors_={"dict": [["wifi"], [7]]}),
        lambda state: drop_states(state["sensors_"]),
    ],
    ids=["a number", "nobody", "a number by name", "no states"],
)
def test_files_whose_sensors_make_no_sense_are_refused(change, tmp_path):
    path = tmp_path / "model.kmcf"
    KernelMonteCarloFilter(move, engine="exact", random_state=0).fit(GIVEN).save(path)
    path.write_bytes(rebuilt(path.read_bytes(), lambda manifest, members: change(manifest["root"]["state"])))
    with pytest.raises(kmcf.store.FileError, match=r"model\.kmcf cannot be loaded"):
        kmcf.load(path, transition=move)


def test_kernels_of_ones_own_are_passed_again_by_sensor_or_once_for_all(tmp_path):
    path = tmp_path / "model.kmcf"
    shared = KernelMonteCarloFilter(move, initial, observation_kernel=laplace, random_state=0).fit(GIVEN)
    shared.save(path)
    loaded = kmcf.load(path, transition=move, initial=initial, observation_kernel=laplace)
    np.testing.assert_array_equal(loaded.filter(SEEN).mean, shared.filter(SEEN).mean)
    own = KernelMonteCarloFilter(move, initial, observation_kernel={"wifi": laplace, "camera": wide}, random_state=0)
    own.fit(GIVEN).save(path)
    again = {"observation_kernel__wifi": laplace, "observation_kernel__camera": wide}
    loaded = kmcf.load(path, transition=move, initial=initial, **again)
    np.testing.assert_array_equal(loaded.filter(SEEN).mean, own.filter(SEEN).mean)
    with pytest.raises(kmcf.store.PassedAgainError, match="not the one"):
        kmcf.load(path, transition=move, initial=initial, **{**again, "observation_kernel__camera": laplace})
    with pytest.raises(kmcf.store.PassedAgainError, match="observation_kernel__camera"):
        kmcf.load(path, transition=move, initial=initial, observation_kernel__wifi=laplace)


def test_tables_and_words_list_the_sensors():
    flt = KernelMonteCarloFilter(move, random_state=0).fit(GIVEN)
    assert repr(flt).endswith("fitted to 60 examples of 'wifi', 50 examples of 'camera'")
    table = flt._repr_html_()
    assert "sensor &#x27;wifi&#x27;" in table
    assert "sensor &#x27;camera&#x27;" in table


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ({}, ValueError, "at least one sensor"),
        ({"wifi": GIVEN["wifi"][0]}, TypeError, "'wifi' must be a pair"),
        ({3: GIVEN["wifi"]}, TypeError, "names must be text"),
        ({"wifi": GIVEN["wifi"], "camera": ([[1.0]], [[1.0]])}, ValueError, "two examples are needed"),
        ({"wifi": GIVEN["wifi"], "camera": (np.ones((5, 2)), np.ones(5))}, ValueError, "the same kind of state"),
        ({"wifi": GIVEN["wifi"], "camera": (np.full((5, 1), np.nan), np.ones(5))}, ValueError, "states contain NaN"),
    ],
)
def test_bad_examples_get_a_sentence(given, kind, sentence):
    flt = KernelMonteCarloFilter(move)
    with pytest.raises(kind, match=sentence):
        flt.fit(given)


def test_bad_settings_get_a_sentence():
    with pytest.raises(ValueError, match="delta names the sensor 'lidar', but the examples are of 'wifi', 'camera'"):
        KernelMonteCarloFilter(move, delta={"lidar": 1.0}).fit(GIVEN)
    with pytest.raises(ValueError, match="delta = -1") as caught:
        KernelMonteCarloFilter(move, delta={"camera": -1.0}).fit(GIVEN)
    assert caught.value.__notes__ == ["(sensor 'camera')"]
    with pytest.raises(TypeError, match="delta is given by sensor, but the examples are not"):
        KernelMonteCarloFilter(move, delta={"wifi": 1.0}).fit(*GIVEN["wifi"])
    with pytest.raises(TypeError, match="fit takes states and observations; or, for several sensors"):
        KernelMonteCarloFilter(move).fit(GIVEN["wifi"][0])
    with pytest.raises(TypeError, match="nothing beside it"):
        ParticleLikelihoodFilter(move).fit(GIVEN, GIVEN["wifi"][1])


@pytest.mark.parametrize(
    "flt",
    [KNNParticleFilter(move), NearestNeighbor(move), GPParticleFilter(move), KernelBayesFilter(move)],
    ids=lambda flt: type(flt).__name__,
)
def test_baselines_say_that_they_learn_from_one_sensor(flt):
    with pytest.raises(TypeError, match=f"{type(flt).__name__} learns from one sensor"):
        flt.fit(GIVEN)


def test_tuning_says_that_it_takes_one_sensor():
    flt = KernelMonteCarloFilter(move)
    with pytest.raises(TypeError, match="tune takes the examples of one sensor"):
        kmcf.tune(flt, GIVEN, None)
    fitted = flt.fit(GIVEN)
    with pytest.raises(ValueError, match="refitted does not work with several sensors"):
        fitted.refitted(GIVEN, None, delta=1.0)


def test_several_sensors_raise_few_kinds_of_alarms():
    flt = KernelMonteCarloFilter(move, initial, random_state=0).fit(GIVEN)
    run = flt.filter(SEEN)
    states = np.concatenate([states for states, _ in GIVEN.values()])
    beyond = ((run.mean < states.min(axis=0)) | (run.mean > states.max(axis=0))).any(axis=1)
    np.testing.assert_array_equal(run.alarm, beyond | run.rejected | (run.ess < 1))
    with pytest.raises(TypeError, match="a dictionary of sequences by sensor"):
        flt.calibrate(*GIVEN["wifi"])


def test_jax_arrays_are_refused():
    jax = pytest.importorskip("jax")
    given = {name: tuple(jax.numpy.asarray(part) for part in pair) for name, pair in GIVEN.items()}
    with pytest.raises(TypeError, match="filtered with NumPy, not with JAX"):
        KernelMonteCarloFilter(move).fit(given)
