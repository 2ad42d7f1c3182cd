"""Files made on purpose: what they must not be able to do."""

import numpy as np
import pytest

import kmcf
from kmcf.store import FileError
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
