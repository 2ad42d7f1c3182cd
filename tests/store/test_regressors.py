"""Regressors of scikit-learn in files: only types that are trusted."""

import io
import sys
import zipfile

import pytest
from file_surgery import npy, rebuilt
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from store_cases import (
    STATES,
    VECTORS,
    assert_same_run,
    make,
    move,
    reloaded,
)

import kmcf
from kmcf.kernels import Learned
from kmcf.store import FileError


@pytest.mark.slow
def test_regressors_come_back_through_skops_if_their_types_are_trusted(tmp_path):
    pytest.importorskip("skops")
    flt = make(observation_kernel=Learned(Ridge(alpha=0.1))).fit(STATES, VECTORS)
    twin = reloaded(flt, tmp_path / "ridge.kmcf", transition=move)
    assert_same_run(flt.filter(VECTORS[:5] + 0.1), twin.filter(VECTORS[:5] + 0.1))
    trees = ExtraTreesRegressor(5, random_state=0)
    flt = make(observation_kernel=Learned(trees)).fit(STATES, VECTORS)
    flt.save(tmp_path / "trees.kmcf")
    with pytest.raises(TypeError, match=r"skops does not trust: sklearn\.tree\._tree\.Tree\. If you trust"):
        kmcf.load(tmp_path / "trees.kmcf", transition=move)
    twin = kmcf.load(tmp_path / "trees.kmcf", transition=move, trusted=["sklearn.tree._tree.Tree"])
    assert_same_run(flt.filter(VECTORS[:5] + 0.1), twin.filter(VECTORS[:5] + 0.1))


def test_a_regressor_without_skops_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    flt = make(observation_kernel=Learned(Ridge())).fit(STATES, VECTORS)
    with pytest.raises(ImportError, match=r"observation_kernel.regressor is a Ridge .*kmcf\[store\]"):
        flt.save(tmp_path / "m.kmcf")
    assert not (tmp_path / "m.kmcf").exists()


def test_regressors_are_checked_before_skops_reads_them(tmp_path):
    pytest.importorskip("skops")
    from sklearn.linear_model import Ridge

    from kmcf.kernels import Learned

    make(observation_kernel=Learned(Ridge())).fit(STATES, VECTORS).save(tmp_path / "m.kmcf")

    def change(_, members):
        with zipfile.ZipFile(io.BytesIO(members["bytes_0.bin"])) as inner:
            parts = {name: inner.read(name) for name in inner.namelist()}
        parts["big.npy"] = npy((2**40,))
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as inner:
            for name, data in parts.items():
                inner.writestr(name, data)
        members["bytes_0.bin"] = buffer.getvalue()

    (tmp_path / "m.kmcf").write_bytes(rebuilt((tmp_path / "m.kmcf").read_bytes(), change))
    with pytest.raises(FileError, match="claims"):
        kmcf.load(tmp_path / "m.kmcf", transition=move)
