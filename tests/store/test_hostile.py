"""Files made on purpose: what they must not be able to do."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
from file_surgery import npy, rebuilt
from store_cases import OBSERVATIONS, STATES

import kmcf
from kmcf.kernels import Gaussian
from kmcf.store import FileError, budget
from kmcf.store.decoding import Decoder


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_devices_are_not_read_without_end(device):
    with pytest.raises(FileError, match="not a regular file"):
        kmcf.load(device)


@pytest.mark.parametrize(("name", "part", "position"), [("MT19937", "pos", 10**6), ("MT19937", "pos", -1)])
def test_positions_outside_a_generators_buffer_are_refused(name, part, position):
    state = np.random.Generator(getattr(np.random, name)(0)).bit_generator.state
    state["state"][part] = position
    with pytest.raises(FileError, match="out of range"):
        decoded("generator", state)
    legacy = np.random.RandomState(0).get_state(legacy=False)
    legacy["state"][part] = position
    with pytest.raises(FileError, match="out of range"):
        decoded("random_state", legacy)


def test_the_buffer_of_philox_too():
    state = np.random.Generator(np.random.Philox(0)).bit_generator.state
    state["buffer_pos"] = 400
    with pytest.raises(FileError, match="out of range"):
        decoded("generator", state)


def decoded(tag, state):
    """Decode a generator's state, as if it had come from a file."""
    decoder = Decoder(None, {}, [])
    decoder.decode = lambda value: value if value is state else Decoder.decode(decoder, value)
    return decoder._readers[tag](state, {})


def test_a_file_does_not_choose_where_to_write():
    kernel = kmcf.kernels.SpatialPyramid(cache_folder="mine")
    blank = kmcf.kernels.SpatialPyramid.__new__(kmcf.kernels.SpatialPyramid)
    blank.from_store({**kernel.to_store(), "cache_folder": "/somewhere"})
    assert blank.cache_folder is None


def written(kernel, folder, change):
    """Save a kernel, change its file on purpose, and return the path."""
    path = folder / "k.kmcf"
    kmcf.store.save(kernel, path)
    path.write_bytes(rebuilt(path.read_bytes(), change))
    return path


def test_an_array_named_a_thousand_times_is_refused(tmp_path):
    def change(manifest, members):
        members["array_0.npy"] = npy((2**20,), data=bytes(2**23))
        manifest["root"]["state"]["bandwidth"] = [{"array": "array_0"}] * 1000

    with pytest.raises(FileError, match="names the array array_0 too often"):
        kmcf.load(written(Gaussian(1.0), tmp_path, change))


def test_what_is_named_too_often_is_written_anew_by_saving(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "MOST_REPEATED", 10_000)
    picture = np.arange(1000.0)
    kernel = kmcf.kernels.Columns(Gaussian(1.0), [picture] * 9)
    kmcf.store.save(kernel, tmp_path / "k.kmcf")
    restored = kmcf.load(tmp_path / "k.kmcf").columns
    assert len({id(part) for part in restored}) > 1
    assert all(np.array_equal(part, picture) for part in restored)


def test_a_regressor_that_names_its_arrays_too_often_is_refused(tmp_path):
    pytest.importorskip("skops")
    from sklearn.linear_model import Ridge

    kernel = kmcf.kernels.Learned(Ridge()).fit(np.eye(30), np.arange(30.0)[:, None])

    def change(_, members):
        with zipfile.ZipFile(io.BytesIO(members["bytes_0.bin"])) as inner:
            parts = {name: inner.read(name) for name in inner.namelist()}
        schema = json.loads(parts["schema.json"])
        parts["big.npy"] = npy((2**19,), data=bytes(2**22))
        schema["more"] = [{"__loader__": "NdArrayNode", "type": "numpy", "file": "big.npy"}] * 1000
        parts["schema.json"] = json.dumps(schema).encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as inner:
            for name, data in parts.items():
                inner.writestr(name, data)
        members["bytes_0.bin"] = buffer.getvalue()

    with pytest.raises(FileError, match="names its arrays so often"):
        kmcf.load(written(kernel, tmp_path, change))


def doubled(levels):
    """A kernel that holds itself twice, level by level."""
    kernel = Gaussian(1.0)
    for _ in range(levels):
        kernel = kernel + kernel
    return kernel


def test_parts_that_hold_each_other_without_end_are_neither_saved_nor_loaded(tmp_path):
    with pytest.raises(ValueError, match="Sum cannot be saved: its parts hold each other so often"):
        kmcf.store.save(doubled(40), tmp_path / "k.kmcf")

    def change(manifest, _):
        node = {"object": "Gaussian", "number": 0, "state": {"bandwidth": 1.0, "multiplier": 1.0}}
        for level in range(1, 41):
            node = {"object": "Sum", "number": level, "state": {"first": node, "second": {"same": level - 1}}}
        manifest["root"] = node

    path = written(Gaussian(1.0), tmp_path, change)
    for read in (kmcf.load, kmcf.store.describe_file):
        with pytest.raises(FileError, match=r"k\.kmcf cannot be loaded: its parts hold each other so often"):
            read(path)
    assert repr(kmcf.load(saved(doubled(5), tmp_path))) == repr(doubled(5))


