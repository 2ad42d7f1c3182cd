"""Optional dependencies: used if there, named if not."""

import sys

import numpy as np
import pytest

import kmcf
from kmcf.support.extras import progress_bar, require


def test_a_module_that_is_there_is_imported():
    import json

    assert require("json", "none") is json


def test_a_module_that_is_not_there_is_named_with_its_extra():
    with pytest.raises(ImportError, match=r"this needs no_such_module; install it with: pip install 'kmcf\[plot\]'"):
        require("no_such_module.inside", "plot")


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("pandas", "tables", lambda run: run.to_dataframe()),
        ("xarray", "tables", lambda run: run.to_xarray()),
        ("matplotlib.pyplot", "plot", lambda run: run.plot()),
        ("matplotlib.pyplot", "plot", lambda run: run[0].plot()),
    ],
)
def test_every_use_names_its_extra(monkeypatch, module, extra, use):
    X = np.linspace(0, 1, 10)
    run = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(X, X).filter(X[:2])
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'kmcf\[{extra}\]'"):
        use(run)


def test_the_progress_bar_names_its_extra(monkeypatch):
    X = np.linspace(0, 1, 10)
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(X, X)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"this needs tqdm.*kmcf\[progress\]"):
        flt.filter(X[:2], progress=True)
    assert len(flt.filter(X[:2])) == 2


def test_a_silent_bar_is_silent(capsys):
    with progress_bar(3, "quiet", show=False) as advance:
        for _ in range(3):
            advance()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_bar_shows_how_far_it_is(capsys):
    pytest.importorskip("tqdm")
    with progress_bar(3, "walking", show=True) as advance:
        for _ in range(3):
            advance()
    shown = capsys.readouterr().err
    assert "walking" in shown
    assert "3/3" in shown
