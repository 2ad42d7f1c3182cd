"""What cannot fit into memory is refused at once."""

import numpy as np
import pytest
from file_surgery import npy, rebuilt

import kmcf
from kmcf.numerics import memory
from kmcf.store import FileError


def test_matrices_larger_than_the_memory_are_refused_at_fit_and_at_load(tmp_path, monkeypatch):
    rows = np.linspace(0.0, 1.0, 50)[:, None]
    walk = kmcf.transitions.GaussianRandomWalk(0.3)
    kmcf.KernelMonteCarloFilter(walk, engine="literal", random_state=0).fit(rows, rows).save(tmp_path / "m.kmcf")
    n = 10**6  # a file of 16 MB, a matrix of 8 TB

    def change(manifest, members):
        for name in ("states_", "observations_"):
            members[f"{manifest['root']['state'][name]['array']}.npy"] = npy((n, 1), data=bytes(8 * n))

    path = tmp_path / "large.kmcf"
    path.write_bytes(rebuilt((tmp_path / "m.kmcf").read_bytes(), change))
    with pytest.raises(FileError, match=r"large\.kmcf cannot be loaded: there is not enough memory .* 8000 GB"):
        kmcf.load(path)
    monkeypatch.setattr(memory, "physical_bytes", lambda: 10_000.0)
    with pytest.raises(MemoryError, match="kernel matrix of 50 examples would take"):
        kmcf.KernelMonteCarloFilter(walk, engine="exact").fit(rows, rows)


def test_the_machine_has_some():
    assert memory.physical_bytes() > 1e8


def test_a_system_that_does_not_say_has_enough(monkeypatch):
    def silent(name):
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", silent)
    memory.physical_bytes.cache_clear()
    try:
        assert memory.physical_bytes() == np.inf
    finally:
        memory.physical_bytes.cache_clear()