def saved(thing, folder):
    kmcf.store.save(thing, folder / "thing.kmcf")
    return folder / "thing.kmcf"


def test_long_sums_are_kept_and_endless_ones_are_not(tmp_path):
    def chain(length):
        kernel = Gaussian(1.0)
        for _ in range(length - 1):
            kernel = kernel + Gaussian(2.0)
        return kernel

    rows = np.linspace(0.0, 1.0, 4)[:, None]
    np.testing.assert_array_equal(kmcf.load(saved(chain(100), tmp_path))(rows), chain(100)(rows))
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        kmcf.store.save(chain(101), tmp_path / "k.kmcf")
    deep = "[" * 50_000 + "]" * 50_000

    def change(manifest, members):
        manifest["root"]["state"]["bandwidth"] = "DEEP"
        members["kmcf.json"] = json.dumps(manifest).replace('"DEEP"', deep).encode()

    path = written(Gaussian(1.0), tmp_path, lambda *_: None)
    path.write_bytes(rebuilt(path.read_bytes(), change, keep_manifest=True))
    with pytest.raises(FileError, match=r"k\.kmcf cannot be loaded"):
        kmcf.load(path)


@pytest.mark.parametrize("make", [kmcf.KernelMonteCarloFilter, kmcf.baselines.NearestNeighbor])
def test_a_billion_particles_are_refused(make, tmp_path):
    path = tmp_path / "m.kmcf"
    make(kmcf.transitions.GaussianRandomWalk(0.3), n_particles=50).fit(STATES, OBSERVATIONS).save(path)
    path.write_bytes(rebuilt(path.read_bytes(), lambda m, _: m["root"]["state"].update(n_particles=10**9)))
    with pytest.raises(FileError, match="n_particles = 1000000000; it must be at most"):
        kmcf.load(path)
    with pytest.raises(ValueError, match="n_particles = 1000000000; it must be at most"):
        make(kmcf.transitions.GaussianRandomWalk(0.3), n_particles=10**9).fit(STATES, OBSERVATIONS)


def test_only_settings_that_saving_writes_are_read(tmp_path):
    with pytest.raises(FileError, match="'folder' of Gaussian, which this version of kmcf does not know"):
        kmcf.load(written(Gaussian(1.0), tmp_path, lambda m, _: m["root"]["state"].update(folder="/")))


def test_a_pyramid_without_end_is_refused(tmp_path):
    kernel = kmcf.kernels.SpatialPyramid()
    kernel.__dict__["dictionary_"] = np.zeros((200, 128), dtype=np.float32)
    with pytest.raises(FileError, match="levels = 30"):
        kmcf.load(written(kernel, tmp_path, lambda m, _: m["root"]["state"].update(levels=30)))


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="not a regular file"):
        kmcf.load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        kmcf.load(tmp_path / "none")


def test_herding_chooses_from_no_more_than_it_would(tmp_path):
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), engine="compressed", random_state=0)
    path = tmp_path / "m.kmcf"
    flt.fit(STATES, OBSERVATIONS).save(path)

    def change(manifest, members):
        cache = manifest["root"]["state"]["cache_"]["versioned"][1]["dict"]
        name = cache[1][cache[0].index("candidates")]["array"]
        members[f"{name}.npy"] = npy((10**6,), "|i1", bytes(10**6))

    path.write_bytes(rebuilt(path.read_bytes(), change))
    with pytest.raises(FileError, match="herding has a strange choice of points"):
        kmcf.load(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m, _: m.update(angles=[-1]), "angles"),
        (lambda m, _: m.update(angles=["x"]), "angles"),
        (lambda m, _: m.update(batch=True), "which no run has"),
        (lambda _, members: members.update({"time.npy": npy((0,), "<i8")}), "which no run has"),
    ],
)
def test_runs_that_are_none(change, told, tmp_path):
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), random_state=0)
    path = tmp_path / "run.npz"
    flt.fit(STATES, OBSERVATIONS).filter(OBSERVATIONS[:3]).save(path)
    path.write_bytes(rebuilt(path.read_bytes(), change))
    with pytest.raises(FileError, match=told):
        kmcf.load(path)


def retouched(flt, folder, change):
    """Save a filter, change its file on purpose, and return the path."""
    path = folder / "m.kmcf"
    flt.save(path)
    path.write_bytes(rebuilt(path.read_bytes(), change))
    return path


def on_walk(make, **settings):
    return make(kmcf.transitions.GaussianRandomWalk(0.3), random_state=0, **settings).fit(STATES, OBSERVATIONS)


@pytest.mark.parametrize("make", [kmcf.KernelMonteCarloFilter, kmcf.baselines.KNNParticleFilter])
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"seed_": -1}, "random_state = -1"),  # which used to filter for ever
        ({"seed_": 2.5}, r"its seed is 2\.5; it must be a whole number"),
        ({"resampling": "x"}, "resampling = 'x'; it must be one of"),
        ({"resample_threshold": -1.0}, r"resample_threshold = -1\.0"),
        ({"initial": 7}, "initial must be a function"),
    ],
)
def test_settings_that_no_filter_was_fitted_with_are_refused(make, settings, told, tmp_path):
    with pytest.raises(FileError, match=told):
        kmcf.load(retouched(on_walk(make), tmp_path, lambda m, _: m["root"]["state"].update(settings)))


