"""Damaged and hostile files give one clear kind of error: no crash, no hang, no wrong result, no memory."""

import time
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from file_surgery import npy, rebuilt, sealed
from store_cases import STATES, TEST, assert_same_run, move, small

import kmcf
from kmcf.kernels import Gaussian
from kmcf.store import FileError
from kmcf.store.container import SEAL_LENGTH

FUZZED = 10_000


def damaged(whole, rng):
    """Return the bytes after one of the accidents that happen to files."""
    data = bytearray(whole)
    match rng.integers(6):
        case 0:  # bits flip
            for place in rng.integers(len(data), size=rng.integers(1, 4)):
                data[place] ^= 1 << rng.integers(8)
        case 1:  # the end is missing
            del data[rng.integers(len(data)) :]
        case 2:  # a block is lost
            start = rng.integers(len(data))
            del data[start : start + rng.integers(1, 600)]
        case 3:  # a block is zero
            start = rng.integers(len(data) - SEAL_LENGTH)
            size = rng.integers(1, 600)
            data[start : start + size] = bytes(len(data[start : start + size]))
        case 4:  # something is added
            start = rng.integers(len(data) + 1)
            data[start:start] = rng.bytes(rng.integers(1, 100))
        case 5:  # two blocks change places
            a, b = sorted(rng.integers(len(data), size=2))
            data = data[:a] + data[b:] + data[a:b]
    return bytes(data)


