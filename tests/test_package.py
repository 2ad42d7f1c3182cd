"""The package as a whole: its names, its version, what importing it costs."""

import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

import kmcf


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", ["KernelMonteCarloFilter", "Belief", "FilterRun", "Embedding", "RejectedStepWarning"])
def test_public_classes(name):
    assert isinstance(getattr(kmcf, name), type)
    assert name in kmcf.__all__


@pytest.mark.parametrize("name", ["kernels", "datasets", "store", "baselines", "transitions"])
def test_public_rooms(name):
    room = getattr(kmcf, name)
    assert room.__name__ == f"kmcf.{name}"
    assert room.__doc__


@pytest.mark.parametrize(("name", "needed"), [("compiled", "jax"), ("distributed", "dask")])
def test_rooms_with_an_extra_need_no_import_of_their_own(name, needed, monkeypatch):
    pytest.importorskip(needed)
    monkeypatch.delitem(vars(kmcf), name, raising=False)
    assert getattr(kmcf, name).__name__ == f"kmcf.{name}"
    monkeypatch.delitem(vars(kmcf), name, raising=False)
    monkeypatch.setitem(sys.modules, needed, None)
    with pytest.raises(ImportError, match=rf"this needs {needed}; install it with: pip install 'kmcf\[\w+\]'"):
        getattr(kmcf, name)


def test_public_kernels():
    for name in (
        "Gaussian",
        "Laplace",
        "Matern",
        "Linear",
        "Constant",
        "Columns",
        "Precomputed",
        "Circular",
        "Pose",
        "LaserScan",
        "SpatialPyramid",
        "LandmarkSet",
        "PlacedLandmarks",
        "PlacedScan",
        "Spectrum",
        "HistogramIntersection",
        "ChiSquared",
        "Hellinger",
    ):
        assert issubclass(getattr(kmcf.kernels, name), kmcf.kernels.Kernel)


def test_everything_announced_exists():
    for room in (kmcf, kmcf.kernels, kmcf.datasets, kmcf.store, kmcf.baselines, kmcf.transitions):
        for name in room.__all__:
            assert getattr(room, name) is not None
        assert len(set(room.__all__)) == len(room.__all__)
    assert set(dir(kmcf)) >= set(kmcf.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'kmcf' has no attribute 'NoSuchThing'"):
        _ = kmcf.NoSuchThing
    assert not hasattr(kmcf, "no_such_room")


def test_the_version_is_the_installed_one():
    assert kmcf.__version__ == importlib.metadata.version("kmcf")


def test_types_are_shipped():
    assert (importlib.resources.files("kmcf") / "py.typed").is_file()


def test_importing_is_lazy():
    """The command line starts quickly because importing the package imports none of the numerical libraries."""
    loaded = python("import sys, kmcf; print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])")
    assert loaded == "[]"


def test_the_filter_does_not_wait_for_what_it_may_never_use():
    """These take longer to import than all the rest together; each is imported where it is used."""
    slow = ("sklearn", "pandas", "scipy.stats", "scipy.optimize", "scipy.signal", "joblib", "numba", "matplotlib")
    code = f"import sys, kmcf; kmcf.KernelMonteCarloFilter; print([m for m in {slow} if m in sys.modules])"
    assert python(code) == "[]"


@pytest.mark.slow
def test_filtering_needs_no_extra():
    """With every optional library made unimportable the filter works as it does with them."""
    code = (
        "import sys; import numpy as np;"
        "sys.modules.update(dict.fromkeys(('matplotlib', 'pandas', 'xarray', 'tqdm', 'typer', 'rich', 'jax', 'cv2')));"
        "import kmcf; X = np.linspace(0, 1, 9);"
        "run = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(X, X).filter(X);"
        "print(run.mean.shape)"
    )
    assert python(code) == "(9, 1)"


def test_rooms_are_reachable_after_a_bare_import():
    assert python("import kmcf; print(kmcf.kernels.Gaussian(2.0).bandwidth)") == "2.0"


def test_base_dependencies_are_few():
    needed = importlib.metadata.requires("kmcf")
    base = {line.split(">")[0].strip() for line in needed if "extra ==" not in line}
    assert base == {"numpy", "scipy", "scikit-learn"}
    assert set(importlib.metadata.metadata("kmcf").get_all("Provides-Extra")) >= {"all", "dev", "plot", "cli"}