def test_of_each_sensor_too(tmp_path):
    examples = {"near": (STATES, OBSERVATIONS), "far": (STATES, OBSERVATIONS)}
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), random_state=0).fit(examples)
    with pytest.raises(FileError, match="rule = 'x'; it must be one of"):
        kmcf.load(retouched(flt, tmp_path, lambda m, _: m["root"]["state"].update(rule="x")))


@pytest.mark.parametrize(
    ("kernel", "name", "value"),
    [
        (kmcf.kernels.SignalStrength(), "range_", 0.0),
        (kmcf.kernels.SignalStrength(), "exponent_", -1.0),
        (kmcf.kernels.LaserScan(rotation=0), "max_range_", -3.0),
        (Gaussian(), "bandwidth_", {"float": "nan"}),
        (Gaussian(), "bandwidth_", "wide"),
        (Gaussian(), "bandwidth_", []),
    ],
)
def test_learnt_sizes_that_are_not_positive_are_refused(kernel, name, value, tmp_path):
    fitted = kernel.fit(np.random.default_rng(0).uniform(1.0, 5.0, size=(20, 6)))
    assert getattr(fitted, name) > 0
    with pytest.raises(FileError, match=f"has a {name} that is not a positive number"):
        kmcf.load(written(fitted, tmp_path, lambda m, _: m["root"]["state"].update({name: value})))


def test_factors_that_are_not_finite_are_refused(tmp_path):
    flt = on_walk(kmcf.KernelMonteCarloFilter, engine="compressed")

    def change(manifest, members):
        cache = manifest["root"]["state"]["cache_"]["versioned"][1]["dict"]
        tensors = cache[1][cache[0].index("tensors")]["dict"]
        name = tensors[1][tensors[0].index("moments")]["array"]
        moments = np.load(io.BytesIO(members[f"{name}.npy"]))
        members[f"{name}.npy"] = npy(moments.shape, data=np.full(moments.size, np.nan).tobytes())

    with pytest.raises(FileError, match="some numbers are NaN or infinite"):
        kmcf.load(retouched(flt, tmp_path, change))


def counting():
    places = np.linspace(0.0, 50.0, 60)[:, None]
    counts = np.random.default_rng(0).poisson(3.0, size=(60, 4))
    flt = kmcf.baselines.PoissonParticleFilter(kmcf.transitions.GaussianRandomWalk(0.3), random_state=0)
    return flt.fit(places, counts)


@pytest.mark.parametrize(
    ("width", "told"), [(1e-7, "a grid of"), (-1.0, "width_ = -1"), ({"float": "nan"}, "width_ = nan")]
)
def test_a_width_that_would_take_all_memory_is_refused(width, told, tmp_path):
    with pytest.raises(FileError, match=told):
        kmcf.load(retouched(counting(), tmp_path, lambda m, _: m["root"]["state"].update(width_=width)))


def test_counts_that_are_none_are_refused(tmp_path):
    def change(manifest, members):
        name = manifest["root"]["state"]["observations_"]["array"]
        members[f"{name}.npy"] = npy((60, 4), data=np.full(240, -1.0).tobytes())

    with pytest.raises(FileError, match="counts are whole numbers"):
        kmcf.load(retouched(counting(), tmp_path, change))


@pytest.mark.parametrize("kernel", [kmcf.kernels.PlacedLandmarks, kmcf.kernels.PlacedScan])
def test_a_billion_poses_to_try_are_refused(kernel, tmp_path):
    rng = np.random.default_rng(0)
    poses = rng.uniform(-1.0, 1.0, size=(30, 3))
    seen = rng.uniform(1.0, 5.0, size=(30, 12))
    observations = [[(0, *row[:2]), (1, *row[2:4])] for row in seen] if kernel.__name__ == "PlacedLandmarks" else seen
    flt = kmcf.KernelMonteCarloFilter(
        kmcf.transitions.GaussianRandomWalk(0.1), observation_kernel=kernel(search=50), support="particles",
        angles=[2], n_particles=20, random_state=0,
    )  # fmt: skip
    flt.fit(poses, observations)

    def change(manifest, _):
        manifest["root"]["state"]["observation_kernel_"]["state"]["search"] = 10**9

    with pytest.raises(FileError, match="search = 1000000000; it must be an integer, at least 0, at most 1000000"):
        kmcf.load(retouched(flt, tmp_path, change))


def test_a_transition_passed_again_that_cannot_be_called_is_refused_at_once(tmp_path):
    def move(states, control, rng):
        return states

    kmcf.KernelMonteCarloFilter(move, random_state=0).fit(STATES, OBSERVATIONS).save(tmp_path / "m.kmcf")
    with pytest.raises(kmcf.store.PassedAgainError, match=r"it takes \(states, rng\)"):
        kmcf.load(tmp_path / "m.kmcf", transition=lambda states, rng: states)