@pytest.mark.slow
def test_every_damaged_file_is_found_out(whole, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "m.kmcf"
    tried = 0
    for _ in range(FUZZED):
        data = damaged(whole, rng)
        if data == whole:  # zeros over zeros
            continue
        path.write_bytes(data)
        started = time.perf_counter()
        with pytest.raises(FileError, match=r"m\.kmcf cannot be loaded"):
            kmcf.load(path, transition=move)
        assert time.perf_counter() - started < 5  # nothing hangs
        tried += 1
    assert tried > 0.95 * FUZZED


def test_every_single_byte_counts(whole, tmp_path):
    for place in range(0, len(whole), 41):
        data = bytearray(whole)
        data[place] ^= 0x10
        (tmp_path / "m.kmcf").write_bytes(data)
        with pytest.raises(FileError):
            kmcf.load(tmp_path / "m.kmcf", transition=move)


@pytest.mark.slow
def test_files_damaged_behind_a_right_checksum_load_or_say_no(whole, tmp_path):
    """Whoever can compute a checksum can write any numbers, but not break the program that loads them."""
    rng = np.random.default_rng(1)
    path = tmp_path / "m.kmcf"
    refused = 0
    for _ in range(1500):
        path.write_bytes(sealed(damaged(whole, rng)))
        try:
            loaded = kmcf.load(path, transition=move)
        except FileError:
            refused += 1
        else:
            assert isinstance(loaded, kmcf.KernelMonteCarloFilter)
    assert refused > 500


def mangled(node, rng):
    """Replace some part of a JSON tree by something else that JSON can hold."""
    junk = (None, -1, 10**30, 1e300, "", "__class__", [], {}, {"object": "Gaussian"}, {"array": "array_0"}, [[]])
    if isinstance(node, dict) and node and rng.random() < 0.9:
        key = list(node)[rng.integers(len(node))]
        return {**node, key: mangled(node[key], rng)}
    if isinstance(node, list) and node and rng.random() < 0.9:
        place = int(rng.integers(len(node)))
        return [*node[:place], mangled(node[place], rng), *node[place + 1 :]]
    return junk[rng.integers(len(junk))]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kmcf.RefittedWarning")  # where the cache is what makes no sense
def test_manifests_that_make_no_sense_load_or_say_no(whole, tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "m.kmcf"
    for _ in range(600):
        path.write_bytes(rebuilt(whole, lambda manifest, _: manifest.update(root=mangled(manifest["root"], rng))))
        with suppress(FileError, kmcf.store.PassedAgainError):
            kmcf.load(path, transition=move)


def test_unpacking_and_packing_again_changes_nothing(whole, tmp_path):
    """The attacks below fail for what they change, not for how they are packed."""
    (tmp_path / "m.kmcf").write_bytes(rebuilt(whole))
    assert_same_run(kmcf.load(tmp_path / "m.kmcf", transition=move).filter(TEST), small().filter(TEST))


def set_array(data):
    return lambda _, members: members.update({"array_0.npy": data})


def set_root(**entries):
    return lambda manifest, _: manifest["root"]["state"].update(entries)


HOSTILE = {
    "huge array": (set_array(npy((10**9, 10**9))), "claims"),
    "array larger than its bytes": (set_array(npy((2**33,), data=bytes(64))), "claims"),
    "empty array with endless rows": (set_array(npy((2**60, 0))), "claims the shape"),
    "negative shape": (set_array(npy((-1, -1), data=bytes(8))), "claims the shape"),
    "array of objects": (set_array(npy((1,), "|O", b"cos\nsystem\n(S'false'\ntR.")), "never have"),
    "array of records": (set_array(npy((1,), [("a", "|O")], bytes(8))), "never have"),
    "class that is not ours": (set_root(_x={"object": "os.system", "number": 1, "state": {}}), "does not know"),
    "class by module": (set_root(_x={"object": "subprocess.Popen", "number": 1, "state": {}}), "does not know"),
    "function that is not ours": (set_root(_x={"function": "eval"}), "no file may ask for"),
    "generator that is none": (set_root(_x={"generator": {"dict": [["bit_generator"], ["seed"]]}}), "generator 'seed'"),
    "method hidden by a value": (set_root(filter=1), "'filter' of KernelMonteCarloFilter"),
    "magic attribute": (set_root(__class__="x"), "'__class__'"),
    "property hidden by a value": (set_root(n_particles_=10**15), "n_particles_"),
    "object that contains itself": (set_root(_x={"same": 10**6}), "makes no sense"),
    "sparse indices out of bounds": (
        set_root(_x={"sparse": [[2, 2], {"array": "d"}, {"array": "i"}, {"array": "p"}]}),
        "no member",
    ),
    "no manifest entries": (lambda manifest, _: manifest.clear(), "makes no sense"),
    "unknown tag": (set_root(_x={"code": "1"}), "tagged 'code'"),
    "argument left out": (lambda manifest, _: manifest["root"]["state"].pop("transition"), "lacks transition"),
    "unknown kind": (lambda manifest, _: manifest.update(root={"code": "1"}), "holds no filter"),
}


@pytest.mark.parametrize(("change", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(change, message, whole, tmp_path):
    (tmp_path / "m.kmcf").write_bytes(rebuilt(whole, change))
    with pytest.raises(FileError, match=message):
        kmcf.load(tmp_path / "m.kmcf", transition=move)


def test_sparse_matrices_are_checked(whole, tmp_path):
    def change(manifest, members):
        numbers = {"d": np.ones(2), "i": np.array([0, 10**6], dtype=np.int32), "p": np.array([0, 1, 2], dtype=np.int32)}
        for name, array in numbers.items():
            members[f"{name}.npy"] = npy(array.shape, array.dtype.str, array.tobytes())
        set_root(_x={"sparse": [[2, 2], {"array": "d"}, {"array": "i"}, {"array": "p"}]})(manifest, members)

    (tmp_path / "m.kmcf").write_bytes(rebuilt(whole, change))
    with pytest.raises(FileError, match="makes no sense"):
        kmcf.load(tmp_path / "m.kmcf", transition=move)


def test_a_zip_bomb_is_refused_before_memory_is_taken(whole, tmp_path):
    bomb = rebuilt(whole, set_array(npy((2**23,), data=bytes(2**26))), zipfile.ZIP_DEFLATED)
    assert len(bomb) < 2**20
    (tmp_path / "m.kmcf").write_bytes(bomb)
    tracemalloc.start()
    with pytest.raises(FileError, match="compressed"):
        kmcf.load(tmp_path / "m.kmcf", transition=move)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


def test_hooks_come_from_classes_only(tmp_path):
    kmcf.store.save(Gaussian(1.0), tmp_path / "k.kmcf")
    hook = {"object": "Constant", "number": 7, "state": {"value": 1.0}}  # kernels can be called
    (tmp_path / "k.kmcf").write_bytes(rebuilt((tmp_path / "k.kmcf").read_bytes(), set_root(after_loading=hook)))
    with pytest.raises(FileError, match="'after_loading' of Gaussian"):
        kmcf.load(tmp_path / "k.kmcf")  # nobody called it: it would have raised another error


def test_a_kernel_with_a_wrong_attribute_does_not_become_code(tmp_path):
    kmcf.store.save(Gaussian(1.0).fit(STATES), tmp_path / "k.kmcf")
    data = rebuilt((tmp_path / "k.kmcf").read_bytes(), set_root(evaluate={"pass": "evaluate"}))
    (tmp_path / "k.kmcf").write_bytes(data)
    with pytest.raises(FileError):
        kmcf.load(tmp_path / "k.kmcf")
